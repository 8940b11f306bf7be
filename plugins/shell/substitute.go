package shell

import (
	"context"
	"fmt"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// keeper names the utility that stands behind a process substitution. It has no other name.
const keeper = "/dev/fd/keep"

// substitute replaces every <(commands) of a file by "$(commands | keeper)": without processes there are no named
// pipes, so the commands run to their end first, and the keeper prints the name of a file in memory that holds their
// output.
func substitute(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Word:
			substituteIn(n.Parts)
		case *syntax.DblQuoted:
			substituteIn(n.Parts)
		}
		return true
	})
}

func substituteIn(parts []syntax.WordPart) {
	for i, part := range parts {
		if p, is := part.(*syntax.ProcSubst); is && p.Op == syntax.CmdIn {
			parts[i] = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{kept(p.Stmts)}}}}
		}
	}
}

func kept(stmts []*syntax.Stmt) *syntax.Stmt {
	name := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: keeper}}}
	return &syntax.Stmt{Cmd: &syntax.BinaryCmd{
		Op: syntax.Pipe,
		X:  &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: stmts}},
		Y:  &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{name}}},
	}}
}

// keep is the keeper.
func keep(_ context.Context, c *command.Call) int {
	name, err := c.Disk.Keep(c.In)
	if err != nil {
		return c.Fail("%v", err)
	}
	fmt.Fprintln(c.Out, name)
	return 0
}
