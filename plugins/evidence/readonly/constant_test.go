package readonly

import "testing"

func TestStatementThatAnswersWithItsOwnWordsIsKnown(t *testing.T) {
	for sql, want := range map[string]bool{
		"select 999": true, "select 'disk full' as error": true, "select 1 + 998": true, "select x from (select 999 as x) d": true,
		"with x (n) as (select 999) select n from x": true, "select 1 union select 999": true, "select now(), 999": true,
		"with recursive n (i) as (select 1 union all select i + 1 from n where i < 5) select i from n": true,
		"select now()": false, "select version(), database()": false, "select count(*) from t": false, "select 1 from t": false,
		"with x as (select 1 from t) select * from x": false, "with t as (select 1) select * from shop.t": false, "show tables": false,
		"explain select 1": false, "select 1 union select n from t": false,
	} {
		text, err := Check(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if got := Constant(text); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
