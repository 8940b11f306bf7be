package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/host/internal/run"
)

// What has a server refuse whatever is written to two tables as it does when its disk is full, and what ends that.
const (
	fillNow = `
	CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'could not extend file: No space left on device';
	END $$;
	CREATE TRIGGER fill BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fill();
	CREATE TRIGGER fill BEFORE UPDATE ON pulse FOR EACH ROW EXECUTE FUNCTION fill();`
	fillAtCommit = `
	DROP TRIGGER fill ON events; DROP TRIGGER fill ON pulse;
	CREATE CONSTRAINT TRIGGER fill AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fill();
	CREATE CONSTRAINT TRIGGER fill AFTER UPDATE ON pulse DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fill();`
	empty = `DROP FUNCTION fill CASCADE;`
)

// TestDiskThatIsFullIsReportedAndNothingThatWasAcknowledgedIsLost has the disk full at the statement and at the commit.
func TestDiskThatIsFullIsReportedAndNothingThatWasAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	l := open(t, postgres.Config{DSN: dsn})
	defer func() { _ = l.Close() }()
	r := driven(t, l, "r")
	write := func(text string) error {
		_, err := l.Append(t.Context(), r.Fence(), thought(text))
		return err
	}
	refused := func(when string, err error) {
		t.Helper()
		code, sentence := run.Public(err)
		if code != run.CodeStore || sentence != "The storage of the service is full. Try again later." {
			t.Errorf("%s: it says %s %q (%v)", when, code, sentence, err)
		}
	}
	if err := write("before"); err != nil {
		t.Fatal(err)
	}
	for when, statements := range map[string]string{"at the statement": fillNow, "at the commit": fillNow + fillAtCommit} {
		sql(t, name, statements)
		refused(when, write("while it is full"))
		refused(when, l.Ping(t.Context()))
		sql(t, name, empty)
	}
	for _, err := range []error{write("after"), l.Ping(t.Context())} {
		if err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"before", "after"}, texts(t, l, r.Ref)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
