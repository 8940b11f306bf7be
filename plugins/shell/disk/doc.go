// Package disk shows a workspace to the shell as the whole file system: every path is looked up inside one os.Root and
// never outside it, whatever links the folder holds. A few devices exist beside it: /dev/null, /dev/zero, /dev/urandom,
// and files in memory that a process substitution leaves under /dev/fd.
package disk
