package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/evidence/readonly"
)

// prepare makes the server read statements as they were checked, and bounds them there.
func (d *database) prepare(ctx context.Context, s *session) error {
	s.meter.allow(0)
	hello, err := s.read(ctx, "SELECT VERSION(), CONNECTION_ID()", 1, 4096)
	if err != nil {
		return err
	}
	if len(hello.rows) != 1 || len(hello.rows[0]) != 2 {
		return errors.New("the server does not tell its version")
	}
	s.maria = strings.Contains(strings.ToLower(hello.rows[0][0].text), "mariadb")
	s.id = hello.rows[0][1].text
	if _, err := strconv.ParseUint(s.id, 10, 64); err != nil {
		return errors.New("the server does not tell the connection's number")
	}
	return s.exec(ctx, d.config.setup(s.maria))
}

// setup is the statement that makes a session read as package readonly does, and no longer or more than it may. A server
// ends a statement a little before this side gives it up.
func (c Config) setup(maria bool) string {
	patience := c.Timeout - c.Timeout/10
	limit := "max_execution_time = " + strconv.FormatInt(max(patience.Milliseconds(), 1), 10)
	if maria {
		limit = "max_statement_time = " + strconv.FormatFloat(max(patience.Seconds(), 0.001), 'f', 3, 64)
	}
	return fmt.Sprintf("SET SESSION sql_mode = '%s', SESSION sql_select_limit = %d, SESSION lock_wait_timeout = %d, SESSION %s",
		readonly.SQLMode, c.Rows+1, max(int(c.Timeout/time.Second), 1), limit)
}

func (s *session) exec(ctx context.Context, statement string) error {
	runner, ok := s.conn.(driver.ExecerContext)
	if !ok {
		return errors.New("the driver runs no statements")
	}
	_, err := runner.ExecContext(ctx, statement, nil)
	return err
}

// table is what a statement answered.
type table struct {
	columns []string
	rows    [][]cell
	cut     bool // there is more
}

// cell is one value as the server wrote it.
type cell struct {
	text   string
	null   bool
	number bool
}

// read runs a statement and reads its rows, until there are more of them, or more bytes, than are asked for.
func (s *session) read(ctx context.Context, statement string, rows, bytes int) (table, error) {
	asker, ok := s.conn.(driver.QueryerContext)
	if !ok {
		return table{}, errors.New("the driver asks no questions")
	}
	s.meter.allow(bytes)
	answer, err := asker.QueryContext(ctx, statement, nil)
	if err != nil {
		return table{}, err
	}
	got := table{columns: answer.Columns()}
	err = got.fill(answer, rows, bytes)
	if err != nil && s.meter.flooded() {
		err = errFlood
	}
	if err != nil || got.cut {
		return got, err // what is left of the answer is not read: the connection is closed
	}
	return got, answer.Close()
}

func (t *table) fill(answer driver.Rows, rows, bytes int) error {
	values := make([]driver.Value, len(t.columns))
	for read := 0; ; {
		err := answer.Next(values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row := make([]cell, len(values))
		for i, value := range values {
			row[i] = toCell(value)
			read += len(row[i].text)
		}
		if len(t.rows) == rows || read > bytes {
			t.cut = true
			return nil
		}
		t.rows = append(t.rows, row)
	}
}

func toCell(value driver.Value) cell {
	switch one := value.(type) {
	case nil:
		return cell{text: "NULL", null: true}
	case []byte:
		return toText(string(one))
	case string:
		return toText(one)
	case int64:
		return cell{text: strconv.FormatInt(one, 10), number: true}
	case uint64:
		return cell{text: strconv.FormatUint(one, 10), number: true}
	case float32:
		return cell{text: strconv.FormatFloat(float64(one), 'g', -1, 32), number: true}
	case float64:
		return cell{text: strconv.FormatFloat(one, 'g', -1, 64), number: true}
	case time.Time:
		return cell{text: one.Format("2006-01-02 15:04:05.999999")}
	}
	return cell{text: fmt.Sprint(value)}
}

// toText shows bytes that are no text by their number.
func toText(text string) cell {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return cell{text: fmt.Sprintf("(%d bytes)", len(text))}
	}
	_, err := strconv.ParseFloat(text, 64)
	return cell{text: text, number: err == nil}
}
