;; Remembers the input of the call before, in memory and in a global, and answers with it when it can.
;; limit: isolation
;; expect: call ok
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (memory (export "memory") 2)
  (global $size (mut i32) (i32.const 18))
  (data (i32.const 16) "{\"action\":\"allow\"}")
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32)
    (if (result i32) (i32.gt_u (local.get $len) (i32.const 60000)) (then (i32.const 0)) (else (i32.const 65536))))
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $answer i64)
    ;; the answer is what was remembered
    (memory.copy (i32.const 4096) (i32.const 16) (global.get $size))
    (local.set $answer (i64.or (i64.const 0x100000000000) (i64.extend_i32_u (global.get $size))))
    (memory.copy (i32.const 16) (local.get $ptr) (i32.const 4000))
    (if (i32.lt_u (local.get $len) (i32.const 4000)) (then (global.set $size (local.get $len))))
    (local.get $answer))
)
