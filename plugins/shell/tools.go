package shell

import (
	"maps"

	"github.com/fastreact/fastreact/plugins/shell/archive"
	"github.com/fastreact/fastreact/plugins/shell/awk"
	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/compare"
	"github.com/fastreact/fastreact/plugins/shell/digest"
	"github.com/fastreact/fastreact/plugins/shell/find"
	"github.com/fastreact/fastreact/plugins/shell/grep"
	"github.com/fastreact/fastreact/plugins/shell/jq"
	"github.com/fastreact/fastreact/plugins/shell/sed"
	"github.com/fastreact/fastreact/plugins/shell/sundry"
	"github.com/fastreact/fastreact/plugins/shell/text"
	"github.com/fastreact/fastreact/plugins/shell/tree"
)

// tools returns every utility by its name.
func tools() command.Table {
	table := command.Table{}
	for _, more := range []command.Table{
		text.Table(), tree.Table(), grep.Table(), sed.Table(), find.Table(), archive.Table(), digest.Table(), compare.Table(), sundry.Table(),
		awk.Table(), jq.Table(),
	} {
		maps.Copy(table, more)
	}
	return table
}
