package fact

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk"
)

// Known refuses arguments that a tool does not have.
func Known(args sdk.Args, names ...string) error {
	for _, given := range args.Names() {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, given) }) {
			return Refuse("There is an argument that this tool does not have. It has: " + strings.Join(names, ", ") + ".")
		}
	}
	return nil
}

// Text returns a text that must be given, not be blank and be at most limit bytes long.
func Text(args sdk.Args, name string, limit int) (string, error) {
	text, err := args.Text(name)
	switch {
	case err != nil:
		return "", Refuse("The argument " + name + " must be given and be a string.")
	case strings.TrimSpace(text) == "":
		return "", Refuse("The argument " + name + " must not be blank.")
	case len(text) > limit:
		return "", Refuse("The argument " + name + " is longer than " + strconv.Itoa(limit) + " bytes.")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", Refuse("The argument " + name + " holds characters that no text has.")
	}
	return text, nil
}

// Optional returns a text that need not be given: then it is empty.
func Optional(args sdk.Args, name string, limit int) (string, error) {
	if !args.Has(name) {
		return "", nil
	}
	return Text(args, name, limit)
}

// Instant reads a time: RFC 3339, Unix seconds, now, now-15m, or an age such as 15m or -15m. A time that is not given is
// fallback.
func Instant(args sdk.Args, name string, now, fallback time.Time) (time.Time, error) {
	if !args.Has(name) {
		return fallback, nil
	}
	if seconds, err := args.Number(name); err == nil {
		return unix(name, seconds)
	}
	text, err := Text(args, name, 64)
	if err != nil {
		return time.Time{}, err
	}
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return unix(name, seconds)
	}
	if text == "now" {
		return now, nil
	}
	age, err := Span(strings.TrimPrefix(strings.TrimPrefix(text, "now"), "-"))
	if err != nil {
		return time.Time{}, Refuse("The argument " + name + " is no time: use RFC 3339, Unix seconds, or an age such as 15m.")
	}
	return now.Add(-age), nil
}

// unix reads seconds of this and the next centuries.
func unix(name string, seconds float64) (time.Time, error) {
	if !(seconds >= 0 && seconds < 1e11) {
		return time.Time{}, Refuse("The argument " + name + " is no time in Unix seconds.")
	}
	return time.UnixMilli(int64(seconds * 1000)), nil
}

// Span reads a duration such as 90s, 15m, 24h or 7d.
func Span(text string) (time.Duration, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if count, err := strconv.Atoi(days); err == nil && count >= 0 && count <= 3660 {
			return time.Duration(count) * 24 * time.Hour, nil
		}
	}
	span, err := time.ParseDuration(text)
	if err != nil || span < 0 {
		return 0, Refuse("This is no duration: use a form like 30s, 15m, 24h or 7d.")
	}
	return span, nil
}
