;; emit does not link without a grant. With one, the call reports twice: an object, and bytes that are no JSON, which are
;; dropped. Both are answered with 0.
;; expect: load plugin_unavailable
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}],\"capabilities\":{\"progress\":{\"bytes\":1000}}}")
  (import "fastreact:emit/1" "chunk" (func $chunk (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (data (i32.const 64) "{\"text\":\"half\",\"done\":1,\"total\":2}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (if (i64.ne (call $chunk (i32.const 64) (i32.const 34)) (i64.const 0)) (then unreachable))
    (if (i64.ne (call $chunk (i32.const 65) (i32.const 3)) (i64.const 0)) (then unreachable))
    (if (i64.ne (call $chunk (i32.const -1) (i32.const 3)) (i64.const 0)) (then unreachable))
    (i64.const 0x0000001000000012))
)
