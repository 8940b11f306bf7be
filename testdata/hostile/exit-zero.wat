;; Leaves with success instead of an answer.
;; expect: call plugin_trap
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (call $exit (i32.const 0))
    (i64.const 0))
)
