;; Keeps what the last tenant asked in memory and globals, and tells the next one, unless it is stopped between.
;; limit: isolation
;; expect: call plugin_unknown_verdict
(module
  (@custom "fastreact.manifest" "{\"abi\":1,\"name\":\"vector\",\"version\":\"1\",\"kind\":\"policy\"}")
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 3)
  (global $kept (mut i32) (i32.const 0))
  (global $calls (mut i64) (i64.const 0))
  (global $ratio (mut f64) (f64.const 0))
  (data (i32.const 16) "{\"action\":\"")
  (func (export "fastreact_abi") (result i32) (i32.const 1))
  (func (export "fastreact_alloc") (param $len i32) (result i32)
    (if (result i32) (i32.gt_u (local.get $len) (i32.const 30000)) (then (i32.const 0)) (else (i32.const 65536))))

  ;; The answer is {"action":"<calls, ratio and the byte at 512 as letters, what was kept>"}: once as long as the global
  ;; says, and once as long as the memory says, so that each shows it alone. 512 lies among data, 140000 among zeros.
  (func (export "fastreact_call") (param $op i32) (param $ptr i32) (param $len i32) (result i64)
    (local $deed i32) (local $size i32) (local $more i32)
    ;; the deed is the first letter of the tool's name, behind {"tool":"
    (local.set $deed (i32.load8_u offset=9 (local.get $ptr)))
    (memory.copy (i32.const 1024) (i32.const 16) (i32.const 11))
    (i32.store8 (i32.const 1035) (i32.add (i32.const 65) (i32.and (i32.wrap_i64 (global.get $calls)) (i32.const 15))))
    (i32.store8 (i32.const 1036) (i32.add (i32.const 65) (i32.and (i32.trunc_sat_f64_u (global.get $ratio)) (i32.const 15))))
    (i32.store8 (i32.const 1037) (i32.add (i32.const 65) (i32.and (i32.load8_u (i32.const 512)) (i32.const 15))))
    (local.set $size (i32.add (i32.const 14) (global.get $kept)))
    (call $letters (i32.const 1038) (i32.const 131072) (global.get $kept))
    (local.set $more (i32.load (i32.const 140000)))
    (call $letters (i32.add (i32.const 1024) (local.get $size)) (i32.const 131072) (local.get $more))
    (local.set $size (i32.add (local.get $size) (local.get $more)))
    (i32.store8 (i32.add (i32.const 1024) (local.get $size)) (i32.const 34))
    (i32.store8 (i32.add (i32.const 1025) (local.get $size)) (i32.const 125))
    (local.set $size (i32.add (local.get $size) (i32.const 2)))
    ;; remember
    (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
    (global.set $ratio (f64.add (global.get $ratio) (f64.const 3)))
    (global.set $kept (local.get $len))
    (if (i32.gt_u (global.get $kept) (i32.const 2000)) (then (global.set $kept (i32.const 2000))))
    (memory.copy (i32.const 131072) (local.get $ptr) (global.get $kept))
    (i32.store (i32.const 140000) (global.get $kept))
    (i32.store8 (i32.const 512) (i32.add (i32.load8_u (i32.const 512)) (i32.const 1)))
    (if (i32.eq (local.get $deed) (i32.const 116)) (then unreachable))                             ;; trap
    (if (i32.eq (local.get $deed) (i32.const 115)) (then (loop $again (br $again))))               ;; spin
    (if (i32.eq (local.get $deed) (i32.const 103)) (then (drop (memory.grow (i32.const 1)))))      ;; grow
    (if (i32.eq (local.get $deed) (i32.const 101)) (then (call $exit (i32.const 3))))              ;; exit
    (if (i32.eq (local.get $deed) (i32.const 99)) (then                                            ;; close, and tell whether it was open
      (i32.store8 (i32.const 1035) (i32.add (i32.const 65) (call $close (i32.const 1))))))
    (if (i32.eq (local.get $deed) (i32.const 122)) (then (return (i64.const 0))))                  ;; zero
    (i64.or (i64.const 0x40000000000) (i64.extend_i32_u (local.get $size))))

  ;; copies bytes, with a dot in place of what no JSON text holds
  (func $letters (param $to i32) (param $from i32) (param $n i32)
    (local $c i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $c (i32.load8_u (local.get $from)))
        (if (i32.or (i32.eq (local.get $c) (i32.const 34)) (i32.eq (local.get $c) (i32.const 92)))
          (then (local.set $c (i32.const 46))))
        (i32.store8 (local.get $to) (local.get $c))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next))))
)
