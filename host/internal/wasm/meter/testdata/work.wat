;; Programs whose speed is compared with and without the meter. Each takes how often to do its work and gives a number
;; that depends on all of it.
(module
  (memory (export "memory") 64)
  (table funcref (elem $small $middle))
  (type $unary (func (param i32) (result i32)))

  ;; The tightest loop there is.
  (func (export "count") (param $n i32) (result i32)
    (loop $again
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $n))

  ;; What C makes of a loop over numbers: for (i = 0; i < n; i++) sum = sum * 31 + (i ^ sum >> 3)
  (func (export "mix") (param $n i32) (result i32) (local $i i32) (local $sum i32)
    (loop $again
      (local.set $sum
        (i32.add
          (i32.mul (local.get $sum) (i32.const 31))
          (i32.xor (local.get $i) (i32.shr_u (local.get $sum) (i32.const 3)))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $sum))

  ;; A loop over memory, one byte a turn.
  (func (export "bytes") (param $n i32) (result i32) (local $i i32) (local $sum i32)
    (loop $again
      (local.set $sum
        (i32.add (local.get $sum)
          (i32.load8_u (i32.and (local.get $i) (i32.const 0x3fffff)))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $sum))

  ;; A copy by hand, a word a turn.
  (func (export "words") (param $n i32) (result i32) (local $i i32) (local $at i32)
    (loop $again
      (local.set $at (i32.and (i32.shl (local.get $i) (i32.const 3)) (i32.const 0x1ffff8)))
      (i64.store offset=0x200000 (local.get $at)
        (i64.add (i64.load (local.get $at)) (i64.extend_i32_u (local.get $i))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (i32.load offset=0x200000 (local.get $at)))

  ;; Loops in loops, with many variables alive.
  (func (export "nested") (param $n i32) (result i32)
    (local $i i32) (local $j i32) (local $a i32) (local $b i32) (local $c i32) (local $d i32) (local $e i32)
    (loop $outer
      (local.set $j (i32.const 16))
      (loop $inner
        (local.set $a (i32.add (local.get $a) (local.get $j)))
        (local.set $b (i32.xor (local.get $b) (local.get $a)))
        (local.set $c (i32.add (local.get $c) (local.get $b)))
        (local.set $d (i32.sub (local.get $d) (local.get $c)))
        (local.set $e (i32.xor (local.get $e) (local.get $d)))
        (br_if $inner (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
      (br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $n))))
    (i32.add (local.get $a) (i32.add (local.get $c) (local.get $e))))

  ;; A search with several ways out of a loop.
  (func (export "search") (param $n i32) (result i32) (local $i i32) (local $c i32)
    (block $out
      (loop $again
        (br_if $out (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $c (i32.load8_u (i32.and (local.get $i) (i32.const 0x3fffff))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $c) (i32.const 34)))
        (br_if $again (i32.ne (local.get $c) (i32.const 34)))
        (br_if $out (i32.eq (local.get $c) (i32.const 92)))
        (br $again)))
    (local.get $i))

  (func $small (type $unary) (i32.mul (i32.add (local.get 0) (i32.const 7)) (i32.const 3)))
  (func $middle (type $unary)
    (local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 1103515245)) (i32.const 12345)))
    (local.set 0 (i32.xor (local.get 0) (i32.shr_u (local.get 0) (i32.const 15))))
    (local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 1103515245)) (i32.const 12345)))
    (local.set 0 (i32.xor (local.get 0) (i32.shr_u (local.get 0) (i32.const 15))))
    (local.get 0))

  ;; Calls of a function that is charged by its callers.
  (func (export "calls-small") (param $n i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (call $small (local.get $sum)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  ;; Calls of one that is charged itself.
  (func (export "calls-middle") (param $n i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (call $middle (local.get $sum)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  (func (export "calls-indirect") (param $n i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (call_indirect (type $unary) (local.get $sum) (i32.and (local.get $n) (i32.const 1))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  ;; Nothing but calls.
  (func $fib (param $n i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $n) (i32.const 2))
      (then (local.get $n))
      (else (i32.add
        (call $fib (i32.sub (local.get $n) (i32.const 1)))
        (call $fib (i32.sub (local.get $n) (i32.const 2)))))))
  (func (export "calls-recursive") (param $n i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (call $fib (i32.const 14))))
      (br_if $again (i32.gt_s (local.tee $n (i32.sub (local.get $n) (i32.const 1218))) (i32.const 0))))
    (local.get $sum))

  ;; A tight loop with a call that is hardly ever made, like one to a function that panics.
  (func (export "rare") (param $n i32) (result i32) (local $sum i32)
    (loop $again
      (if (i32.eqz (i32.and (local.get $n) (i32.const 0xfffff)))
        (then (local.set $sum (call $middle (local.get $sum)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  ;; A loop that keeps many floats in registers.
  (func (export "floats") (param $n i32) (result i32)
    (local $a f64) (local $b f64) (local $c f64) (local $d f64) (local $e f64) (local $f f64) (local $g f64) (local $h f64)
    (local $i f64) (local $j f64)
    (local.set $a (f64.const 1.5))
    (loop $again
      (local.set $b (f64.add (local.get $b) (local.get $a)))
      (local.set $c (f64.sub (local.get $c) (local.get $a)))
      (local.set $d (f64.add (local.get $d) (local.get $a)))
      (local.set $e (f64.sub (local.get $e) (local.get $a)))
      (local.set $f (f64.add (local.get $f) (local.get $a)))
      (local.set $g (f64.sub (local.get $g) (local.get $a)))
      (local.set $h (f64.add (local.get $h) (local.get $a)))
      (local.set $i (f64.sub (local.get $i) (local.get $a)))
      (local.set $j (f64.sub (local.get $j) (local.get $a)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.trunc_sat_f64_s
      (f64.add (f64.add (f64.add (local.get $b) (local.get $c)) (f64.add (local.get $d) (local.get $e)))
        (f64.add (f64.add (local.get $f) (local.get $g)) (f64.add (local.get $h) (f64.add (local.get $i) (local.get $j)))))))

  ;; Many small copies, as a Go program makes them.
  (func (export "copies") (param $n i32) (result i32)
    (loop $again
      (memory.copy
        (i32.add (i32.const 0x200000) (i32.and (local.get $n) (i32.const 0xffff)))
        (i32.and (local.get $n) (i32.const 0xffff))
        (i32.const 24))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.load (i32.const 0x200010)))
)
