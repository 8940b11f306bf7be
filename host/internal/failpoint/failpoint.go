// Package failpoint promises that a released program has no points at which it may be made to fail: there, its
// functions do nothing. A program that is built with the tag failpoints can be told to end itself, or to stop, at a
// named step, to leave out a rule whose worth is to be shown, to say which claim wrote what, and to have a clock that
// is wrong.
package failpoint
