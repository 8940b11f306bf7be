// Package readonly reads one SQL statement as MySQL does, refuses it unless all of it only reads, and writes it anew:
// what is sent to a database is this text, never the caller's. It knows nothing of a database; that an account and a
// transaction only read as well is somebody else's care.
package readonly

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the values of the grammar

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// SQLMode, Charset and Collation are what a session must have for a server to read a statement as this package does:
// double quotes stand around texts, a backslash escapes, and no character of the charset hides a quote.
const (
	SQLMode   = ""
	Charset   = "utf8mb4"
	Collation = "utf8mb4_general_ci"
)

// MaxBytes bounds a statement.
const MaxBytes = 8192

// maxDepth bounds the levels of a statement's tree.
const maxDepth = 256

// Check returns the statement written anew, or a *fact.Refusal that says which rule it broke. The refusal repeats
// nothing of the statement.
func Check(sql string) (string, error) {
	if len(sql) > MaxBytes {
		return "", fact.Refuse(fmt.Sprintf("The statement is longer than %d bytes.", MaxBytes))
	}
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return "", fact.Refuse("The statement holds characters that no text has.")
	}
	if err := checkComments(sql); err != nil {
		return "", err
	}
	statement, err := parse(sql)
	if err != nil {
		return "", err
	}
	if err := check(statement); err != nil {
		return "", err
	}
	text, err := write(statement)
	if err != nil {
		return "", fact.Refuse("The statement uses a form that cannot be sent: write it in a plainer way.")
	}
	return text, checkText(text)
}

// parse reads exactly one statement. The grammar is not ours: what it panics over is no statement either.
func parse(sql string) (statement ast.StmtNode, err error) {
	defer func() {
		if recover() != nil {
			statement, err = nil, fact.Refuse("The statement cannot be read.")
		}
	}()
	statements, _, err := parser.New().ParseSQL(sql, parser.CharsetConnection(Charset), parser.CollationConnection(Collation))
	switch {
	case err != nil:
		return nil, fact.Refuse("The statement is no valid MySQL statement. Only SELECT, SHOW, EXPLAIN and DESCRIBE are read.")
	case len(statements) != 1:
		return nil, fact.Refuse("Exactly one statement is read at a time.")
	}
	return statements[0], nil
}

// check refuses a statement unless everything in it only reads.
func check(statement ast.StmtNode) error {
	switch top := statement.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return walk(top)
	case *ast.ShowStmt:
		return walk(top)
	case *ast.ExplainStmt:
		return checkExplain(top)
	}
	return fact.Refuse("Only SELECT, SHOW, EXPLAIN and DESCRIBE are read.")
}

func checkExplain(explain *ast.ExplainStmt) error {
	if explain.Analyze || explain.Explore || explain.SQLDigest != "" || explain.PlanDigest != "" {
		return fact.Refuse("EXPLAIN ANALYZE runs its statement and is not allowed: use EXPLAIN.")
	}
	switch inner := explain.Stmt.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		if _, known := explainForms()[strings.ToLower(explain.Format)]; !known {
			return fact.Refuse("EXPLAIN has the formats TRADITIONAL and JSON here.")
		}
		return walk(inner)
	case *ast.ShowStmt:
		if inner.Tp == ast.ShowColumns && inner.Table != nil {
			return walk(inner)
		}
	}
	return fact.Refuse("EXPLAIN is for SELECT, and DESCRIBE for tables.")
}

// explainForms are the beginnings of EXPLAIN that MySQL and MariaDB share, by the format that was asked for. The grammar
// has a word of its own for none.
func explainForms() map[string]string {
	const plain, json = "EXPLAIN ", "EXPLAIN FORMAT=JSON "
	return map[string]string{"": plain, "row": plain, "traditional": plain, "json": json}
}

// write renders a statement that was checked.
func write(statement ast.StmtNode) (text string, err error) {
	defer func() {
		if recover() != nil {
			text, err = "", errors.New("the grammar cannot write the statement")
		}
	}()
	var to strings.Builder
	if explain, ok := statement.(*ast.ExplainStmt); ok {
		if _, describes := explain.Stmt.(*ast.ShowStmt); !describes {
			to.WriteString(explainForms()[strings.ToLower(explain.Format)])
			statement = explain.Stmt
		}
	}
	flags := format.RestoreStringSingleQuotes | format.RestoreStringEscapeBackslash | format.RestoreKeyWordUppercase |
		format.RestoreNameBackQuotes | format.RestoreSpacesAroundBinaryOperation | format.RestoreStringWithoutDefaultCharset
	if err := statement.Restore(format.NewRestoreCtx(flags, &to)); err != nil {
		return "", fmt.Errorf("write statement: %w", err)
	}
	return to.String(), nil
}
