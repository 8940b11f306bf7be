package postgres

import (
	"context"
	"errors"
	"time"
)

// fate finds out what became of a transaction whose COMMIT was sent and not answered.
func (s *store) fate(ctx context.Context, of calling, lost error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fateTime)
	defer cancel()
	s.pool.Reset()
	for {
		status, err := s.status(ctx, of)
		switch {
		case err == nil && status == "committed":
			return nil
		case err == nil && status == "aborted":
			return errors.Join(errNotCommitted, lost)
		case err == nil && status == "unclear":
			return errors.Join(errUncertain, lost)
		}
		pause := time.NewTimer(fatePause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return errors.Join(errUncertain, lost, err)
		}
	}
}

// askFate asks for a transaction by its number. A server that crashed before it wrote of a number gives it again, and
// says then what became of the other one. The checkpoint at the end of its recovery shows that: it began after the
// number was given, and does not know it. Its time is in whole seconds, so one of the same second proves that only
// where the server was started since.
const askFate = `
	SELECT CASE
		WHEN known OR checkpoint_time < date_trunc('second', given) THEN COALESCE(pg_xact_status(number), '')
		WHEN checkpoint_time > given OR pg_postmaster_start_time() > given THEN 'aborted'
		ELSE CASE pg_xact_status(number) WHEN 'committed' THEN 'unclear' ELSE COALESCE(pg_xact_status(number), '') END
		END
	FROM (SELECT CAST(CAST($1 AS TEXT) AS xid8) AS number, to_timestamp(CAST($2 AS BIGINT) / 1000000.0) AS given,
			checkpoint_time, CAST(CAST($1 AS TEXT) AS NUMERIC) <
				CAST(split_part(next_xid, ':', 1) AS NUMERIC) * 4294967296 + CAST(split_part(next_xid, ':', 2) AS NUMERIC) AS known
		FROM pg_control_checkpoint()) AS asked`

// status asks for a transaction. One that the server does not know, because it crashed before it wrote of it, is
// aborted.
func (s *store) status(ctx context.Context, of calling) (status string, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	err = conn.QueryRow(ctx, askFate, of.xid, of.at).Scan(&status)
	if coded(err) == inTheFuture {
		return "aborted", nil
	}
	return status, err
}
