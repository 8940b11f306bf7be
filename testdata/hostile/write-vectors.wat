;; Writes sixteen million empty pieces at once, again and again.
;; limit: wall {"wall":"50ms","memory_pages":4096}
;; expect: call plugin_timeout
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}]}")
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (drop (memory.grow (i32.const 2100)))
    (loop $again
      (drop (call $write (i32.const 2) (i32.const 65536) (i32.const 16777216) (i32.const 512)))
      (br $again))
    unreachable)
)
