package text

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// ordering is how one key compares.
type ordering struct {
	numeric, general, human, month, version, fold, blanks, dictionary, printing, random, reverse bool
}

// sortKey is a part of a line that is compared.
type sortKey struct {
	from, fromChar, to, toChar int
	order                      ordering
	own                        bool // it has letters of its own
}

// sorter is one call of sort.
type sorter struct {
	separator string
	keys      []sortKey
	order     ordering
	unique    bool
	stable    bool
	seed      uint64
}

func sortLines(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "n,numeric-sort g,general-numeric-sort h,human-numeric-sort M,month-sort V,version-sort f,ignore-case b,ignore-leading-blanks d,dictionary-order i,ignore-nonprinting R,random-sort r,reverse u,unique k,key: t,field-separator: o,output: s,stable c,check C m,merge z,zero-terminated S: T: ,parallel: ,sort: ,debug")
	if err != nil {
		return c.Usage(err)
	}
	s, err := newSorter(o)
	if err != nil {
		return c.Usage(err)
	}
	end := byte('\n')
	if o.Has("z") {
		end = 0
	}
	lines, status := c.AllLines(o.Operands, end)
	if status != 0 {
		return 2
	}
	if o.Has("c") || o.Has("C") {
		return s.check(c, lines, o.Has("C"))
	}
	slices.SortStableFunc(lines, s.compare)
	if s.unique {
		lines = slices.CompactFunc(lines, func(a, b string) bool { return s.byKeys(a, b) == 0 })
	}
	if name := o.Value("o", ""); name != "" {
		var text strings.Builder
		for _, line := range lines {
			text.WriteString(line + string(rune(end)))
		}
		if err := c.Disk.WriteFile(c.Path(name), []byte(text.String()), 0o644); err != nil {
			c.Trouble(name, err)
			return 2
		}
		return 0
	}
	for _, line := range lines {
		if c.Print(line, end) != nil {
			break
		}
	}
	return 0
}

func newSorter(o command.Options) (*sorter, error) {
	s := &sorter{unique: o.Has("u"), stable: o.Has("s"), seed: rand.Uint64()}
	for _, letter := range "nghMVfbdiRr" {
		if o.Has(string(letter)) {
			s.order.set(letter)
		}
	}
	switch o.Value("sort", "") {
	case "numeric":
		s.order.numeric = true
	case "human-numeric":
		s.order.human = true
	case "version":
		s.order.version = true
	case "month":
		s.order.month = true
	}
	s.separator = o.Value("t", "")
	if s.separator == `\0` {
		s.separator = "\x00"
	}
	if len(s.separator) > 1 && s.separator != `\t` && len([]rune(s.separator)) > 1 {
		return nil, fmt.Errorf("multi-character tab '%s'", s.separator)
	}
	for _, text := range o.Values("k") {
		key, err := readKey(text)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

func (o *ordering) set(letter rune) {
	switch letter {
	case 'n':
		o.numeric = true
	case 'g':
		o.general = true
	case 'h':
		o.human = true
	case 'M':
		o.month = true
	case 'V':
		o.version = true
	case 'f':
		o.fold = true
	case 'b':
		o.blanks = true
	case 'd':
		o.dictionary = true
	case 'i':
		o.printing = true
	case 'R':
		o.random = true
	case 'r':
		o.reverse = true
	}
}

// readKey reads F[.C][letters][,F[.C][letters]].
func readKey(text string) (sortKey, error) {
	var key sortKey
	start, end, ranged := strings.Cut(text, ",")
	var err error
	if key.from, key.fromChar, err = key.position(start); err == nil && ranged {
		key.to, key.toChar, err = key.position(end)
	}
	if err != nil || key.from < 1 {
		return key, fmt.Errorf("invalid field specification '%s'", text)
	}
	return key, nil
}

func (k *sortKey) position(text string) (field, char int, err error) {
	digits := strings.TrimRight(text, "nghMVfbdiRr")
	for _, letter := range text[len(digits):] {
		k.order.set(letter)
		k.own = true
	}
	first, second, dotted := strings.Cut(digits, ".")
	if field, err = strconv.Atoi(first); err == nil && dotted {
		char, err = strconv.Atoi(second)
	}
	return field, char, err
}

// compare is the order of lines: by the keys, then by the whole line.
func (s *sorter) compare(a, b string) int {
	if order := s.byKeys(a, b); order != 0 || s.stable || s.unique {
		return order
	}
	if s.order.reverse {
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}

func (s *sorter) byKeys(a, b string) int {
	if len(s.keys) == 0 {
		return s.order.compare(a, b, s.seed)
	}
	for _, key := range s.keys {
		order := key.order
		if !key.own {
			order = s.order
		}
		if found := order.compare(s.part(a, key, order.blanks), s.part(b, key, order.blanks), s.seed); found != 0 {
			return found
		}
	}
	return 0
}

// part cuts a key out of a line.
func (s *sorter) part(line string, key sortKey, skip bool) string {
	spans := s.fields(line)
	if key.from > len(spans) {
		return ""
	}
	start := spans[key.from-1][0]
	if skip {
		start = skipBlanks(line, start)
	}
	start = min(start+max(0, key.fromChar-1), len(line))
	end := len(line)
	if key.to > 0 && key.to <= len(spans) {
		end = spans[key.to-1][1]
		if key.toChar > 0 {
			end = min(spans[key.to-1][0]+key.toChar, end)
		}
	}
	if end < start {
		return ""
	}
	return line[start:end]
}

func skipBlanks(line string, at int) int {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	return at
}

// fields returns where the fields of a line begin and end. Without a separator a field begins with its blanks.
func (s *sorter) fields(line string) [][2]int {
	var spans [][2]int
	if s.separator != "" {
		at := 0
		for {
			next := strings.Index(line[at:], s.separator)
			if next < 0 {
				return append(spans, [2]int{at, len(line)})
			}
			spans = append(spans, [2]int{at, at + next})
			at += next + len(s.separator)
		}
	}
	for at := 0; at < len(line); {
		end := skipBlanks(line, at)
		for end < len(line) && line[end] != ' ' && line[end] != '\t' {
			end++
		}
		spans = append(spans, [2]int{at, end})
		at = end
	}
	return spans
}

func (o ordering) compare(a, b string, seed uint64) int {
	order := o.forward(a, b, seed)
	if o.reverse {
		return -order
	}
	return order
}

func (o ordering) forward(a, b string, seed uint64) int {
	switch {
	case o.numeric:
		return cmp.Compare(leadingNumber(a), leadingNumber(b))
	case o.general:
		return cmp.Compare(generalNumber(a), generalNumber(b))
	case o.human:
		return cmp.Compare(humanNumber(a), humanNumber(b))
	case o.month:
		return cmp.Compare(monthNumber(a), monthNumber(b))
	case o.version:
		return compareVersions(a, b)
	case o.random:
		return cmp.Compare(scrambled(a, seed), scrambled(b, seed))
	}
	return strings.Compare(o.plain(a), o.plain(b))
}

// plain is the text that counts.
func (o ordering) plain(text string) string {
	if o.blanks {
		text = strings.TrimLeft(text, " \t")
	}
	if o.dictionary {
		text = strings.Map(func(r rune) rune {
			if r == ' ' || r == '\t' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 {
				return r
			}
			return -1
		}, text)
	}
	if o.fold {
		text = strings.ToUpper(text)
	}
	return text
}

func scrambled(text string, seed uint64) uint64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d/%s", seed, text)
	return hash.Sum64()
}

func (s *sorter) check(c *command.Call, lines []string, quiet bool) int {
	for i := 1; i < len(lines); i++ {
		order := s.compare(lines[i-1], lines[i])
		if order > 0 || order == 0 && s.unique {
			if !quiet {
				c.Fail("-:%d: disorder: %s", i+1, lines[i])
			}
			return 1
		}
	}
	return 0
}
