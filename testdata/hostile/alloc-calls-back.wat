;; Calls the host again out of fastreact_alloc, while the host asks for room for its answer; it asks for the grant first.
;; expect: load plugin_unavailable
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}],\"capabilities\":{\"kv\":{\"bytes\":4096}}}")
  (import "fastreact:kv/1" "get" (func $get (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (global $inside (mut i32) (i32.const 0))
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32)
    (if (global.get $inside) (then (drop (call $get (i32.const 0) (i32.const 0)))))
    (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (global.set $inside (i32.const 1))
    (drop (call $get (i32.const 0) (i32.const 0)))
    (i64.const 0x0000001000000012))
)
