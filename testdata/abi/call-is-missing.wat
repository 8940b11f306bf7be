;; fastreact_call is required.
;; expect: load plugin_unavailable
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
)
