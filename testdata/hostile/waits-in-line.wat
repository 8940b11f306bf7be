;; Sleeps while others wait in line for its place.
;; limit: waiting 1
;; expect: call plugin_timeout
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}],\"limits\":{\"wall\":\"250ms\"}}")
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (i64.store (i32.const 280) (i64.const 3600000000000))
    (drop (call $poll (i32.const 256) (i32.const 512) (i32.const 1) (i32.const 600)))
    (i64.const 0x0000001000000012))
)
