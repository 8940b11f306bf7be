;; Sends requests without end; it asks for the grant first.
;; limit: http_requests {"http_requests":3}
;; expect: load plugin_unavailable
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}],\"capabilities\":{\"http\":[{\"scheme\":\"http\",\"host\":\"127.0.0.1\",\"port\":80,\"methods\":[\"GET\"]}]}}")
  (import "fastreact:http/1" "send" (func $ask (param i32 i32) (result i64)))
  (memory (export "memory") 2)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 65536))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (data (i32.const 1024) "{\"method\":\"GET\",\"url\":\"http://127.0.0.1/\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $n i32)
    (loop $again
      (drop (call $ask (i32.const 1024) (i32.const 42)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const 100))))
    (i64.const 0x0000001000000012))
)
