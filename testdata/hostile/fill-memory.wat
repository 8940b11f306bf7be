;; Fills a quarter of a gigabyte again and again, one instruction each time.
;; limit: wall {"wall":"50ms"}
;; expect: call plugin_timeout
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}],\"limits\":{\"memory_pages\":4097}}")
  (memory (export "memory") 4096)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (loop $again
      (memory.fill (i32.const 4096) (local.get $len) (i32.const 268431360))
      (br $again))
    unreachable)
)
