;; Spins before anybody has called it.
(module
  (func $main (loop (br 0)))
  (start $main))
