// Package text holds the utilities that turn lines into lines: they read files or the standard input and write the
// standard output.
package text

import "github.com/fastreact/fastreact/plugins/shell/command"

// Table returns the utilities by name.
func Table() command.Table {
	return command.Table{
		"cat": cat, "more": cat, "less": cat, "tac": tac, "rev": rev, "nl": nl, "head": head, "tail": tail, "sort": sortLines,
		"uniq": uniq, "comm": comm, "join": join, "wc": wc, "cut": cut, "paste": paste, "column": column, "tr": tr,
		"expand": expand, "unexpand": unexpand, "fold": fold, "shuf": shuf, "strings": printable, "tee": tee, "split": split,
	}
}
