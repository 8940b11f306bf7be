package sundry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// date shows UTC: the sandbox has no time zones.
func date(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "d,date: u,utc,universal r,reference: s,set: R,rfc-email I,iso-8601? ,rfc-3339: j f:")
	if err != nil {
		return c.Usage(err)
	}
	if o.Has("s") {
		return c.Fail("cannot set date: Operation not permitted")
	}
	t := time.Now().UTC()
	if o.Has("d") {
		if t, err = command.ReadTime(o.Value("d", ""), t); err != nil {
			return c.Fail("%v", err)
		}
	}
	if name := o.Value("r", ""); name != "" {
		info, err := c.Disk.Stat(c.Path(name))
		if err != nil {
			return c.Trouble(name, err)
		}
		t = info.ModTime()
	}
	t = t.UTC()
	switch {
	case len(o.Operands) > 0 && strings.HasPrefix(o.Operands[0], "+"):
		fmt.Fprintln(c.Out, command.FormatTime(o.Operands[0][1:], t))
	case len(o.Operands) > 0:
		return c.Usage(fmt.Errorf("invalid date ‘%s’", o.Operands[0]))
	case o.Has("R"):
		fmt.Fprintln(c.Out, t.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	case o.Has("rfc-3339"):
		fmt.Fprintln(c.Out, t.Format("2006-01-02 15:04:05-07:00"))
	case o.Has("I"):
		layouts := map[string]string{"": "2006-01-02", "date": "2006-01-02", "hours": "2006-01-02T15-07:00", "minutes": "2006-01-02T15:04-07:00", "seconds": "2006-01-02T15:04:05-07:00"}
		fmt.Fprintln(c.Out, t.Format(layouts[o.Value("I", "")]))
	default:
		fmt.Fprintln(c.Out, t.Format("Mon Jan _2 15:04:05 UTC 2006"))
	}
	return 0
}

// span reads 1.5, 3s, 2m, 1h or 1d.
func span(text string) (time.Duration, error) {
	unit := time.Second
	digits := strings.TrimRight(text, "smhd")
	switch text[len(digits):] {
	case "", "s":
	case "m":
		unit = time.Minute
	case "h":
		unit = time.Hour
	case "d":
		unit = 24 * time.Hour
	default:
		digits = ""
	}
	number, err := strconv.ParseFloat(digits, 64)
	if digits == "infinity" || digits == "inf" {
		return 1000 * time.Hour, nil
	}
	if err != nil || number < 0 || number > 1e6 {
		return 0, fmt.Errorf("invalid time interval ‘%s’", text)
	}
	return time.Duration(number * float64(unit)), nil
}

func sleep(ctx context.Context, c *command.Call) int {
	if len(c.Args) == 0 {
		return c.Usage(errors.New("missing operand"))
	}
	total := time.Duration(0)
	for _, arg := range c.Args {
		more, err := span(arg)
		if err != nil {
			return c.Usage(err)
		}
		total += more
	}
	timer := time.NewTimer(total)
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0
	case <-ctx.Done():
		return 1
	}
}

func timeout(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+s,signal: k,kill-after: ,preserve-status ,foreground v,verbose")
	if err == nil && len(o.Operands) < 2 {
		err = errors.New("a time and a command are needed")
	}
	if err != nil {
		return c.Usage(err)
	}
	limit, err := span(o.Operands[0])
	if err != nil {
		return c.Usage(err)
	}
	if limit <= 0 {
		return c.Run(ctx, c, o.Operands[1:])
	}
	inner, cancel := command.Until(ctx, time.Now().Add(limit))
	defer cancel()
	status := c.Run(inner, c, o.Operands[1:])
	if inner.Err() != nil && ctx.Err() == nil {
		return 124
	}
	return status
}

// plain runs a command as it is: nohup and nice have nothing to change here.
func plain(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+n,adjustment:")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("a command is needed")
	}
	if err != nil {
		return c.Usage(err)
	}
	return c.Run(ctx, c, o.Operands)
}
