;; What a module wrote to the log before it trapped is dropped with it.
;; expect: call plugin_trap
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "fastreact:log/1" "write" (func $log (param i32 i32) (result i64)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "password-hunter2-canary")
  (data (i32.const 64) "\10\00\00\00\17\00\00\00")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (drop (call $log (i32.const 16) (i32.const 23)))
    (drop (call $write (i32.const 2) (i32.const 64) (i32.const 1) (i32.const 80)))
    unreachable)
)
