package readonly

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// Constant reports whether a statement that was checked answers with what it holds itself: it reads no table, and some
// of its values are written in it, as in SELECT 999.
func Constant(sql string) bool {
	statement, err := parse(sql)
	if err != nil {
		return false
	}
	switch statement.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
	default:
		return false
	}
	s := &sources{names: map[string]bool{}}
	statement.Accept(s)
	for _, table := range s.tables {
		if table.Schema.L != "" || !s.names[table.Name.L] {
			return false
		}
	}
	return s.values
}

// sources collects where a statement takes its answer from.
type sources struct {
	tables []*ast.TableName
	names  map[string]bool // of common table expressions, in lower case
	values bool
}

// Enter looks at one node.
func (s *sources) Enter(node ast.Node) (ast.Node, bool) {
	switch one := node.(type) {
	case *ast.TableName:
		s.tables = append(s.tables, one)
	case *ast.CommonTableExpression:
		s.names[one.Name.L] = true
	case *test_driver.ValueExpr:
		s.values = true
	}
	return node, false
}

// Leave goes on.
func (s *sources) Leave(node ast.Node) (ast.Node, bool) { return node, true }
