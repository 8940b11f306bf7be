;; A count of subscriptions that wraps round when the host multiplies it.
;; expect: call plugin_trap
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (drop (call $poll (i32.const 0) (i32.const 0) (i32.const 0x80000000) (i32.const 640)))
    unreachable)
)
