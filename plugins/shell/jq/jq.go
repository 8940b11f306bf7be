// Package jq runs jq filters over JSON in the workspace.
package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// Table returns the utilities by name.
func Table() command.Table { return command.Table{"jq": run} }

// filter is one call.
type filter struct {
	c      *command.Call
	o      command.Options
	code   *gojq.Code
	values []any // of variables, in the order of their names
	last   any
	any    bool
}

func run(ctx context.Context, c *command.Call) int {
	args, names, values, err := variables(c.Args)
	if err != nil {
		return c.Usage(err)
	}
	o, err := command.Parse(args, "r,raw-output j,join-output c,compact-output n,null-input s,slurp R,raw-input e,exit-status S,sort-keys a,ascii-output f,from-file: C,color-output M,monochrome-output ,tab ,indent: ,seq ,unbuffered")
	if err != nil {
		return c.Usage(err)
	}
	f := &filter{c: c, o: o, values: values}
	operands, err := f.compile(names)
	if err != nil {
		c.Fail("%v", err)
		return 3
	}
	status := f.inputs(ctx, operands)
	if status == 0 && o.Has("e") && (!f.any || f.last == nil || f.last == false) {
		return 1
	}
	return status
}

// variables takes --arg, --argjson and --args out of the words.
func variables(args []string) (rest, names []string, values []any, err error) {
	named := map[string]any{}
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--arg", "--argjson":
			if i+2 >= len(args) {
				return nil, nil, nil, fmt.Errorf("%s wants a name and a value", args[i])
			}
			value, err := valueOf(args[i+2], args[i] == "--argjson")
			if err != nil {
				return nil, nil, nil, err
			}
			names, values = append(names, "$"+args[i+1]), append(values, value)
			named[args[i+1]] = value
			i += 2
		default:
			rest = append(rest, args[i])
		}
	}
	return rest, append(names, "$__named"), append(values, any(named)), nil
}

func valueOf(text string, isJSON bool) (value any, err error) {
	if !isJSON {
		return text, nil
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("invalid JSON text passed to --argjson: %w", err)
	}
	return value, nil
}

func (f *filter) compile(names []string) (operands []string, err error) {
	operands = f.o.Operands
	source := "."
	switch file := f.o.Value("f", ""); {
	case file != "":
		input, err := f.c.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", file, command.Reason(err))
		}
		data, err := io.ReadAll(input)
		if err = errors.Join(err, input.Close()); err != nil {
			return nil, err
		}
		source = string(data)
	case len(operands) > 0:
		source, operands = operands[0], operands[1:]
	}
	query, err := gojq.Parse(source)
	if err != nil {
		return nil, err
	}
	f.code, err = gojq.Compile(query, gojq.WithVariables(names), gojq.WithEnvironLoader(func() []string { return f.c.Env }))
	return operands, err
}

func (f *filter) inputs(ctx context.Context, names []string) int {
	if f.o.Has("n") {
		return f.apply(ctx, nil)
	}
	var all []any
	status := 0
	read := f.c.Each(names, func(_ string, input io.Reader) error {
		return f.each(input, func(value any) {
			if f.o.Has("s") {
				all = append(all, value)
			} else if ctx.Err() == nil {
				status = max(status, f.apply(ctx, value))
			}
		})
	})
	if read != 0 {
		return 2
	}
	if !f.o.Has("s") {
		return status
	}
	if !f.o.Has("R") {
		return f.apply(ctx, all)
	}
	var text strings.Builder
	for _, line := range all {
		fmt.Fprintln(&text, line)
	}
	return f.apply(ctx, text.String())
}

// each reads the values of one input.
func (f *filter) each(input io.Reader, take func(any)) error {
	if f.o.Has("R") {
		for line, err := range command.Lines(input, '\n') {
			if err != nil {
				return err
			}
			take(line.Text)
		}
		return nil
	}
	decoder := json.NewDecoder(input)
	decoder.UseNumber()
	for {
		var value any
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("parse error: %w", err)
		}
		take(value)
	}
}

// apply runs the filter on one value and prints what comes out.
func (f *filter) apply(ctx context.Context, value any) int {
	results := f.code.RunWithContext(ctx, value, f.values...)
	for {
		result, more := results.Next()
		if !more {
			return 0
		}
		if err, failed := result.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return halt.ExitCode()
			}
			if ctx.Err() == nil {
				f.c.Fail("error: %v", err)
			}
			return 5
		}
		f.last, f.any = result, true
		if err := f.print(result); err != nil {
			return 2
		}
	}
}

func (f *filter) print(value any) error {
	end := "\n"
	if f.o.Has("j") {
		end = ""
	}
	if text, is := value.(string); is && (f.o.Has("r") || f.o.Has("j")) {
		_, err := f.c.Out.WriteString(text + end)
		return err
	}
	data, err := gojq.Marshal(value)
	if err != nil {
		return err
	}
	if indent := f.indent(); indent != "" {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, data, "", indent); err != nil {
			return err
		}
		data = pretty.Bytes()
	}
	_, err = f.c.Out.WriteString(string(data) + end)
	return err
}

func (f *filter) indent() string {
	switch n, err := f.o.Number("indent", 2); {
	case f.o.Has("c"):
		return ""
	case f.o.Has("tab"):
		return "\t"
	case err == nil && n >= 0 && n < 9:
		return strings.Repeat(" ", n)
	}
	return "  "
}
