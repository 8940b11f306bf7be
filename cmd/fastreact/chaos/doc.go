// Package chaos holds tests only: they end, stop and cut off processes of a program that is built with failpoints, at
// moments that a seed chooses, while clients create, follow, cancel and approve runs whose tools have effects; and then
// they compare what clients saw, what the tools did and what is stored.
//
// What holds whatever happens: sequences have no gaps; no claim writes after a later one; what a client saw is in the
// log, byte for byte; what must not happen twice happens once, and once more for each person who said so; every run
// that was acknowledged ends; every approval is settled once, as it was answered; no process is left behind.
package chaos
