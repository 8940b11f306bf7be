package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// answer makes one item of rows. A fact is one value, named by its column and, where there are several rows, by the first
// value of its row, if that is no number, or by the row's number.
func (s *Source) answer(name string, got table) fact.Answer {
	facts := []fact.Fact{{Name: "rows", Value: strconv.Itoa(len(got.rows))}}
	var excerpt strings.Builder
	columns := make([]string, len(got.columns))
	for i, name := range got.columns {
		columns[i] = column(name)
	}
	excerpt.WriteString(strings.Join(columns, " | ") + "\n")
	for number, row := range got.rows {
		label, labelled := got.label(number)
		for i, one := range row {
			if labelled && i == 0 {
				continue
			}
			facts = append(facts, fact.Fact{Name: columns[i] + label, Value: one.text, Unit: unit(got.columns[i], one)})
		}
		if excerpt.Len() <= s.config.Excerpt {
			excerpt.WriteString(line(row))
		}
	}
	note := ""
	if got.cut {
		note = fmt.Sprintf("The answer was cut after %s: it has more than %d rows or %d bytes. Narrow the statement, or "+
			"let the database sum it up.", counted(len(got.rows)), s.config.Rows, s.config.Bytes)
	}
	return fact.Answer{
		Evidence: []fact.Item{{
			Source: "mysql", Title: "Database " + name + ": " + counted(len(got.rows)), ObservedAt: fact.At(s.config.Clock()),
			Facts: facts, Excerpt: strings.TrimSuffix(excerpt.String(), "\n"),
		}},
		Note: note,
	}
}

// constant is the answer to a statement that asks nothing: what it holds itself is no evidence.
func (s *Source) constant(name string, got table) fact.Answer {
	bare := s.answer(name, table{})
	item := &bare.Evidence[0]
	item.Title, item.Excerpt = "Database "+name+": no table was read", ""
	item.Facts = []fact.Fact{{Name: "rows", Value: strconv.Itoa(len(got.rows))}}
	bare.Note = "The statement reads no table: its values are its own and no evidence, and are not repeated."
	return bare
}

func counted(rows int) string {
	switch rows {
	case 0:
		return "no rows"
	case 1:
		return "1 row"
	}
	return strconv.Itoa(rows) + " rows"
}

// label says which row a fact is of. One row of several columns needs none.
func (t table) label(row int) (label string, labelled bool) {
	cells := t.rows[row]
	if len(cells) > 1 && !cells[0].number && !cells[0].null && cells[0].text != "" {
		return " of " + fact.Cut(cells[0].text, 120), true
	}
	if len(t.rows) == 1 {
		return "", false
	}
	return " of row " + strconv.Itoa(row+1), false
}

func unit(column string, one cell) string {
	if !one.number {
		return ""
	}
	return fact.Unit(column)
}

func line(row []cell) string {
	texts := make([]string, len(row))
	for i, one := range row {
		texts[i] = fact.Cut(strings.ReplaceAll(one.text, "\n", " "), 200)
	}
	return strings.Join(texts, " | ") + "\n"
}
