// Package sundry holds the utilities about time, numbers, names and the environment.
package sundry

import "github.com/fastreact/fastreact/plugins/shell/command"

// Table returns the utilities by name.
func Table() command.Table {
	return command.Table{
		"date": date, "sleep": sleep, "timeout": timeout, "nohup": plain, "nice": plain, "env": env, "printenv": printenv,
		"seq": seq, "yes": yes, "basename": basename, "dirname": dirname, "expr": expr, "bc": bc, "factor": factor,
		"uname": uname, "whoami": fixed("user"), "hostname": fixed("sandbox"), "nproc": fixed("1"), "arch": fixed("wasm32"),
		"tty": tty, "id": id, "groups": fixed("user"), "umask": umask, "clear": nothing, "which": which, "printf": printf, "true": nothing, "false": failure,
	}
}
