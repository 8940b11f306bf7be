;; Takes a megabyte for every call, of what all plugins share.
;; limit: memory_bytes 1048576
;; expect: call ok
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}]}")
  (memory (export "memory") 2)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then unreachable))
    (i64.const 0x0000001000000012))
)
