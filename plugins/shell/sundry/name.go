package sundry

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func basename(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+a,multiple s,suffix: z,zero")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	names, suffix := o.Operands, o.Value("s", "")
	if !o.Has("a") && !o.Has("s") {
		if len(names) > 1 {
			suffix = names[1]
		}
		names = names[:1]
	}
	for _, name := range names {
		base := path.Base(name)
		if name == "" {
			base = ""
		}
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		fmt.Fprintln(c.Out, base)
	}
	return 0
}

func dirname(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+z,zero")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	for _, name := range o.Operands {
		trimmed := strings.TrimRight(name, "/")
		at := strings.LastIndexByte(trimmed, '/')
		switch {
		case trimmed == "" && name != "":
			trimmed = "/"
		case at < 0:
			trimmed = "."
		default:
			if trimmed = strings.TrimRight(trimmed[:at], "/"); trimmed == "" {
				trimmed = "/"
			}
		}
		fmt.Fprintln(c.Out, trimmed)
	}
	return 0
}

// env shows the environment, or runs a command in another one.
func env(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+i,ignore-environment u,unset: 0,null C,chdir: S,split-string: v")
	if err != nil {
		return c.Usage(err)
	}
	inner := c.Named(c.Name, nil)
	if o.Has("i") {
		inner.Env = nil
	}
	for _, name := range o.Values("u") {
		inner.Env = without(inner.Env, name)
	}
	if dir := o.Value("C", ""); dir != "" {
		inner.Dir = c.Path(dir)
	}
	words := append(strings.Fields(o.Value("S", "")), o.Operands...)
	for len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "=") {
		name, _, _ := strings.Cut(words[0], "=")
		inner.Env = append(without(inner.Env, name), words[0])
		words = words[1:]
	}
	if len(words) == 0 || words[0] == "-" {
		for _, entry := range inner.Env {
			fmt.Fprintln(c.Out, entry)
		}
		return 0
	}
	return c.Run(ctx, inner, words)
}

func without(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

func printenv(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "0,null")
	if err != nil {
		return c.Usage(err)
	}
	if len(o.Operands) == 0 {
		for _, entry := range c.Env {
			fmt.Fprintln(c.Out, entry)
		}
		return 0
	}
	status := 0
	for _, name := range o.Operands {
		if !slices.ContainsFunc(c.Env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			status = 1
			continue
		}
		fmt.Fprintln(c.Out, c.Getenv(name))
	}
	return status
}

func fixed(text string) command.Func {
	return func(_ context.Context, c *command.Call) int {
		fmt.Fprintln(c.Out, text)
		return 0
	}
}

func uname(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "a,all s,kernel-name n,nodename r,kernel-release v,kernel-version m,machine p i o,operating-system")
	if err != nil {
		return c.Usage(err)
	}
	var parts []string
	for _, part := range [][2]string{{"s", "Linux"}, {"n", "sandbox"}, {"r", "0"}, {"v", "wasm"}, {"m", "wasm32"}, {"o", "sandbox"}} {
		if o.Has("a") || o.Has(part[0]) {
			parts = append(parts, part[1])
		}
	}
	if parts == nil {
		parts = []string{"Linux"}
	}
	fmt.Fprintln(c.Out, strings.Join(parts, " "))
	return 0
}

func id(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "u,user g,group n,name G r")
	if err != nil {
		return c.Usage(err)
	}
	switch {
	case o.Has("n"):
		fmt.Fprintln(c.Out, "user")
	case o.Last("u", "g", "G") != "":
		fmt.Fprintln(c.Out, "1000")
	default:
		fmt.Fprintln(c.Out, "uid=1000(user) gid=1000(user) groups=1000(user)")
	}
	return 0
}

func tty(_ context.Context, c *command.Call) int {
	fmt.Fprintln(c.Out, "not a tty")
	return 1
}

func umask(_ context.Context, c *command.Call) int {
	if len(c.Args) == 0 {
		fmt.Fprintln(c.Out, "0022")
	}
	return 0 // a mask is accepted and changes nothing
}

func nothing(context.Context, *command.Call) int { return 0 }

func failure(context.Context, *command.Call) int { return 1 }

// which is answered by the shell; this is what it says of a name that nothing answers to.
func which(ctx context.Context, c *command.Call) int {
	status := 0
	for _, name := range c.Args {
		if strings.HasPrefix(name, "-") {
			continue
		}
		status = max(status, c.Run(ctx, c, []string{"sh", "-c", `command -v "$1"`, "which", name}))
	}
	return status
}
