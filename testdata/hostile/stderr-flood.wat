;; Limit log_bytes: writes without end to its standard error.
;; limit: log_bytes {"log_bytes":1000}
;; expect: call ok
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"action\":\"allow\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $n i32)
    (i32.store (i32.const 256) (i32.const 0))
    (i32.store (i32.const 260) (i32.const 65536))
    (loop $again
      (drop (call $write (i32.const 2) (i32.const 256) (i32.const 1) (i32.const 512)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const 1000))))
    (i64.const 0x0000001000000012))
)
