package sundry

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func yes(ctx context.Context, c *command.Call) int {
	text := strings.Join(c.Args, " ")
	if text == "" {
		text = "y"
	}
	for ctx.Err() == nil {
		for range 100 {
			if c.Print(text, '\n') != nil {
				return 1
			}
		}
	}
	return 1
}

func seq(ctx context.Context, c *command.Call) int {
	args, o, err := seqArgs(c.Args)
	if err != nil {
		return c.Usage(err)
	}
	first, step, last := big.NewRat(1, 1), big.NewRat(1, 1), new(big.Rat)
	targets := [][]*big.Rat{{last}, {first, last}, {first, step, last}}
	if len(args) < 1 || len(args) > 3 {
		return c.Usage(errors.New("one to three numbers are needed"))
	}
	places := 0
	for i, target := range targets[len(args)-1] {
		if _, ok := target.SetString(args[i]); !ok {
			return c.Usage(fmt.Errorf("invalid floating point argument: ‘%s’", args[i]))
		}
		if _, decimals, dotted := strings.Cut(args[i], "."); dotted && i < 2 {
			places = max(places, len(decimals))
		}
	}
	if step.Sign() == 0 {
		return c.Usage(errors.New("invalid Zero increment value: ‘0’"))
	}
	if places == 0 && !o.Has("w") && !o.Has("f") && whole(first, step, last) {
		return count(ctx, c, [3]int64{first.Num().Int64(), step.Num().Int64(), last.Num().Int64()}, o.Value("s", "\n"))
	}
	show := func(n *big.Rat) string { return n.FloatString(places) }
	if o.Has("w") {
		width := max(len(show(first)), len(show(last)))
		show = func(n *big.Rat) string {
			text := n.FloatString(places)
			sign := ""
			if strings.HasPrefix(text, "-") {
				sign, text = "-", text[1:]
			}
			return sign + strings.Repeat("0", max(0, width-len(text)-len(sign))) + text
		}
	}
	if form := o.Value("f", ""); form != "" {
		show = func(n *big.Rat) string {
			value, _ := n.Float64()
			return fmt.Sprintf(form, value)
		}
	}
	separator, n := o.Value("s", "\n"), new(big.Rat).Set(first)
	for count := 0; step.Sign() > 0 && n.Cmp(last) <= 0 || step.Sign() < 0 && n.Cmp(last) >= 0; count++ {
		if count > 0 {
			_, _ = c.Out.WriteString(separator)
		}
		if _, err := c.Out.WriteString(show(n)); err != nil || ctx.Err() != nil {
			return 1
		}
		n.Add(n, step)
	}
	if n.Cmp(first) != 0 {
		fmt.Fprintln(c.Out)
	}
	return 0
}

// whole reports whether all numbers are whole and far from the ends of 64 bits.
func whole(numbers ...*big.Rat) bool {
	for _, n := range numbers {
		if !n.IsInt() || n.Num().BitLen() > 62 {
			return false
		}
	}
	return true
}

// count prints whole numbers from the first by a step to the last.
func count(ctx context.Context, c *command.Call, by [3]int64, separator string) int {
	first, step, last := by[0], by[1], by[2]
	var text []byte
	for n := first; step > 0 && n <= last || step < 0 && n >= last; n += step {
		text = text[:0]
		if n != first {
			text = append(text, separator...)
		}
		if _, err := c.Out.Write(strconv.AppendInt(text, n, 10)); err != nil || ctx.Err() != nil {
			return 1
		}
	}
	if step > 0 && first <= last || step < 0 && first >= last {
		fmt.Fprintln(c.Out)
	}
	return 0
}

// seqArgs reads options, leaving negative numbers alone.
func seqArgs(args []string) ([]string, command.Options, error) {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") && len(args[at]) > 1 && strings.IndexByte("0123456789.", args[at][1]) < 0 {
		if (args[at] == "-s" || args[at] == "-f") && at+1 < len(args) {
			at++
		}
		at++
	}
	o, err := command.Parse(args[:at], "w,equal-width s,separator: f,format:")
	return args[at:], o, err
}

func factor(_ context.Context, c *command.Call) int {
	for _, arg := range c.Args {
		n, err := strconv.ParseUint(arg, 10, 48)
		if err != nil {
			return c.Fail("‘%s’ is not a valid positive integer below 2^48", arg)
		}
		line := arg + ":"
		for d := uint64(2); d*d <= n; d++ {
			for n%d == 0 {
				line += fmt.Sprintf(" %d", d)
				n /= d
			}
		}
		if n > 1 {
			line += fmt.Sprintf(" %d", n)
		}
		fmt.Fprintln(c.Out, line)
	}
	return 0
}
