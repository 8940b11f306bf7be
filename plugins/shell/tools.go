package shell

import (
	"maps"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// tools returns every utility by its name.
func tools() command.Table {
	table := command.Table{keeper: keep}
	for _, more := range []command.Table{} {
		maps.Copy(table, more)
	}
	return table
}
