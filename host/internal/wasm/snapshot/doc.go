// Package snapshot makes the memory of many guests what one memory was at one moment, again and again, for the price of
// what they changed. It is always exact: where the system cannot tell what was changed, all of it is looked at.
package snapshot
