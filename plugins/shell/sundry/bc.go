package sundry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// bc is a calculator: + - * / % ^, comparisons, brackets, variables and scale, with exact decimal numbers. It has
// neither functions nor loops; awk has.
func bc(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "l,mathlib q,quiet s w")
	if err != nil {
		return c.Usage(err)
	}
	b := &calculator{names: map[string]*big.Rat{}}
	if o.Has("l") {
		b.scale = 20
	}
	names := o.Operands
	if len(names) == 0 {
		names = []string{"-"}
	}
	return c.Each(names, func(_ string, input io.Reader) error {
		for line, err := range command.Lines(input, '\n') {
			if err != nil {
				return err
			}
			text, _, _ := strings.Cut(line.Text, "#")
			for _, statement := range strings.Split(text, ";") {
				statement = strings.TrimSpace(statement)
				if statement == "quit" || ctx.Err() != nil {
					return command.ErrStop
				}
				if err := b.statement(c, statement); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

type calculator struct {
	names map[string]*big.Rat
	scale int
	rest  string
	depth int

	divided bool // a quotient shows as many decimals as scale says
}

func (b *calculator) statement(c *command.Call, text string) error {
	if text == "" {
		return nil
	}
	name, value, assigned := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if assigned && isName(name) && !strings.HasPrefix(value, "=") {
		number, err := b.evaluate(value)
		if err != nil {
			return err
		}
		if name == "scale" {
			scale, err := strconv.Atoi(number.FloatString(0))
			if err != nil || scale < 0 || scale > 1000 {
				return errors.New("scale must lie between 0 and 1000")
			}
			b.scale = scale
			return nil
		}
		b.names[name] = number
		return nil
	}
	number, err := b.evaluate(text)
	if err == nil {
		fmt.Fprintln(c.Out, b.show(number))
	}
	return err
}

func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && text[0] >= 'a'
}

// show writes a number as bc does: without a 0 before the point.
func (b *calculator) show(number *big.Rat) string {
	places := 0
	for scaled := new(big.Rat).Set(number); !scaled.IsInt() && places < 1000; places++ {
		scaled.Mul(scaled, big.NewRat(10, 1))
	}
	if b.divided {
		places = max(places, b.scale)
	}
	text := number.FloatString(places)
	text = strings.Replace(text, "-0.", "-.", 1)
	if strings.HasPrefix(text, "0.") {
		text = text[1:]
	}
	return text
}

func (b *calculator) evaluate(text string) (*big.Rat, error) {
	b.rest, b.depth, b.divided = text, 0, false
	number, err := b.sum(0)
	if err == nil && strings.TrimSpace(b.rest) != "" {
		err = fmt.Errorf("syntax error near %q; functions and loops are not available here, awk has them", strings.TrimSpace(b.rest))
	}
	return number, err
}

func levels() [][]string {
	return [][]string{{"||"}, {"&&"}, {"<=", ">=", "==", "!=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}, {"^"}}
}

func (b *calculator) sum(level int) (*big.Rat, error) {
	if level == len(levels()) {
		return b.atom()
	}
	left, err := b.sum(level + 1)
	for err == nil {
		operator := b.operator(levels()[level])
		if operator == "" {
			break
		}
		next := level + 1
		if operator == "^" {
			next = level // to the right
		}
		var right *big.Rat
		if right, err = b.sum(next); err == nil {
			left, err = b.apply(operator, left, right)
		}
	}
	return left, err
}

func (b *calculator) operator(list []string) string {
	b.rest = strings.TrimLeft(b.rest, " \t")
	for _, operator := range list {
		if rest, found := strings.CutPrefix(b.rest, operator); found {
			b.rest = rest
			return operator
		}
	}
	return ""
}

func (b *calculator) atom() (*big.Rat, error) {
	if b.depth++; b.depth > 10_000 {
		return nil, errors.New("the expression is too long")
	}
	b.rest = strings.TrimLeft(b.rest, " \t")
	switch {
	case b.rest == "":
		return nil, errors.New("syntax error: a number is missing")
	case b.rest[0] == '-':
		b.rest = b.rest[1:]
		number, err := b.atom()
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Neg(number), nil
	case b.rest[0] == '(':
		b.rest = b.rest[1:]
		number, err := b.sum(0)
		if err == nil && b.operator([]string{")"}) == "" {
			err = errors.New("syntax error: ) is missing")
		}
		return number, err
	case strings.HasPrefix(b.rest, "sqrt("):
		b.rest = b.rest[len("sqrt"):]
		number, err := b.atom()
		if err != nil || number.Sign() < 0 {
			return nil, errors.Join(err, errors.New("square root of a negative number"))
		}
		return b.root(number), nil
	}
	end := len(b.rest) - len(strings.TrimLeft(b.rest, "0123456789."))
	if end == 0 {
		end = len(b.rest) - len(strings.TrimLeft(b.rest, "abcdefghijklmnopqrstuvwxyz_0123456789"))
		name := b.rest[:end]
		if end == 0 || strings.HasPrefix(b.rest[end:], "(") {
			return nil, fmt.Errorf("syntax error near %q; functions and loops are not available here, awk has them", b.rest)
		}
		b.rest = b.rest[end:]
		if number, known := b.names[name]; known {
			return number, nil
		}
		return new(big.Rat), nil
	}
	number, ok := new(big.Rat).SetString(strings.TrimSuffix(b.rest[:end], "."))
	if !ok {
		return nil, fmt.Errorf("%q is no number", b.rest[:end])
	}
	b.rest = b.rest[end:]
	return number, nil
}

// root is the square root, cut to scale.
func (b *calculator) root(number *big.Rat) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(b.scale)), nil)
	scaled := new(big.Rat).Mul(number, new(big.Rat).SetInt(new(big.Int).Mul(unit, unit)))
	whole := new(big.Int).Sqrt(new(big.Int).Quo(scaled.Num(), scaled.Denom()))
	return new(big.Rat).SetFrac(whole, unit)
}

// cut drops the decimals beyond scale.
func (b *calculator) cut(number *big.Rat) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(b.scale)), nil)
	scaled := new(big.Rat).Mul(number, new(big.Rat).SetInt(unit))
	return new(big.Rat).SetFrac(new(big.Int).Quo(scaled.Num(), scaled.Denom()), unit)
}

func (b *calculator) apply(operator string, x, y *big.Rat) (*big.Rat, error) {
	one := func(ok bool) (*big.Rat, error) {
		if ok {
			return big.NewRat(1, 1), nil
		}
		return new(big.Rat), nil
	}
	switch operator {
	case "+":
		return new(big.Rat).Add(x, y), nil
	case "-":
		return new(big.Rat).Sub(x, y), nil
	case "*":
		return new(big.Rat).Mul(x, y), nil
	case "^":
		return b.power(x, y)
	case "<":
		return one(x.Cmp(y) < 0)
	case "<=":
		return one(x.Cmp(y) <= 0)
	case ">":
		return one(x.Cmp(y) > 0)
	case ">=":
		return one(x.Cmp(y) >= 0)
	case "==":
		return one(x.Cmp(y) == 0)
	case "!=":
		return one(x.Cmp(y) != 0)
	case "&&":
		return one(x.Sign() != 0 && y.Sign() != 0)
	case "||":
		return one(x.Sign() != 0 || y.Sign() != 0)
	}
	if y.Sign() == 0 {
		return nil, errors.New("divide by zero")
	}
	b.divided = true
	quotient := b.cut(new(big.Rat).Quo(x, y))
	if operator == "/" {
		return quotient, nil
	}
	return new(big.Rat).Sub(x, new(big.Rat).Mul(quotient, y)), nil
}

func (b *calculator) power(x, y *big.Rat) (*big.Rat, error) {
	if !y.IsInt() || !y.Num().IsInt64() || y.Num().Int64() > 10_000 || y.Num().Int64() < -10_000 {
		return nil, errors.New("the exponent must be a whole number of at most 10000")
	}
	n := y.Num().Int64()
	power := big.NewRat(1, 1)
	for range max(n, -n) {
		power.Mul(power, x)
	}
	if n >= 0 {
		return power, nil
	}
	if power.Sign() == 0 {
		return nil, errors.New("divide by zero")
	}
	return b.cut(power.Inv(power)), nil
}
