// Package capability holds what a guest may touch, and promises that it touches nothing else. A Root opens one folder:
// no path leaves it, whatever links lie in it and whoever moves them meanwhile.
//
// Who is granted what is decided elsewhere; this package only keeps the bounds.
package capability
