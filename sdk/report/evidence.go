package report

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fastreact/fastreact/sdk/wire"
)

// Item is one piece of evidence that a tool found.
type Item struct {
	ID         string // unique in its run; letters, digits and ._:-
	Source     string
	Title      string // safe to show to whoever asked
	ObservedAt string // RFC 3339
	Facts      []Fact
	Excerpt    string
}

// Fact is one value of an item.
type Fact struct {
	Name  string
	Value string // a number as it is written, the words of a string, true, false or null
	Unit  string
}

const (
	maxID     = 128
	maxSource = 64
	maxTitle  = 1024

	unbounded = math.MaxInt // but by the size of the whole
)

// DecodeItems reads the evidence of a review request: a list of items.
func DecodeItems(raw []byte) ([]Item, error) {
	r := wire.NewReader(raw)
	all := list(r, "evidence", unbounded, item)
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	return all, nil
}

// DecodeResult reads the result of an evidence tool: {"evidence":[…],"note":…}, of which the note may be missing.
func DecodeResult(raw []byte) ([]Item, error) {
	var all []Item
	seen := keys{}
	err := object(raw, func(r *wire.Reader, key string) {
		switch seen.mark(r, key); key {
		case "evidence":
			all = list(r, "evidence", unbounded, item)
		case "note":
			r.Text()
		default:
			r.Fail(errors.New("a result has the keys evidence and note, and no other"))
		}
	})
	if err == nil {
		err = seen.all("evidence")
	}
	if err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return all, nil
}

func item(r *wire.Reader) Item {
	var read Item
	seen := keys{}
	members(r, func(key string) {
		switch seen.mark(r, key); key {
		case "evidence_id":
			read.ID = r.Text()
		case "source":
			read.Source = r.Text()
		case "title":
			read.Title = r.Text()
		case "observed_at":
			read.ObservedAt = r.Text()
		case "facts":
			read.Facts = list(r, "facts", unbounded, fact)
		case "excerpt":
			read.Excerpt = r.Text()
		default:
			r.Fail(errors.New("an item has the keys evidence_id, source, title, observed_at, facts and excerpt, and no other"))
		}
	})
	if err := read.check(); err != nil {
		r.Fail(err)
	}
	return read
}

func fact(r *wire.Reader) Fact {
	var read Fact
	seen := keys{}
	members(r, func(key string) {
		switch seen.mark(r, key); key {
		case "name":
			read.Name = r.Text()
		case "value":
			read.Value = scalar(r)
		case "unit":
			read.Unit = r.Text()
		default:
			r.Fail(errors.New("a fact has the keys name, value and unit, and no other"))
		}
	})
	if err := seen.all("name", "value"); err != nil {
		r.Fail(err)
	}
	return read
}

// scalar reads a value that is no list and no object, as text.
func scalar(r *wire.Reader) string {
	switch r.Kind() {
	case wire.Text:
		return r.Text()
	case wire.Number:
		return r.Number()
	case wire.Bool, wire.Null:
		return string(r.Raw())
	default:
		r.Fail(errors.New("the value of a fact is a text, a number, true, false or null"))
		return ""
	}
}

func (i Item) check() error {
	switch {
	case i.ID == "" || len(i.ID) > maxID || strings.Trim(i.ID, idSigns) != "":
		return errors.New("evidence_id is missing, too long or has other signs than letters, digits and ._:-")
	case i.Source == "" || len(i.Source) > maxSource:
		return errors.New("source is missing or too long")
	case blank(i.Title) || len(i.Title) > maxTitle:
		return errors.New("title is missing or too long")
	}
	if _, err := time.Parse(time.RFC3339, i.ObservedAt); err != nil {
		return errors.New("observed_at is no time of RFC 3339")
	}
	return nil
}

const idSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-"
