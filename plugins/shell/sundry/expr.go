package sundry

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/regex"
)

// expr evaluates its arguments as an expression.
func expr(_ context.Context, c *command.Call) int {
	e := &evaluation{words: c.Args}
	value, err := e.level(0)
	if err == nil && len(e.words) > 0 {
		err = fmt.Errorf("syntax error: unexpected argument ‘%s’", e.words[0])
	}
	if err != nil {
		return c.Usage(err)
	}
	fmt.Fprintln(c.Out, value)
	if value == "" || value == "0" {
		return 1
	}
	return 0
}

type evaluation struct {
	words []string
	depth int
}

// operators from the loosest to the tightest.
func operators() [][]string {
	return [][]string{{"|"}, {"&"}, {"<", "<=", "=", "==", "!=", ">=", ">"}, {"+", "-"}, {"*", "/", "%"}, {":"}}
}

func (e *evaluation) peek() string {
	if len(e.words) == 0 {
		return ""
	}
	return e.words[0]
}

func (e *evaluation) next() string {
	word := e.peek()
	e.words = e.words[min(1, len(e.words)):]
	return word
}

func (e *evaluation) level(n int) (string, error) {
	if n == len(operators()) {
		return e.term()
	}
	left, err := e.level(n + 1)
	for err == nil && len(e.words) > 0 && contains(operators()[n], e.peek()) {
		operator := e.next()
		var right string
		if right, err = e.level(n + 1); err == nil {
			left, err = apply(operator, left, right)
		}
	}
	return left, err
}

func contains(list []string, word string) bool {
	for _, one := range list {
		if one == word {
			return true
		}
	}
	return false
}

func (e *evaluation) term() (string, error) {
	if e.depth++; e.depth > 1000 {
		return "", errors.New("the expression is too long")
	}
	if len(e.words) == 0 {
		return "", errors.New("syntax error: missing argument")
	}
	switch word := e.next(); word {
	case "(":
		value, err := e.level(0)
		if err == nil && e.next() != ")" {
			err = errors.New("syntax error: expecting ‘)’")
		}
		return value, err
	case "length":
		value, err := e.term()
		return strconv.Itoa(utf8.RuneCountInString(value)), err
	case "match", "index":
		value, err := e.term()
		if err != nil {
			return "", err
		}
		other, err := e.term()
		if err != nil {
			return "", err
		}
		if word == "index" {
			return strconv.Itoa(strings.IndexAny(value, other) + 1), nil
		}
		return apply(":", value, other)
	case "substr":
		return e.substr()
	default:
		return word, nil
	}
}

func (e *evaluation) substr() (string, error) {
	text, err := e.term()
	numbers := [2]int{}
	for i := range numbers {
		var word string
		if err == nil {
			word, err = e.term()
		}
		if err == nil {
			numbers[i], err = strconv.Atoi(word)
		}
	}
	runes := []rune(text)
	from, to := numbers[0]-1, numbers[0]-1+numbers[1]
	if err != nil || from < 0 || to <= from || from >= len(runes) {
		return "", err
	}
	return string(runes[from:min(to, len(runes))]), nil
}

func truth(ok bool) string {
	if ok {
		return "1"
	}
	return "0"
}

func apply(operator, left, right string) (string, error) {
	none := func(text string) bool { return text == "" || text == "0" }
	switch operator {
	case "|":
		if none(left) {
			return right, nil
		}
		return left, nil
	case "&":
		if none(left) || none(right) {
			return "0", nil
		}
		return left, nil
	case ":":
		return match(left, right)
	}
	a, okA := new(big.Int).SetString(left, 10)
	b, okB := new(big.Int).SetString(right, 10)
	order := strings.Compare(left, right)
	if okA && okB {
		order = a.Cmp(b)
	}
	switch operator {
	case "<":
		return truth(order < 0), nil
	case "<=":
		return truth(order <= 0), nil
	case "=", "==":
		return truth(order == 0), nil
	case "!=":
		return truth(order != 0), nil
	case ">=":
		return truth(order >= 0), nil
	case ">":
		return truth(order > 0), nil
	}
	switch {
	case !okA || !okB:
		return "", errors.New("non-integer argument")
	case operator == "+":
		return a.Add(a, b).String(), nil
	case operator == "-":
		return a.Sub(a, b).String(), nil
	case operator == "*":
		return a.Mul(a, b).String(), nil
	case b.Sign() == 0:
		return "", errors.New("division by zero")
	case operator == "/":
		return a.Quo(a, b).String(), nil
	}
	return a.Rem(a, b).String(), nil
}

func match(text, pattern string) (string, error) {
	re, err := regex.Compile("^"+strings.TrimPrefix(pattern, "^"), regex.Syntax{})
	if err != nil {
		return "", err
	}
	found := re.FindStringSubmatch(text)
	switch {
	case re.NumSubexp() > 0 && found == nil:
		return "", nil
	case re.NumSubexp() > 0:
		return found[1], nil
	case found == nil:
		return "0", nil
	}
	return strconv.Itoa(utf8.RuneCountInString(found[0])), nil
}
