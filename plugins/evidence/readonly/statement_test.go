package readonly

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/testdata/attack"
)

// reading are statements that only read, and the text that is sent for each.
func reading() map[string]string {
	return map[string]string{
		"select 1": "SELECT 1",
		"select a, b from t where a > 3 and b = 'x' order by a desc limit 5;":                             "SELECT `a`,`b` FROM `t` WHERE `a` > 3 AND `b` = 'x' ORDER BY `a` DESC LIMIT 5",
		"SELECT count(*), avg(ms) FROM shop.requests GROUP BY path HAVING avg(ms)>9":                      "SELECT COUNT(1),AVG(`ms`) FROM `shop`.`requests` GROUP BY `path` HAVING AVG(`ms`) > 9",
		"select 'it''s', 'a\\'b', 'c\\\\d', \"e\"":                                                        `SELECT 'it''s','a''b','c\\d','e'`,
		"select '/*! sleep(1) */', \"/*M! x */\", `/*+ y */` from t":                                      "SELECT '/*! sleep(1) */','/*M! x */',`/*+ y */` FROM `t`",
		"select a -- it's a comment\n, b # it's another\n /* and one more */ from t":                      "SELECT `a`,`b` FROM `t`",
		"select x'41', b'01', 0x41":                                                                       "SELECT x'41',b'1',x'41'",
		"with x (n) as (select 1) select n from x":                                                        "WITH `x` (`n`) AS (SELECT 1) SELECT `n` FROM `x`",
		"with recursive r as (select 1 n union all select n+1 from r where n<5) select sum(n) from r":     "WITH RECURSIVE `r` AS (SELECT 1 AS `n` UNION ALL SELECT `n` + 1 FROM `r` WHERE `n` < 5) SELECT SUM(`n`) FROM `r`",
		"select 1 union select 2 order by 1":                                                              "SELECT 1 UNION SELECT 2 ORDER BY 1",
		"select distinct a from t as u left join v on u.i = v.i join w using (i)":                         "SELECT DISTINCT `a` FROM (`t` AS `u` LEFT JOIN `v` ON `u`.`i` = `v`.`i`) JOIN `w` USING (`i`)",
		"select date_sub(now(), interval 5 minute), timestampdiff(second, a, b) from t":                   "SELECT DATE_SUB(NOW(), INTERVAL 5 MINUTE),TIMESTAMPDIFF(SECOND, `a`, `b`) FROM `t`",
		"select row_number() over (partition by a order by b rows 1 preceding) from t":                    "SELECT ROW_NUMBER() OVER (PARTITION BY `a` ORDER BY `b` ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM `t`",
		"select case when a then 1 else 2 end, if(a,1,2), cast(a as decimal(10,2)) from t":                "SELECT CASE WHEN `a` THEN 1 ELSE 2 END,IF(`a`, 1, 2),CAST(`a` AS DECIMAL(10, 2)) FROM `t`",
		"select cast(a as char), convert(a, signed), a collate utf8mb4_bin from t":                        "SELECT CAST(`a` AS CHAR),CONVERT(`a`, SIGNED),`a` COLLATE utf8mb4_bin FROM `t`",
		"select j->'$.a', j->>'$.b' from t where a in (select 1) and exists (select 2)":                   "SELECT JSON_EXTRACT(`j`, '$.a'),JSON_UNQUOTE(JSON_EXTRACT(`j`, '$.b')) FROM `t` WHERE `a` IN (SELECT 1) AND EXISTS (SELECT 2)",
		"select group_concat(distinct a order by b separator ';') from t where c like 'x\\_%' escape '!'": "SELECT GROUP_CONCAT(DISTINCT `a` ORDER BY `b` SEPARATOR ';') FROM `t` WHERE `c` LIKE 'x\\\\_%' ESCAPE '!'",
		"select a from (select a from t) x where a between 1 and 2 or a is null or not a regexp 'b'":      "SELECT `a` FROM (SELECT `a` FROM `t`) AS `x` WHERE `a` BETWEEN 1 AND 2 OR `a` IS NULL OR NOT `a` REGEXP 'b'",
		"select trim(both 'x' from a), substring(a from 2 for 3), extract(day from b) from t":             "SELECT TRIM(BOTH 'x' FROM `a`),SUBSTRING(`a`, 2, 3),EXTRACT(DAY FROM `b`) FROM `t`",
		"select date '2026-01-01', timestamp'2026-01-01 00:00:00', -a, \\N from t":                        "SELECT DATE '2026-01-01',TIMESTAMP '2026-01-01 00:00:00',-`a`,NULL FROM `t`",
		"select `update`, `into` from `for`":                                                              "SELECT `update`,`into` FROM `for`",
		"show tables":                                                                                     "SHOW TABLES",
		"show full processlist":                                                                           "SHOW FULL PROCESSLIST",
		"show global status like 'Threads%'":                                                              "SHOW GLOBAL STATUS LIKE 'Threads%'",
		"show variables where variable_name = 'version'":                                                  "SHOW SESSION VARIABLES WHERE `variable_name` = 'version'",
		"show index from t from shop":                                                                     "SHOW INDEX IN `shop`.`t`",
		"show create table t":                                                                             "SHOW CREATE TABLE `t`",
		"describe t":                                                                                      "DESC `t`",
		"desc shop.t":                                                                                     "DESC `shop`.`t`",
		"explain select * from t":                                                                         "EXPLAIN SELECT * FROM `t`",
		"explain format=json select * from t":                                                             "EXPLAIN FORMAT=JSON SELECT * FROM `t`",
		"select * from information_schema.tables where table_schema='shop' limit 3":                       "SELECT * FROM `information_schema`.`tables` WHERE `table_schema` = 'shop' LIMIT 3",
		"select match(a) against ('x' in boolean mode) from t":                                            "SELECT MATCH (`a`) AGAINST ('x' IN BOOLEAN MODE) FROM `t`",
	}
}

func TestStatementThatOnlyReadsIsWrittenAnew(t *testing.T) {
	for sql, want := range reading() {
		got, err := Check(sql)
		if err != nil {
			t.Errorf("%s\n\t%v", sql, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sql, diff)
		}
	}
}

func TestWrittenStatementIsReadTheSameAgain(t *testing.T) {
	for sql := range reading() {
		first, err := Check(sql)
		if err != nil {
			continue
		}
		second, err := Check(first)
		if err != nil {
			t.Errorf("%s\n\t%v", first, err)
		} else if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s (-first +second):\n%s", sql, diff)
		}
	}
}

func TestStatementThatDoesMoreThanReadIsRefused(t *testing.T) {
	for _, sql := range attack.SQL() {
		got, err := Check(sql)
		var refusal *fact.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s\n\twas accepted as %s (%v)", sql, got, err)
		}
	}
}

func TestRefusalRepeatsNothingOfTheStatement(t *testing.T) {
	for _, sql := range []string{
		"select canary_4711 frm t", "select canary_4711(1)", "select @canary_4711", "delete from canary_4711",
		"select 1 from t for update /* canary_4711 */", "show grants for canary_4711", "select 1 /*! canary_4711 */",
	} {
		if _, err := Check(sql); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestStatementThatIsTooLongOrTooDeepIsRefused(t *testing.T) {
	for _, sql := range []string{
		"select '" + strings.Repeat("x", MaxBytes) + "'",
		"select " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000),
		"select " + strings.Repeat("not ", 1000) + "1",
		"select 1" + strings.Repeat("+1", 1000),
	} {
		if _, err := Check(sql); err == nil {
			t.Errorf("%.20s… was accepted", sql)
		}
	}
}

func TestTextThatTheWalkOverlooksIsRefusedAsWell(t *testing.T) {
	for _, text := range []string{
		"SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT SLEEP(1)", "SELECT `sleep`(1)", "SELECT `a`.`sleep`(1)", "SELECT @a",
		"SELECT 1; DELETE FROM `t`", "SELECT 1 /*! +1 */", "SELECT 1 -- x", "SELECT * FROM `t` FOR UPDATE", "SELECT _gbk'x'",
		"SELECT `a` := 1", "SELECT 1, `f` (1)", "SELECT `f`(`x`)", "SELECT \"a\"", "SELECT '\\\\' /*! */",
	} {
		if checkText(text) == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func FuzzAcceptedStatementIsWrittenTheSameAgain(f *testing.F) {
	for sql := range reading() {
		f.Add(sql)
	}
	for _, sql := range attack.SQL() {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		first, err := Check(sql)
		var refusal *fact.Refusal
		if err != nil {
			if !errors.As(err, &refusal) {
				t.Errorf("%q: %v", sql, err)
			}
			return
		}
		second, err := Check(first)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", sql, first, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%q (-first +second):\n%s", sql, diff)
		}
	})
}
