// Package archive holds tar and gzip. What is unpacked stays inside the folder it is unpacked into.
package archive

import "github.com/fastreact/fastreact/plugins/shell/command"

// Table returns the utilities by name.
func Table() command.Table {
	return command.Table{"tar": tarArchive, "gzip": zip, "gunzip": zip, "zcat": zip}
}
