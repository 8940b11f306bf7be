;; A tool that traps when its memory, grown or not, holds anything of the call before.
;; expect: call ok
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}]}")
  (memory (export "memory") 2)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $at i32)
    (drop (memory.grow (i32.const 16)))
    (local.set $at (i32.const 65536))
    (loop $next
      (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
      (i64.store (local.get $at) (i64.const 0x7465726365732121))
      (local.set $at (i32.add (local.get $at) (i32.const 512)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 1179648))))
    (i64.const 0x0000001000000012))
)
