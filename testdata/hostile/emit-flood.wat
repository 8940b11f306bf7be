;; A tool that reports without end asks for the grant first. With it, the host drops what is beyond the bound.
;; limit: progress_bytes
;; expect: load plugin_unavailable
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}],\"capabilities\":{\"progress\":{\"bytes\":1000}}}")
  (import "fastreact:emit/1" "chunk" (func $chunk (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (data (i32.const 64) "{\"text\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $n i32)
    (loop $again
      (drop (call $chunk (i32.const 64) (i32.const 111)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const 10000))))
    (i64.const 0x0000001000000012))
)
