;; Calls itself without end.
;; limit: call_depth
;; expect: call plugin_stack_overflow
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (call $deeper (i64.const 0)))
  (func $deeper (param i64) (result i64) (i64.add (i64.const 1) (call $deeper (local.get 0))))
)
