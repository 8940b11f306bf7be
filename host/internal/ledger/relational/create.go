package relational

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

const insertRun = `
	INSERT INTO runs (tenant, id, session_id, user_key, kind, status, owner, epoch, attempts, created_at, started_at,
		lease_until, claimed_seq, body_bytes, in_turn)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING place`

// Create stores a new run, if the door is open.
func (l *Ledger) Create(ctx context.Context, r run.Run, door ledger.Door) (run.Run, error) {
	const op = "create run"
	if err := creatable(r, door); err != nil {
		return run.Run{}, l.failure(op, err)
	}
	n, err := newcomerOf(r)
	if err != nil {
		return run.Run{}, l.failure(op, misuse(err.Error()))
	}
	return write(ctx, l, op, func(t *Tx) (run.Run, error) { return t.create(n, door) })
}

// newcomer is a run made ready by its caller, so that the transaction only has to store it.
type newcomer struct {
	run              run.Run // as every reader will see it, but for its times
	request, listing []byte
}

func newcomerOf(r run.Run) (newcomer, error) {
	n := newcomer{run: run.Run{
		Ref: r.Ref, SessionID: r.SessionID, Kind: r.Kind, Status: r.Status, Owner: r.Owner, Epoch: r.Epoch,
		Attempts: r.Attempts,
	}}
	var err error
	if n.request, err = encode(r.Request); err != nil {
		return n, err
	}
	short := r.Request
	short.Messages, short.Skills, short.ToolPolicy = nil, nil, run.ToolPolicy{}
	if n.listing, err = encode(short); err != nil {
		return n, err
	}
	return n, json.Unmarshal(n.request, &n.run.Request)
}

// creatable refuses runs that are neither queued nor owned for a time.
func creatable(r run.Run, door ledger.Door) error {
	switch {
	case r.ID == "":
		return misuse("run has no id")
	case r.Kind != run.Chat && r.Kind != run.Background:
		return misuse("run of unknown kind " + string(r.Kind))
	case r.Status == run.Queued && r.Owner == "":
		return nil
	case r.Status != run.Running || r.Owner == "":
		return misuse("a new run is queued, or running with an owner: " + string(r.Status) + " with owner " + r.Owner)
	case door.Lease < time.Microsecond:
		return misuse("an owner needs a lease")
	}
	return nil
}

// create takes locks in one order: the session, what is unique, the queue. Inside the session's lock runs get their
// places in the order in which they become visible, which is the order of their turns.
func (t *Tx) create(n newcomer, door ledger.Door) (run.Run, error) {
	r := n.run
	key := run.SessionKey{Tenant: r.Tenant, UserKey: r.Request.Identity.UserKey, SessionID: r.SessionID}
	if door.Alone || r.Request.Multitask.Waits() {
		if err := t.guard("session", string(key.Tenant), key.UserKey, key.SessionID); err != nil {
			return run.Run{}, err
		}
	}
	r.CreatedAt = t.now
	var lease int64
	claimed := int64(-1)
	if r.Status == run.Running {
		until := Exact(t.now.Add(door.Lease))
		r.StartedAt, r.LeaseUntil, lease, claimed = &t.now, &until, micros(until), 0
	}
	rows, err := t.Query(
		insertRun, string(r.Tenant), r.ID, r.SessionID, r.Request.Identity.UserKey, string(r.Kind), string(r.Status),
		r.Owner, r.Epoch, r.Attempts, micros(r.CreatedAt), optional(r.StartedAt), lease, claimed, len(n.request),
		flag(r.Request.Multitask.Waits()),
	)
	place, err := first(rows, err, number)
	if t.taken(err) {
		return run.Run{}, runExists(t.op)
	}
	if err != nil {
		return run.Run{}, err
	}
	t.news = News{Changed: []run.Ref{r.Ref}, Work: r.Status == run.Queued}
	return r, t.admit(n, place, door)
}

// admit stores what belongs to a new run, and looks whether the door was open for it.
func (t *Tx) admit(n newcomer, place int64, door ledger.Door) error {
	if err := t.key(place, n.run); err != nil {
		return err
	}
	if door.Alone {
		if err := t.alone(place); err != nil {
			return err
		}
	}
	if door.Waiting > 0 {
		if err := t.room(int64(door.Waiting)); err != nil {
			return err
		}
	}
	if door.Interrupts != "" {
		if err := t.interrupt(place, n.run, door.Interrupts); err != nil {
			return err
		}
	}
	return t.Later(
		`INSERT INTO run_bodies (run, request, listing, outcome) VALUES (?, ?, ?, ?)`,
		place, n.request, n.listing, []byte(`{}`),
	)
}

const cancelAhead = `
	UPDATE runs SET cancel = ?1
	WHERE tenant = ?2 AND user_key = ?3 AND session_id = ?4 AND finished_at IS NULL AND place < ?5 AND cancel = ''
	RETURNING tenant, id`

// interrupt cancels the earlier runs of a run's session: who asked for that may be gone before it can be done apart.
func (t *Tx) interrupt(place int64, r run.Run, reason string) error {
	rows, err := t.Query(cancelAhead, reason, string(r.Tenant), r.Request.Identity.UserKey, r.SessionID, place)
	cancelled, err := collect(rows, err, scanRef)
	t.news.Changed = append(t.news.Changed, cancelled...)
	t.news.Work = t.news.Work || len(cancelled) > 0
	return err
}

// key remembers under which idempotency key a run was asked for.
func (t *Tx) key(place int64, r run.Run) error {
	if r.Request.Idempotency.Key == "" {
		return nil
	}
	_, err := t.Exec(
		`INSERT INTO idempotency (tenant, user_key, key, run) VALUES (?, ?, ?, ?)`,
		string(r.Tenant), r.Request.Identity.UserKey, r.Request.Idempotency.Key, place,
	)
	if t.taken(err) {
		return runExists(t.op)
	}
	return err
}

const companions = `
	SELECT CASE WHEN EXISTS (SELECT 1 FROM runs newcomer JOIN runs other
		ON other.tenant = newcomer.tenant AND other.user_key = newcomer.user_key
			AND other.session_id = newcomer.session_id AND other.finished_at IS NULL AND other.place <> newcomer.place
		WHERE newcomer.place = ?) THEN 1 ELSE 0 END`

// alone refuses a run whose session has another that is not finished.
func (t *Tx) alone(place int64) error {
	rows, err := t.Query(companions, place)
	others, err := first(rows, err, number)
	if err == nil && others != 0 {
		err = ledger.ErrBusy
	}
	return err
}

const countWaiting = `
	SELECT COUNT(*) FROM (
		SELECT 1 FROM runs WHERE kind = 'background' AND finished_at IS NULL AND status = 'queued' LIMIT ?) AS waiting`

// crowd is more than ever come in at once. The last places of a queue are given one by one.
const crowd = 64

// room refuses a run when, with itself, more than limit wait.
func (t *Tx) room(limit int64) error {
	rows, err := t.Query(countWaiting, limit+1)
	waiting, err := first(rows, err, number)
	if err != nil || 2*(waiting+crowd) < limit {
		return err
	}
	if t.ledger.dialect.Guard != "" {
		if err := t.guard("queue"); err != nil {
			return err
		}
		rows, err = t.Query(countWaiting, limit+1)
		if waiting, err = first(rows, err, number); err != nil {
			return err
		}
	}
	if waiting > limit {
		return ledger.ErrFull
	}
	return nil
}
