package mysql

import (
	"context"
	"errors"
	"fmt"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// failure says why a statement was not answered.
func failure(ctx context.Context, err error) error {
	var told *mysql.MySQLError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errFlood):
		return fact.Refuse("A row of the answer is larger than is read: select fewer columns, or parts of them.")
	case ctx.Err() != nil:
		return unavailable(ctx, err)
	case errors.As(err, &told):
		return fact.Refuse(sentence(told.Number))
	}
	return unavailable(ctx, err)
}

// sentence translates a server's error number.
func sentence(number uint16) string {
	switch number {
	case 1044, 1045, 1142, 1143, 1227, 1345, 1370:
		return "The account may not read this."
	case 1046, 1049, 1051, 1146:
		return "There is no such table or schema; SHOW TABLES lists those that there are."
	case 1054, 1109:
		return "There is no such column; DESCRIBE lists those of a table."
	case 1064, 1149, 1235:
		return "The database does not know this form of the statement."
	case 1305, 1630:
		return "The database does not know a function of the statement."
	case 1205, 1317, 1969, 3024:
		return "The statement took too long: narrow it, or ask EXPLAIN for an index."
	case 1792:
		return "The statement would write, which is not allowed."
	}
	return fmt.Sprintf("The database refused the statement (error %d).", number)
}

// unavailable says why a database cannot be asked.
func unavailable(ctx context.Context, err error) error {
	var told *mysql.MySQLError
	var known *fact.Refusal
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fact.Unavailable("the database did not answer in time.", err)
	case ctx.Err() != nil:
		return fact.Unavailable("the call was cancelled.", err)
	case errors.As(err, &told) && (told.Number == 1045 || told.Number == 1044 || told.Number == 1698):
		return fact.Unavailable("the database refused the credentials.", err)
	case errors.As(err, &told):
		return fact.Unavailable(fmt.Sprintf("the database refused the connection (error %d).", told.Number), err)
	}
	return fact.Unavailable("the database cannot be reached.", err)
}
