package sqlite

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

func TestWriterSyncsEveryCommit(t *testing.T) {
	l := opened(t)
	type settings struct {
		Journal                                string
		Synchronous, ForeignKeys, Busy, Checks int
	}
	var got settings
	err := l.store.Write(t.Context(), func(s relational.Session) (relational.News, error) {
		for name, into := range map[string]any{
			"journal_mode": &got.Journal, "synchronous": &got.Synchronous, "foreign_keys": &got.ForeignKeys,
			"busy_timeout": &got.Busy, "wal_autocheckpoint": &got.Checks,
		} {
			if err := setting(s, name, into); err != nil {
				return relational.News{}, err
			}
		}
		return relational.News{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(settings{"wal", 2, 1, 5000, 8000}, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func setting(s relational.Session, name string, into any) error {
	rows, err := s.Query(`PRAGMA ` + name)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	for rows.Next() {
		if err := rows.Scan(into); err != nil {
			return err
		}
	}
	return rows.Err()
}

func TestReaderCannotWrite(t *testing.T) {
	l := opened(t)
	if _, err := l.store.readers.Exec(`DELETE FROM runs`); err == nil {
		t.Error("a reader wrote")
	}
}

func TestSteadyClockStartsAtItsTimeAndGoesOn(t *testing.T) {
	start := time.Now()
	clock := steady(start)
	first := clock()
	if second := clock(); first.Before(start) || second.Before(first) {
		t.Errorf("%v, then %v, then %v", start, first, second)
	}
}
