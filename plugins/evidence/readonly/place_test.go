package readonly

import (
	"strings"
	"testing"
)

// TestCallIsRefusedWhereverItStands puts calls, variables and placeholders into every place that takes an expression.
func TestCallIsRefusedWhereverItStands(t *testing.T) {
	places := []string{
		"select %s", "select 1 + %s", "select -%s", "select (%s)", "select abs(%s)", "select count(distinct %s) from t", "select 1 from t where %s",
		"select 1 from t group by %s", "select 1 from t group by a with rollup having %s", "select 1 from t order by %s desc",
		"select group_concat(a order by %s) from t", "select group_concat(%s separator 'x') from t",
		"select sum(a) over (partition by %s) from t", "select sum(a) over (order by %s) from t", "select sum(a) over w from t window w as (order by %s)",
		"select sum(a) over (order by a range between interval %s day preceding and current row) from t", "select lag(a, 1, %s) over (order by a) from t",
		"select case %s when 1 then 2 end", "select case when %s then 2 end", "select case when 1 then %s end", "select case when 1 then 2 else %s end",
		"select 1 in (%s)", "select %s in (1)", "select 1 between %s and 2", "select 1 between 0 and %s", "select a like %s from t", "select %s like 'a'",
		"select a regexp %s from t", "select %s is null", "select %s is true", "select not %s", "select exists (select %s)", "select 1 > all (select %s)",
		"select (select %s)", "select (1, %s) = (1, 2)", "select cast(%s as char)", "select convert(%s, char)", "select binary %s", "select %s collate utf8mb4_bin",
		"select trim(%s from 'a')", "select extract(day from %s)", "select now() + interval %s day", "select timestampdiff(day, %s, now())",
		"select match(a) against (%s) from t", "select 1 from t join u on %s", "select 1 from t left join u on a = %s", "select 1 from (select %s) x",
		"with x as (select %s) select 1 from x", "select 1 union select %s", "(select 1) union (select %s) order by 1", "select 1 union select 2 order by %s",
		"with recursive x as (select 1 union all select %s from x) select 1 from x", "select json_extract(%s, '$')", "explain select %s",
		"show tables where %s", "show status where variable_name = %s", "select 1 from t where a in (select b from u where c in (select %s))",
	}
	for _, place := range places {
		if _, err := Check(strings.ReplaceAll(place, "%s", "b")); err != nil {
			t.Errorf("%s is refused with a column: %v", place, err)
		}
		for _, bad := range []string{"sleep(9)", "`sleep`(9)", "shop.f()", "@a", "@@version", "@a := 1", "?", "(select 1 from t for update)", "(select 1 from mysql.user)"} {
			if got, err := Check(strings.ReplaceAll(place, "%s", bad)); err == nil {
				t.Errorf("%s with %s was accepted as %s", place, bad, got)
			}
		}
	}
}

func TestTableOfAccountsIsRefusedWhereverItStands(t *testing.T) {
	for _, place := range []string{
		"select 1 from %s", "select 1 from t, %s", "select 1 from t join %s", "select 1 from t left join (u, %s) on 1", "select 1 from (select 1 from %s) x",
		"select (select 1 from %s)", "with x as (select 1 from %s) select 1 from x", "select 1 union select 1 from %s", "describe %s", "explain select 1 from %s",
		"show columns from %s", "show index from %s", "show create table %s", "select exists (select 1 from %s)",
	} {
		for _, bad := range []string{"mysql.user", "`mysql`.`user`", "MYSQL.user", "mysql . user"} {
			if got, err := Check(strings.ReplaceAll(place, "%s", bad)); err == nil {
				t.Errorf("%s with %s was accepted as %s", place, bad, got)
			}
		}
		if _, err := Check(strings.ReplaceAll(place, "%s", "shop.t")); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
}
