;; Calls the host for ever, with nothing to say.
;; limit: host_calls {"host_calls":1000}
;; expect: call plugin_too_many_host_calls
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "fastreact:log/1" "write" (func $log (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (loop $again
      (drop (call $log (i32.const 0) (i32.const 0)))
      (br $again))
    unreachable)
)
