// Package command is what a utility of the shell is given and what it gives back: words, streams, a disk, and an exit
// status. It knows no utility.
package command
