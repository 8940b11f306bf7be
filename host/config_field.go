package host

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
)

// field is what the struct tags say about one key.
type field struct {
	index    int
	key      string
	about    string
	fallback string // default, as text
	bounds   *bounds
	enum     []string
}

// bounds are the smallest and the largest number a field takes. Durations count in nanoseconds.
type bounds struct{ least, most int64 }

// fieldsOf reads the tags of a section. Fields without a key are not for the operator's file.
func fieldsOf(section reflect.Type) []field {
	var fields []field
	for i := range section.NumField() {
		declared := section.Field(i)
		key, open := declared.Tag.Lookup("key")
		if !open {
			continue
		}
		f := field{index: i, key: key, about: declared.Tag.Get("about"), fallback: declared.Tag.Get("default")}
		if enum, closed := declared.Tag.Lookup("enum"); closed {
			f.enum = strings.Split(enum, "|")
		}
		if least, bounded := declared.Tag.Lookup("min"); bounded {
			f.bounds = &bounds{mustNumber(declared, least), mustNumber(declared, declared.Tag.Get("max"))}
		}
		fields = append(fields, f)
	}
	return fields
}

// mustNumber reads a bound. A bad one is a bug in a struct tag.
func mustNumber(declared reflect.StructField, text string) int64 {
	if declared.Type == durationType {
		d, err := time.ParseDuration(text)
		if err != nil {
			panic("host: bound of " + declared.Name + ": " + err.Error())
		}
		return int64(d)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("host: bound of " + declared.Name + ": " + err.Error())
	}
	return n
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	treeType     = reflect.TypeFor[Tree]()
	rulesType    = reflect.TypeFor[Rules]()
	secretType   = reflect.TypeFor[Secret]()
)

func (f field) allows(text string) bool {
	if f.enum == nil {
		return true
	}
	for _, allowed := range f.enum {
		if text == allowed {
			return true
		}
	}
	return false
}

func (f field) boundsProblem(number int64, kind reflect.Type) string {
	if f.bounds == nil || number >= f.bounds.least && number <= f.bounds.most {
		return ""
	}
	if kind == durationType {
		return fmt.Sprintf("must lie between %s and %s",
			durationText(time.Duration(f.bounds.least)), durationText(time.Duration(f.bounds.most)))
	}
	return fmt.Sprintf("must lie between %d and %d", f.bounds.least, f.bounds.most)
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// join returns the path of a key within a section.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// durationText writes a duration without zero parts: 5m rather than 5m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func sortedKeys[V any](table map[string]V) []string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func durationOf(v reflect.Value) time.Duration { return time.Duration(v.Int()) }
