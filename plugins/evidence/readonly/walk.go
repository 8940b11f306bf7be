package readonly

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// walker visits every node of a statement. A kind of node that it does not know ends the walk: what nobody thought of is
// not allowed.
type walker struct {
	depth int
	err   error
}

func walk(node ast.Node) error {
	w := &walker{}
	node.Accept(w)
	return w.err
}

// Enter checks a node before its parts.
func (w *walker) Enter(node ast.Node) (ast.Node, bool) {
	w.depth++
	if w.depth > maxDepth {
		w.refuse("The statement is nested too deeply.")
	}
	if w.err == nil {
		w.check(node)
	}
	return node, w.err != nil
}

// Leave ends the walk when something was refused.
func (w *walker) Leave(node ast.Node) (ast.Node, bool) {
	w.depth--
	return node, w.err == nil
}

func (w *walker) refuse(sentence string) {
	if w.err == nil {
		w.err = fact.Refuse(sentence)
	}
}

func (w *walker) check(node ast.Node) {
	switch one := node.(type) {
	case *ast.SelectStmt:
		w.selects(one)
	case *ast.SetOprSelectList, *ast.SetOprStmt, *ast.WithClause, *ast.CommonTableExpression:
	case *ast.ShowStmt:
		w.show(one)
	case *ast.TableName:
		w.table(one)
	case *ast.TableSource, *ast.TableRefsClause, *ast.Join, *ast.OnCondition:
	case *ast.FuncCallExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.FuncCastExpr:
		w.call(one)
	case *ast.VariableExpr:
		w.refuse("Variables are not allowed; SHOW VARIABLES and SHOW STATUS tell the server's.")
	case *test_driver.ParamMarkerExpr:
		w.refuse("Placeholders are not allowed.")
	default:
		if !plain(node) {
			w.refuse("The statement uses a form that is not allowed.")
		}
	}
}

// plain reports whether a node is one of those that only compute from what is below them.
func plain(node ast.Node) bool {
	switch node.(type) {
	case *ast.FieldList, *ast.SelectField, *ast.WildCardField, *ast.GroupByClause, *ast.HavingClause, *ast.OrderByClause,
		*ast.ByItem, *ast.Limit, *ast.WindowSpec, *ast.PartitionByClause, *ast.FrameClause, *ast.FrameBound,
		*ast.ColumnName, *ast.ColumnNameExpr, *ast.PositionExpr, *ast.RowExpr, *ast.ParenthesesExpr, *ast.SubqueryExpr,
		*ast.CompareSubqueryExpr, *ast.ExistsSubqueryExpr, *ast.BinaryOperationExpr, *ast.UnaryOperationExpr,
		*ast.BetweenExpr, *ast.CaseExpr, *ast.WhenClause, *ast.IsNullExpr, *ast.IsTruthExpr, *ast.PatternInExpr,
		*ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.MatchAgainst, *ast.SetCollationExpr, *ast.TimeUnitExpr,
		*ast.TrimDirectionExpr, *test_driver.ValueExpr:
		return true
	}
	return false
}

func (w *walker) selects(one *ast.SelectStmt) {
	switch {
	case one.Kind != ast.SelectStmtKindSelect:
		w.refuse("TABLE and VALUES are not allowed as statements: use SELECT.")
	case one.LockInfo != nil:
		w.refuse("Locking reads are not allowed.")
	case one.SelectIntoOpt != nil:
		w.refuse("SELECT INTO is not allowed.")
	case len(one.TableHints) > 0 || one.SelectStmtOpts == nil || len(one.SelectStmtOpts.TableHints) > 0:
		w.refuse("Optimizer hints are not allowed.")
	case modified(one.SelectStmtOpts):
		w.refuse("Of the modifiers of SELECT only ALL and DISTINCT are allowed.")
	case one.AsViewSchema:
		w.refuse("The statement uses a form that is not allowed.")
	}
}

func modified(opts *ast.SelectStmtOpts) bool {
	return opts.SQLBigResult || opts.SQLBufferResult || opts.SQLSmallResult || opts.CalcFoundRows || opts.StraightJoin ||
		!opts.SQLCache || opts.Priority != 0
}

func (w *walker) table(one *ast.TableName) {
	switch {
	case strings.EqualFold(one.Schema.O, "mysql"):
		w.refuse("The schema that holds accounts is not read.")
	case len(one.IndexHints) > 0 || one.TableSample != nil || one.AsOf != nil || len(one.PartitionNames) > 0:
		w.refuse("Hints, partitions and samples of tables are not allowed.")
	}
}

func (w *walker) show(one *ast.ShowStmt) {
	if strings.EqualFold(one.DBName, "mysql") {
		w.refuse("The schema that holds accounts is not read.")
	}
	if one.Pattern != nil && !text(one.Pattern.Pattern) {
		w.refuse("LIKE of SHOW takes a text.")
	}
	switch one.Tp {
	case ast.ShowDatabases, ast.ShowTables, ast.ShowTableStatus, ast.ShowColumns, ast.ShowIndex, ast.ShowCreateTable,
		ast.ShowCreateView, ast.ShowVariables, ast.ShowStatus, ast.ShowProcessList, ast.ShowEngines, ast.ShowOpenTables,
		ast.ShowReplicaStatus, ast.ShowWarnings:
	default:
		w.refuse("This form of SHOW is not allowed. Allowed are DATABASES, TABLES, TABLE STATUS, OPEN TABLES, COLUMNS, " +
			"INDEX, CREATE TABLE, CREATE VIEW, VARIABLES, STATUS, PROCESSLIST, ENGINES, REPLICA STATUS and WARNINGS.")
	}
}

func text(node ast.Node) bool {
	_, ok := node.(*test_driver.ValueExpr)
	return ok
}

func (w *walker) call(node ast.Node) {
	name, odd := "", false
	switch one := node.(type) {
	case *ast.FuncCallExpr:
		name, odd = one.FnName.L, one.Schema.O != "" || one.FnName.L == "convert"
		if name == ast.DateLiteral || name == ast.TimeLiteral || name == ast.TimestampLiteral {
			return
		}
	case *ast.AggregateFuncExpr:
		name = strings.ToLower(one.F)
	case *ast.WindowFuncExpr:
		name, odd = strings.ToLower(one.Name), one.IgnoreNull || one.FromLast
	case *ast.FuncCastExpr:
		name = "cast"
	}
	if odd || !allowed(name) {
		w.refuse("The statement calls a function that is not allowed. Allowed are the common functions over numbers, texts, " +
			"times and JSON, aggregates and window functions.")
	}
}
