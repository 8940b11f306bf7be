package host_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// toolAliases give the UUIDs that a service made short names in the order in which they were seen. UUIDs that stand in
// a workspace or in a transcript keep theirs.
type toolAliases struct {
	kept  map[string]bool
	shown map[string]string // by real id
	made  map[string]string // by shown id
	base  map[counter]int64 // sequence before the transcript's first event
}

// counter says whose events are counted.
type counter int

const (
	plainCount counter = iota // nobody's
	ofTools
	ofRuntime
)

func counterOf(path string) counter {
	switch {
	case strings.HasPrefix(path, "/api/v1/agent-tools/events"):
		return ofTools
	case strings.HasPrefix(path, "/api/v1/agent-runtime/events"):
		return ofRuntime
	}
	return plainCount
}

func newToolAliases() *toolAliases {
	return &toolAliases{map[string]bool{}, map[string]string{}, map[string]string{}, map[counter]int64{}}
}

// anew forgets what was made, and keeps what is kept.
func (a *toolAliases) anew() *toolAliases {
	fresh := newToolAliases()
	fresh.kept = a.kept
	return fresh
}

var (
	anyUUID   = regexp.MustCompile(`\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`)
	madeUUID  = regexp.MustCompile(`\bmade-[0-9]+\b`)
	counted   = regexp.MustCompile(`"(sequence|cursor)":([0-9]+)`)
	fromThere = regexp.MustCompile(`\bcursor=([0-9]+)$`)
	listed    = regexp.MustCompile(`"workspaces":\[[^\]]*\]`)
	longHex   = regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{32})\b`)
)

// keep lets the UUIDs of a text stay as they are.
func (a *toolAliases) keep(text string) {
	for _, id := range anyUUID.FindAllString(text, -1) {
		a.kept[id] = true
	}
}

// steady replaces what differs from run to run.
func (a *toolAliases) steady(text string, c counter) string {
	text = anyUUID.ReplaceAllStringFunc(text, func(id string) string {
		if a.kept[id] {
			return id
		}
		if a.shown[id] == "" {
			shown := fmt.Sprintf("made-%d", len(a.shown)+1)
			a.shown[id], a.made[shown] = shown, id
		}
		return a.shown[id]
	})
	if c != plainCount {
		text = counted.ReplaceAllStringFunc(text, func(found string) string {
			parts := counted.FindStringSubmatch(found)
			return fmt.Sprintf(`"%s":%d`, parts[1], number64(parts[2])-a.base[c])
		})
	}
	for _, s := range steadied {
		text = s.volatile.ReplaceAllString(text, s.steady)
	}
	text = listed.ReplaceAllString(text, `"workspaces":["call","and all others"]`)
	return longHex.ReplaceAllString(text, "0000")
}

// realLine puts the service's own ids and sequences into the first line of a request.
func (a *toolAliases) realLine(line string) string {
	_, path, _ := strings.Cut(line, " ")
	line = fromThere.ReplaceAllStringFunc(line, func(found string) string {
		from := number64(fromThere.FindStringSubmatch(found)[1])
		return fmt.Sprintf("cursor=%d", from+a.base[counterOf(path)])
	})
	return a.real(line)
}

// real puts the service's own ids into a text, and keeps the others.
func (a *toolAliases) real(text string) string {
	a.keep(text)
	return madeUUID.ReplaceAllStringFunc(text, func(shown string) string {
		if id, known := a.made[shown]; known {
			return id
		}
		return shown
	})
}

func number64(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
