// Package tree holds the utilities that list and change files and folders.
package tree

import "github.com/fastreact/fastreact/plugins/shell/command"

// Table returns the utilities by name.
func Table() command.Table {
	return command.Table{
		"ls": ls, "dir": ls, "cp": cp, "mv": mv, "rm": rm, "unlink": rm, "mkdir": mkdir, "rmdir": rmdir, "touch": touch, "ln": ln,
		"readlink": readlink, "realpath": realpath, "chmod": chmod, "stat": stat, "du": du, "df": df, "mktemp": mktemp,
		"truncate": truncate, "tree": show, "install": install, "sync": sync, "file": kind,
	}
}
