package relational

import (
	"errors"
)

var errNone = errors.New("no such row")

// collect reads all rows.
func collect[T any](rows Rows, err error, scan func(Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// first reads one row, or returns errNone.
func first[T any](rows Rows, err error, scan func(Rows) (T, error)) (T, error) {
	all, err := collect(rows, err, scan)
	if err == nil && len(all) == 0 {
		err = errNone
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// fill reads one row into dest, or returns errNone.
func fill(rows Rows, err error, dest ...any) error {
	_, err = first(rows, err, func(rows Rows) (done, error) { return done{}, rows.Scan(dest...) })
	return err
}

// number reads a row of one number.
func number(rows Rows) (n int64, err error) {
	err = rows.Scan(&n)
	return n, err
}

// flag is a fact as databases keep it.
func flag(fact bool) int64 {
	if fact {
		return 1
	}
	return 0
}

// orUnknown turns "no rows" into the public error.
func orUnknown(err, unknown error) error {
	if errors.Is(err, errNone) {
		return unknown
	}
	return err
}
