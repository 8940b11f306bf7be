// Package failpoint promises that a released program has no points at which it may be made to fail: there, its
// functions do nothing. A program that is built with the tag failpoints can be told to end itself, or to stop, at a
// named step, and to leave out a rule whose worth is to be shown.
package failpoint
