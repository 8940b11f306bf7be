package semanticguard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fastreact/fastreact/policies/claim"
	"github.com/fastreact/fastreact/sdk/report"
)

// ground asks whether findings carry the summary: their statements hold its numbers and quotations, and they or the
// evidence they cite hold its names.
func (e *examination) ground(r report.Report, items []report.Item, cited map[string]bool) {
	statements, carried := claim.NewHoldings(), claim.NewHoldings()
	for _, finding := range r.Findings {
		statements.Add(finding.Statement)
		carried.AddNames(finding.Statement)
	}
	for _, missing := range claim.Missing(r.Summary, statements) {
		e.object("summary", "no finding states its "+string(missing.Kind)+" "+shortened(missing.Text))
	}
	for _, item := range items {
		if !cited[item.ID] {
			continue
		}
		for _, fact := range item.Facts {
			carried.AddNames(fact.Name + " " + fact.Value)
		}
		carried.AddNames(item.Source + " " + item.Title)
		carried.AddNames(item.Excerpt)
	}
	for _, name := range names(r.Summary) {
		if !carried.Named(name) {
			e.object("summary", "no finding speaks of "+shortened(name))
		}
	}
}

func shortened(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return `"` + text + `"`
}

// names lists what a text calls by a name: words with capitals inside, identifiers, and words that are capitalised in
// the middle of a sentence.
func names(text string) []string {
	words, found, known := nameWords(text), []string{}, map[string]bool{}
	capitals := crowded(words) || german(words)
	for _, w := range words {
		key := strings.ToLower(w.text)
		if known[key] || common(key) || !(inner(w.text) || identifier(w.text) || !capitals && !w.first && capital(w.text)) {
			continue
		}
		known[key] = true
		found = append(found, w.text)
	}
	return found
}

// nameWord is a word with its place in a sentence.
type nameWord struct {
	text  string
	first bool // of a sentence, a line or a quotation
}

func nameWords(text string) []nameWord {
	var words []nameWord
	first := true
	for _, field := range strings.Fields(text) {
		opened := strings.TrimLeft(field, "\"'“”‘’«»„([{*`_#-–—•")
		bare := strings.TrimRight(opened, "\"'“”‘’«»)]}*`.,;:!?…")
		for _, suffix := range []string{"'s", "’s", "'", "’"} {
			bare = strings.TrimSuffix(bare, suffix)
		}
		if bare != "" {
			words = append(words, nameWord{bare, first || opened != field})
		}
		first = strings.ContainsAny(field[len(strings.TrimRight(field, "\"'”’)]}*`.:!?…;")):], ".:!?…;") || bare == ""
	}
	return words
}

// crowded reports whether so many words are capitalised that capitals name nothing.
func crowded(words []nameWord) bool {
	large := 0
	for _, w := range words {
		if !w.first && capital(w.text) && !inner(w.text) {
			large++
		}
	}
	return large > 2 && large*4 > len(words)
}

// german reports whether words are of a language that writes every noun with a capital.
func german(words []nameWord) bool {
	known := map[string]bool{}
	for _, w := range words {
		switch key := strings.ToLower(w.text); key {
		case "der", "die", "das", "den", "dem", "ein", "eine", "einen", "und", "oder", "ist", "sind", "war", "wird", "werden", "hat", "haben",
			"nicht", "kein", "keine", "mit", "auf", "aus", "bei", "für", "im", "nach", "seit", "von", "vom", "zu", "zum", "zur", "wegen":
			known[key] = true
		}
	}
	return len(known) >= 2
}

func capital(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first) && len(word) > size
}

// inner reports whether capitals stand inside a word of letters, as in MySQL, or make it up, as in CDN.
func inner(word string) bool {
	capitals, small := 0, 0
	for i, r := range word {
		switch {
		case unicode.IsUpper(r) && i > 0:
			capitals++
		case unicode.IsLower(r):
			small++
		}
	}
	return capitals > 0 && strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 && (small > 0 || len(word) > 2)
}

// identifier reports whether a word is one of programs: http_requests_total or shop.orders.
func identifier(word string) bool {
	if strings.Contains(word, "_") {
		return true
	}
	before, after, dotted := strings.Cut(word, ".")
	return dotted && len(before) > 1 && len(after) > 1 && unicode.IsLetter(rune(before[0])) && unicode.IsLetter(rune(after[0]))
}

// common reports whether a word in small letters is nobody's name.
func common(word string) bool {
	switch word {
	case "i", "i'm", "i'd", "cpu", "cpus", "http", "https", "sql", "api", "apis", "utc", "dns", "tcp", "udp", "tls", "ssl", "io", "i/o", "url",
		"urls", "json", "ram", "db", "dbs", "qps", "rps", "slo", "sla", "gc", "jvm", "os", "vm", "vms", "ip", "ips", "id", "ids", "ok",
		"prometheus", "mysql", "mariadb", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "am", "pm", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "oom",
		"none", "not", "no", "all", "both", "a", "the":
		return true
	}
	return false
}
