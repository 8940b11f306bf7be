;; Grows its table for ever; it answers when it was refused with no more entries than it may have, else it traps.
;; limit: table_entries {"table_entries":1000}
;; expect: call ok
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"tool\",\"tools\":[{\"name\":\"vector\",\"description\":\"A vector.\",\"input_schema\":{\"type\":\"object\"}}]}")
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32) (i32.const 1024))
  (data (i32.const 16) "{\"content\":\"done\"}")
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (loop $again
      (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 1)) (i32.const -1))))
    (if (i32.gt_u (table.size $t) (i32.const 1000)) (then unreachable))
    (i64.const 0x0000001000000012))
)
