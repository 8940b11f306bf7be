package relational

import (
	"context"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

const rememberedRuns = selectRuns + `
	WHERE r.tenant = ? AND r.user_key = ? AND r.session_id = ? AND r.status = 'completed'
	ORDER BY r.finished_at DESC, r.place DESC LIMIT ?`

// Turns returns what the completed runs of a conversation said, oldest first.
func (l *Ledger) Turns(ctx context.Context, key run.SessionKey, most run.MemoryBounds) ([]run.Turn, error) {
	var turns []run.Turn
	err := l.read(ctx, "recall session", func(snapshot Session) error {
		rows, err := snapshot.Query(
			rememberedRuns, string(key.Tenant), key.UserKey, key.SessionID, most.Turns,
		)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err below tells
		turns, err = newestTurns(rows, most.Bytes)
		return err
	})
	slices.Reverse(turns)
	return turns, err
}

// newestTurns reads run by run and stops at the first turn that no longer fits: a conversation may hold more than
// should be in memory at once.
func newestTurns(rows Rows, room int) ([]run.Turn, error) {
	var turns []run.Turn
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		turn := r.Turn()
		room -= turn.Bytes()
		if room < 0 && len(turns) > 0 {
			return turns, nil
		}
		turns = append(turns, turn)
	}
	return turns, rows.Err()
}

const runsAhead = `
	SELECT tenant, id FROM runs
	WHERE tenant = ?1 AND user_key = ?2 AND session_id = ?3 AND finished_at IS NULL
		AND (?4 = '' OR place < (SELECT place FROM runs WHERE tenant = ?1 AND id = ?4))
	ORDER BY place`

// Ahead lists the unfinished runs of a conversation that were created before the one with this id, oldest first.
func (l *Ledger) Ahead(ctx context.Context, key run.SessionKey, id string) ([]run.Ref, error) {
	var refs []run.Ref
	err := l.read(ctx, "look ahead in session", func(snapshot Session) error {
		rows, err := snapshot.Query(runsAhead, string(key.Tenant), key.UserKey, key.SessionID, id)
		refs, err = collect(rows, err, scanRef)
		return err
	})
	return refs, err
}

const someoneWaits = `
	SELECT CASE WHEN EXISTS (SELECT 1 FROM runs ended JOIN runs waiting
		ON waiting.tenant = ended.tenant AND waiting.user_key = ended.user_key
			AND waiting.session_id = ended.session_id AND waiting.finished_at IS NULL
		WHERE ended.place = ? AND waiting.in_turn = 1) THEN 1 ELSE 0 END`

// wakeSession announces that the next run of the conversation may have become claimable.
func (t *Tx) wakeSession(place int64) error {
	rows, err := t.Query(someoneWaits, place)
	waits, err := first(rows, err, number)
	t.news.Work = t.news.Work || waits != 0
	return err
}
