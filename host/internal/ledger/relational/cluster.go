package relational

import (
	"context"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/failpoint"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// renewBatch is how many leases one statement prolongs.
const renewBatch = 256

// graveTime is how long a node that is silent is remembered.
const graveTime = 24 * time.Hour

const upsertNode = `
	INSERT INTO nodes (owner, name, since, seen, lease, runs) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT (owner) DO UPDATE SET name = excluded.name, seen = excluded.seen, lease = excluded.lease,
		runs = excluded.runs`

// Renew records that a node is alive and prolongs its leases on the runs it drives.
func (l *Ledger) Renew(ctx context.Context, node ledger.Node, driven []run.Fence) ([]ledger.Held, error) {
	const op = "renew leases"
	if err := lasting(node.Owner, node.Lease); err != nil {
		return nil, l.failure(op, err)
	}
	return write(ctx, l, op, func(t *Tx) ([]ledger.Held, error) {
		if node.Since.IsZero() {
			node.Since = t.now
		}
		err := t.Later(
			upsertNode, node.Owner, node.Name, micros(node.Since), micros(t.now), node.Lease.Microseconds(), node.Runs,
		)
		if err != nil {
			return nil, err
		}
		if err := t.Later(`DELETE FROM nodes WHERE seen < ?`, micros(t.now.Add(-graveTime))); err != nil {
			return nil, err
		}
		return t.renew(node, driven)
	})
}

func (t *Tx) renew(node ledger.Node, driven []run.Fence) ([]ledger.Held, error) {
	var all []ledger.Held
	for len(driven) > 0 {
		part := driven[:min(renewBatch, len(driven))]
		driven = driven[len(part):]
		args := []any{micros(t.now.Add(node.Lease)), node.Owner}
		for i := range places(len(part)) {
			fence := part[min(i, len(part)-1)]
			args = append(args, string(fence.Tenant), fence.ID, fence.Epoch)
		}
		rows, err := t.Query(renewal(places(len(part))), args...)
		held, err := collect(rows, err, scanHeld)
		if err != nil {
			return nil, err
		}
		all = append(all, inOrder(part, held)...)
	}
	return all, nil
}

// places rounds up to a power of two, so that renewals are few different texts.
func places(runs int) int {
	n := 1
	for n < runs {
		n *= 2
	}
	return n
}

// renewal is the statement that prolongs n leases.
func renewal(n int) string {
	return `UPDATE runs SET lease_until = ? WHERE owner = ? AND owner <> '' AND finished_at IS NULL
		AND (tenant, id, epoch) IN (VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT))` +
		strings.Repeat(`, (?, ?, ?)`, n-1) + `)
	RETURNING tenant, id, cancel`
}

func scanHeld(rows Rows) (h ledger.Held, err error) {
	err = rows.Scan(&h.Ref.Tenant, &h.Ref.ID, &h.Cancel)
	return h, err
}

// inOrder returns what is held in the order in which it was asked for.
func inOrder(asked []run.Fence, held []ledger.Held) []ledger.Held {
	byRef := map[run.Ref]ledger.Held{}
	for _, h := range held {
		byRef[h.Ref] = h
	}
	ordered := make([]ledger.Held, 0, len(held))
	for _, fence := range asked {
		if h, ok := byRef[fence.Ref]; ok || failpoint.Off(fenceRule) {
			h.Ref = fence.Ref
			ordered = append(ordered, h)
			delete(byRef, fence.Ref)
		}
	}
	return ordered
}

// Nodes lists the nodes that are alive.
func (l *Ledger) Nodes(ctx context.Context) ([]ledger.Node, error) {
	var nodes []ledger.Node
	err := l.read(ctx, "list nodes", func(snapshot Session) error {
		now, err := snapshot.Now()
		if err != nil {
			return err
		}
		rows, err := snapshot.Query(`
			SELECT name, owner, since, seen, lease, runs FROM nodes WHERE seen + lease > ?
			ORDER BY name, since, owner`, micros(now))
		nodes, err = collect(rows, err, scanNode)
		return err
	})
	return nodes, err
}

func scanNode(rows Rows) (n ledger.Node, err error) {
	var since, seen, lease int64
	err = rows.Scan(&n.Name, &n.Owner, &since, &seen, &lease, &n.Runs)
	n.Since, n.Seen, n.Lease = fromMicros(since), fromMicros(seen), time.Duration(lease)*time.Microsecond
	return n, err
}

// Depart forgets a node, and gives up its duties.
func (l *Ledger) Depart(ctx context.Context, owner string) error {
	_, err := write(ctx, l, "depart", func(t *Tx) (done, error) {
		if err := t.Later(`DELETE FROM nodes WHERE owner = ?`, owner); err != nil {
			return done{}, err
		}
		return done{}, t.Later(`DELETE FROM duties WHERE owner = ?`, owner)
	})
	return err
}

const takeDuty = `
	INSERT INTO duties (duty, owner, until) VALUES (?1, ?2, ?3)
	ON CONFLICT (duty) DO UPDATE SET owner = excluded.owner, until = excluded.until
	WHERE duties.owner = excluded.owner OR duties.until <= ?4`

// Take gives a duty to one node at a time.
func (l *Ledger) Take(ctx context.Context, duty string, by ledger.Claimant) (mine bool, err error) {
	const op = "take duty"
	if err := lasting(by.Owner, by.Lease); err != nil {
		return false, l.failure(op, err)
	}
	return write(ctx, l, op, func(t *Tx) (bool, error) {
		taken, err := t.Exec(takeDuty, duty, by.Owner, micros(t.now.Add(by.Lease)), micros(t.now))
		return taken > 0, err
	})
}

// Now returns the ledger's time.
func (l *Ledger) Now(ctx context.Context) (now time.Time, err error) {
	err = l.read(ctx, "read the time", func(snapshot Session) error {
		now, err = snapshot.Now()
		return err
	})
	return now, err
}
