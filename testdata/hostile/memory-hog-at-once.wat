;; Limit memory_pages: wants 4 GiB.
;; limit: memory_pages
;; expect: call plugin_out_of_memory
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (if (i32.eq (memory.grow (i32.const 65535)) (i32.const -1)) (then unreachable))
    (i64.const 0))
)
