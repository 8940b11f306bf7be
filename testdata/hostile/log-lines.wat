;; Limit log_bytes: writes empty lines without end to the log, and is heard only so far.
;; limit: log_bytes {"log_bytes":1000}
;; expect: call ok
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "fastreact:log/1" "write" (func $log (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"action\":\"allow\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $n i32)
    (loop $again
      (drop (call $log (i32.const 0) (i32.const 0)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const 50000))))
    (i64.const 0x0000001000000012))
)
