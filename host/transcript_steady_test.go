package host_test

import (
	"fmt"
	"regexp"
	"strings"
)

// aliases give the ids that a service made short names, in the order in which they were first seen, so that a
// transcript can show them and use them in later requests.
type aliases struct {
	shown map[string]string // by real id
	made  map[string]string // by shown id
	count map[string]int    // by prefix
}

func newAliases() *aliases {
	return &aliases{map[string]string{}, map[string]string{}, map[string]int{}}
}

var (
	madeID     = regexp.MustCompile(`\b(run|session|approval)-[0-9A-HJKMNP-TV-Z]{26}\b`)
	evidenceID = regexp.MustCompile(`\b([dlm])-[0-9a-f]{8}-([0-9]+)\b`)
	shownID    = regexp.MustCompile(`\b(run|session|approval)-made-[0-9]+\b`)
)

// What differs from run to run. A value of another shape stays, and shows.
var steadied = []struct {
	volatile *regexp.Regexp
	steady   string
}{
	{regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00"`), `"2026-01-02T03:04:05.000006+00:00"`},
	{regexp.MustCompile(`"((?:avg_)?(?:duration|resolution)_ms)":[0-9.]+`), `"$1":1.5`},
	{regexp.MustCompile(`"created":[1-9][0-9]{9}\b`), `"created":1767322445`},
	{regexp.MustCompile(`"progressToken":"call-[0-9]+"`), `"progressToken":"call-1"`},
	{evidenceID, `$1-00000000-$2`},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), `2026-01-02T03:04:05Z`},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), `sha256:0000`},
	{regexp.MustCompile(`"worker_id":"[^"]+"`), `"worker_id":"host/1"`},
	{regexp.MustCompile(`"name":"[^"]+","incarnation":"[^"]+"`), `"name":"host","incarnation":"host/1"`},
	{regexp.MustCompile(`"runs":[0-9]+,"self"`), `"runs":0,"self"`}, // as many as at the last heartbeat
	{regexp.MustCompile(`"bytes":[0-9]+`), `"bytes":1`},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), `127.0.0.1:1`},
}

// steady replaces everything that differs from run to run.
func (a *aliases) steady(text string) string {
	text = madeID.ReplaceAllStringFunc(text, func(id string) string {
		shown, known := a.shown[id]
		if !known {
			prefix, _, _ := strings.Cut(id, "-")
			a.count[prefix]++
			shown = fmt.Sprintf("%s-made-%d", prefix, a.count[prefix])
			a.shown[id], a.made[shown] = shown, id
		}
		return shown
	})
	text = strings.ReplaceAll(text, ": keepalive\n\n", "") // how slow the machine is
	for _, s := range steadied {
		text = s.volatile.ReplaceAllString(text, s.steady)
	}
	return text
}

// real puts the service's own ids into a request.
func (a *aliases) real(text string) string {
	return shownID.ReplaceAllStringFunc(text, func(shown string) string {
		if id, known := a.made[shown]; known {
			return id
		}
		return shown
	})
}
