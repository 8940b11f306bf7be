// Package awk runs awk programs over the workspace. They start no commands: system() and pipes are refused.
package awk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/parser"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// Table returns the utilities by name.
func Table() command.Table {
	d := &desk{}
	return command.Table{"awk": d.run, "gawk": d.run, "mawk": d.run, "nawk": d.run}
}

// desk keeps the folder in which awk opens files: the interpreter opens them by the names in the program, relative to
// the process. One folder is in use at a time.
type desk struct {
	mu    sync.Mutex
	dir   string
	users int
}

func (d *desk) run(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+F,field-separator: v,assign: f,file: ,csv h b n r S P t ,re-interval ,posix ,traditional")
	if err != nil {
		return c.Usage(err)
	}
	source, operands, err := program(c, o)
	if err != nil {
		return c.Usage(err)
	}
	parsed, err := parser.ParseProgram([]byte(source), nil)
	if err != nil {
		return c.Usage(err)
	}
	machine, err := interp.New(parsed)
	if err != nil {
		return c.Usage(err)
	}
	config := &interp.Config{
		Stdin: c.In, Output: c.Out, Error: c.Err, Argv0: c.Name, Args: operands, Environ: environ(c), NoExec: true,
		Chars: true, Vars: []string{"RS", "\n"},
	}
	if o.Has("F") {
		config.Vars = append(config.Vars, "FS", separator(o.Value("F", " ")))
	}
	for _, assign := range o.Values("v") {
		name, value, ok := strings.Cut(assign, "=")
		if !ok {
			return c.Usage(fmt.Errorf("%q is no assignment", assign))
		}
		config.Vars = append(config.Vars, name, unescape(value))
	}
	if o.Has("csv") {
		config.InputMode = interp.CSVMode
	}
	leave, err := d.enter(c, config)
	if err != nil {
		return c.Usage(err)
	}
	defer leave()
	status, err := machine.ExecuteContext(ctx, config)
	if err != nil && ctx.Err() == nil {
		return explain(c, err)
	}
	return status
}

// separator reads the value of -F: t alone is a tab.
func separator(text string) string {
	if text == "t" {
		return "\t"
	}
	return unescape(text)
}

func unescape(text string) string {
	return strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\\`, `\`).Replace(text)
}

// explain says what a failure means here.
func explain(c *command.Call, err error) int {
	text := err.Error()
	if strings.Contains(text, "NoExec") {
		text = "system() and pipes are not available: this shell runs inside a sandbox without processes; use a pipe of the shell instead"
	}
	var detail *os.PathError
	if errors.As(err, &detail) {
		text = fmt.Sprintf("cannot open %q: %s", detail.Path, command.Reason(err))
	}
	c.Fail("%s", text)
	return 2
}

// program returns the text to run and what it runs over.
func program(c *command.Call, o command.Options) (source string, operands []string, err error) {
	var parts []string
	for _, name := range o.Values("f") {
		input, err := c.Open(name)
		if err != nil {
			return "", nil, fmt.Errorf("can't open file %s: %s", name, command.Reason(err))
		}
		text, err := io.ReadAll(input)
		if err = errors.Join(err, input.Close()); err != nil {
			return "", nil, err
		}
		parts = append(parts, string(text))
	}
	operands = o.Operands
	if len(parts) == 0 {
		if len(operands) == 0 {
			return "", nil, errors.New("a program is needed")
		}
		parts, operands = operands[:1], operands[1:]
	}
	return strings.Join(parts, "\n"), operands, nil
}

func environ(c *command.Call) []string {
	list := make([]string, 0, 2*len(c.Env))
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		list = append(list, name, value)
	}
	return list
}

// enter makes the call's folder the one that files are opened in. When another program runs in another folder, the
// operands become absolute instead.
func (d *desk) enter(c *command.Call, config *interp.Config) (leave func(), err error) {
	scratch, err := materialize(c, config.Args)
	if err != nil {
		return nil, err
	}
	if err := place(c, config.Args); err != nil {
		discard(c, scratch)
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dir := filepath.Join(c.Disk.Base(), c.Dir)
	if d.users > 0 && d.dir != dir {
		for i, name := range config.Args {
			if name != "-" && !strings.Contains(name, "=") && !strings.HasPrefix(name, "/") {
				config.Args[i] = filepath.Join(dir, name)
			}
		}
		return func() { discard(c, scratch) }, nil
	}
	if d.users == 0 {
		if err := os.Chdir(dir); err != nil {
			return nil, fmt.Errorf("enter %s: %w", c.Dir, err)
		}
	}
	d.dir = dir
	d.users++
	return func() {
		discard(c, scratch)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.users--
	}, nil
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// place refuses operands that the disk does not have, and names absolute ones as the host of this code does.
func place(c *command.Call, operands []string) error {
	base := c.Disk.Base()
	for i, name := range operands {
		if name == "-" || name == "" || assignment.MatchString(name) || strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, base+"/tmp/awk-input-") {
			continue
		}
		info, err := c.Disk.Stat(c.Path(name))
		if err == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			return fmt.Errorf("cannot open %q: %s", name, command.Reason(err))
		}
		if filepath.IsAbs(name) {
			operands[i] = filepath.Join(base, name)
		}
	}
	return nil
}

// materialize writes operands that live in memory to files, and returns those.
func materialize(c *command.Call, operands []string) ([]string, error) {
	var made []string
	for i, name := range operands {
		if !strings.HasPrefix(name, "/dev/fd/") {
			continue
		}
		data, err := c.Disk.ReadFile(name)
		if err != nil {
			return made, fmt.Errorf("%s: %s", name, command.Reason(err))
		}
		file := fmt.Sprintf("/tmp/awk-input-%d", i)
		if err := c.Disk.WriteFile(file, data, 0o600); err != nil {
			return made, fmt.Errorf("%s: %s", name, command.Reason(err))
		}
		made = append(made, file)
		operands[i] = filepath.Join(c.Disk.Base(), file)
	}
	return made, nil
}

func discard(c *command.Call, files []string) {
	for _, file := range files {
		_ = c.Disk.Remove(file) // it is ours, and only scratch
	}
}
