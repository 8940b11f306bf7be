;; Limits memory_pages and wall: grows for ever, whatever the answer.
;; limit: gas {"gas":1000000000}
;; expect: call plugin_out_of_gas
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (loop $again (drop (memory.grow (i32.const 1))) (br $again))
    (i64.const 0))
)
