;; Tools of an Extism module that misuse what they share with the host, and some that use it as PDKs do. The word
;; behind each name is how a call of it must end.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (memory (export "memory") 1)

  ;; load-past-the-end plugin_trap: reads eight bytes of which four are its own
  (func (export "load-past-the-end") (result i32)
    (drop (call $load_u64 (i64.add (call $alloc (i64.const 12)) (i64.const 8))))
    (i32.const 0))

  ;; load-from-nowhere plugin_trap: reads where no block is
  (func (export "load-from-nowhere") (result i32)
    (drop (call $load_u8 (i64.const 0)))
    (i32.const 0))

  ;; load-between-blocks plugin_trap: reads between two blocks
  (func (export "load-between-blocks") (result i32)
    (local $p i64) (local.set $p (call $alloc (i64.const 8))) (drop (call $alloc (i64.const 8))) (drop (call $load_u8 (i64.add (local.get $p) (i64.const 8))))
    (i32.const 0))

  ;; load-at-the-last-address plugin_trap: an offset that wraps when eight is added
  (func (export "load-at-the-last-address") (result i32)
    (drop (call $load_u64 (i64.const -1)))
    (i32.const 0))

  ;; load-from-freed plugin_trap: reads what it gave back
  (func (export "load-from-freed") (result i32)
    (local $p i64) (local.set $p (call $alloc (i64.const 8))) (call $free (local.get $p)) (drop (call $alloc (i64.const 8))) (drop (call $load_u64 (local.get $p)))
    (i32.const 0))

  ;; store-past-the-end plugin_trap: writes one byte too far
  (func (export "store-past-the-end") (result i32)
    (call $store_u8 (i64.add (call $alloc (i64.const 8)) (i64.const 8)) (i32.const 1))
    (i32.const 0))

  ;; store-at-the-last-address plugin_trap: writes around the end of all addresses
  (func (export "store-at-the-last-address") (result i32)
    (call $store_u64 (i64.const -4) (i64.const 1))
    (i32.const 0))

  ;; input-past-the-end plugin_trap: reads behind the input
  (func (export "input-past-the-end") (result i32)
    (drop (call $input_load_u8 (call $input_length)))
    (i32.const 0))

  ;; input-around-the-end plugin_trap: reads before the input
  (func (export "input-around-the-end") (result i32)
    (drop (call $input_load_u64 (i64.const -8)))
    (i32.const 0))

  ;; output-from-nowhere plugin_trap: answers with memory that it does not hold
  (func (export "output-from-nowhere") (result i32)
    (call $output_set (i64.const 4096) (i64.const 4096))
    (i32.const 0))

  ;; output-too-long plugin_trap: answers with more than its block
  (func (export "output-too-long") (result i32)
    (call $output_set (call $alloc (i64.const 8)) (i64.const 9))
    (i32.const 0))

  ;; output-of-all plugin_trap: answers with every address there is
  (func (export "output-of-all") (result i32)
    (call $output_set (call $alloc (i64.const 8)) (i64.const -1))
    (i32.const 0))

  ;; output-too-large plugin_output_too_large: answers with more than its limit of 4096 bytes
  (func (export "output-too-large") (result i32)
    (call $output_set (call $alloc (i64.const 5000)) (i64.const 5000))
    (i32.const 0))

  ;; log-from-nowhere plugin_trap: logs memory that it does not hold
  (func (export "log-from-nowhere") (result i32)
    (call $log_info (i64.const 4096))
    (i32.const 0))

  ;; config-from-nowhere plugin_trap: asks for a setting by a name that it does not hold
  (func (export "config-from-nowhere") (result i32)
    (drop (call $config_get (i64.const 4096)))
    (i32.const 0))

  ;; error-from-nowhere plugin_trap: an error text that it does not hold
  (func (export "error-from-nowhere") (result i32)
    (call $error_set (i64.const 4096))
    (i32.const 0))

  ;; error-set plugin_no_answer: reports an error, and 0 beside it
  (func (export "error-set") (result i32)
    (call $error_set (call $input_offset))
    (i32.const 0))

  ;; code-returned plugin_no_answer: returns 7
  (func (export "code-returned") (result i32)
    (return (i32.const 7)))

  ;; traps plugin_trap: traps
  (func (export "traps") (result i32)
    unreachable)

  ;; loops plugin_timeout: never ends
  (func (export "loops") (result i32)
    (loop $l (br $l))
    (i32.const 0))

  ;; loops-in-host-calls plugin_timeout: never ends, and calls the host
  (func (export "loops-in-host-calls") (result i32)
    (loop $l (drop (call $length (i64.const 64))) (br $l))
    (i32.const 0))

  ;; alloc-all plugin_out_of_memory: asks for every address there is
  (func (export "alloc-all") (result i32)
    (drop (call $alloc (i64.const -1)))
    (i32.const 0))

  ;; alloc-without-end plugin_out_of_memory: asks for one more byte without end
  (func (export "alloc-without-end") (result i32)
    (loop $l (drop (call $alloc (i64.const 1))) (br $l))
    (i32.const 0))

  ;; vars-without-end plugin_out_of_memory: sets variable after variable
  (func (export "vars-without-end") (result i32)
    (local $p i64) (local $n i64) (loop $l (local.set $p (call $alloc (i64.const 8))) (call $store_u64 (local.get $p) (local.tee $n (i64.add (local.get $n) (i64.const 1)))) (call $var_set (local.get $p) (call $alloc (i64.const 1000))) (br $l))
    (i32.const 0))

  ;; silent ok: says nothing: it did what it was asked
  (func (export "silent") (result i32)
    (i32.const 0))

  ;; frees-what-is-not-there ok: frees what it does not hold, as PDKs do
  (func (export "frees-what-is-not-there") (result i32)
    (call $free (i64.const 1)) (call $free (i64.const -1)) (call $free (i64.const 0))
    (i32.const 0))

  ;; frees-its-answer ok: frees its answer before it returns, as PDKs do
  (func (export "frees-its-answer") (result i32)
    (call $output_set (call $input_offset) (call $input_length)) (call $free (call $input_offset))
    (i32.const 0))

  ;; logs-without-end-of-blocks ok: leaves to the host to free what it logs, as PDKs do
  (func (export "logs-without-end-of-blocks") (result i32)
    (local $n i32) (loop $l (call $log_info (call $alloc (i64.const 100))) (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 20000))))
    (i32.const 0))

  ;; echo ok: answers with its input
  (func (export "echo") (result i32)
    (call $output_set (call $input_offset) (call $input_length))
    (i32.const 0))

  ;; var-of-another-call ok: finds no variable of an earlier call, and its own
  (func (export "var-of-another-call") (result i32)
    (local $p i64) (local.set $p (call $alloc (i64.const 1))) (if (i64.ne (call $var_get (local.get $p)) (i64.const 0)) (then (return (i32.const 1)))) (call $var_set (local.get $p) (call $input_offset)) (if (i64.eq (call $var_get (local.get $p)) (i64.const 0)) (then (return (i32.const 2))))
    (i32.const 0))

  ;; dirties-and-traps plugin_trap: leaves something in its memory, and traps
  (func (export "dirties-and-traps") (result i32)
    (i32.store (i32.const 0) (i32.const 1)) unreachable)

  ;; looks ok: answers with what the last call left in its memory
  (func (export "looks") (result i32) (local $p i64)
    (local.set $p (call $alloc (i64.const 1)))
    (call $store_u8 (local.get $p) (i32.add (i32.const 48) (i32.load (i32.const 0))))
    (call $output_set (local.get $p) (i64.const 1))
    (i32.const 0))
)
