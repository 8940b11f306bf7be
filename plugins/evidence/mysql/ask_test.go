package mysql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/plugins/evidence/readonly"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/testdata/attack"
)

// started says whether the server was asked for.
var started atomic.Bool

func ask(ctx context.Context, source *Source, datasource, sql string) (fact.Answer, error) {
	raw, err := json.Marshal(map[string]string{"datasource": datasource, "sql": sql})
	if err != nil {
		return fact.Answer{}, err
	}
	args, err := sdk.ReadArgs(raw)
	if err != nil {
		return fact.Answer{}, err
	}
	return source.Ask(ctx, args)
}

// item asks a question that is answered.
func item(t testing.TB, source *Source, datasource, sql string) (fact.Item, string) {
	t.Helper()
	answer, err := ask(t.Context(), source, datasource, sql)
	if err != nil {
		t.Fatalf("%s: %v (%v)", sql, err, errors.Unwrap(err))
	}
	if len(answer.Evidence) != 1 {
		t.Fatalf("%s: %d items", sql, len(answer.Evidence))
	}
	return answer.Evidence[0], answer.Note
}

func TestRowsBecomeFactsNamedByColumnAndLabel(t *testing.T) {
	got, note := item(t, sourceOf(t, nil), "reader", "select path, count(*) n, max(ms) max_ms from requests group by path order by 3 desc limit 2")
	got.ObservedAt = ""
	want := fact.Item{
		Source: "mysql", Title: "Database reader: 2 rows", Excerpt: "path | n | max_ms\n/p6 | 143 | 1000\n/p5 | 143 | 999",
		Facts: []fact.Fact{
			{Name: "rows", Value: "2"},
			{Name: "n of /p6", Value: "143"},
			{Name: "max_ms of /p6", Value: "1000", Unit: "ms"},
			{Name: "n of /p5", Value: "143"},
			{Name: "max_ms of /p5", Value: "999", Unit: "ms"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || note != "" {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestOneRowNeedsNoLabel(t *testing.T) {
	got, _ := item(t, sourceOf(t, nil), "reader", "select 1 a, null b, x'00ff' c, 1.50 d, 2e0 e from requests limit 1")
	want := []fact.Fact{
		{Name: "rows", Value: "1"},
		{Name: "a", Value: "1"},
		{Name: "b", Value: "NULL"},
		{Name: "c", Value: "(2 bytes)"},
		{Name: "d", Value: "1.50"},
		{Name: "e", Value: "2"},
	}
	if diff := cmp.Diff(want, got.Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoRowIsEvidenceToo(t *testing.T) {
	got, _ := item(t, sourceOf(t, nil), "reader", "select * from requests where id < 0")
	if got.Title != "Database reader: no rows" || got.Facts[0] != (fact.Fact{Name: "rows", Value: "0"}) {
		t.Errorf("%+v", got)
	}
}

func TestStatementsOfADiagnosisAreAnswered(t *testing.T) {
	source := sourceOf(t, nil)
	for _, sql := range []string{
		"show tables", "show full tables", "show table status like 'requests'", "show columns from requests", "show index from requests",
		"show create table requests", "show create view slow", "show global status like 'Threads%'", "show variables like 'version'",
		"show processlist", "show full processlist", "show engines", "show open tables", "show warnings", "show databases",
		"describe requests", "desc requests path", "explain select * from requests where ms > 5",
		"explain format=json select count(*) from requests", "explain select 1 union select 2",
		"select * from slow limit 1", "select ms from requests order by ms desc limit 3 offset 2",
		"select count(*) from requests where body like '%x\\_%' or path regexp '^/p[0-3]$'",
		"with t as (select path, avg(ms) a from requests group by path) select * from t where a > 100",
		"with recursive n (i) as (select 1 union all select i + 1 from n where i < 5) select i from n",
		"select path, row_number() over (partition by path order by ms) r from requests limit 3",
		"select date_sub(now(), interval 5 minute) a, timestampdiff(second, at, now()) from requests limit 1",
		"select json_extract('{\"a\":1}', '$.a'), json_value('{\"a\":1}', '$.a')",
		"select table_name, table_rows, data_length from information_schema.tables where table_schema = database()",
		"select a.path from requests a join requests b on a.id = b.id left join counter c on c.n = a.id limit 1",
		"select (1, ms) = (1, 2), 1 from requests limit 1", "select case when ms > 500 then 'slow' else 'fast' end k, count(*) from requests group by k",
		"select group_concat(distinct path order by path separator ';') from requests",
		"select cast('1' as signed), cast(1 as char), cast('a' as binary), convert('7', unsigned), cast(1.5 as decimal(10,2))",
		"select date '2026-01-01', time '10:00:00', timestamp '2026-01-01 00:00:00', 'a' collate utf8mb4_bin",
		"select trim(both 'x' from 'xax'), substring('abc' from 2 for 1), extract(day from now()), position('a' in 'ba')",
		"select * from requests where id in (select max(id) from requests) and exists (select 1) and not (ms between 1 and 2)",
		"select -(-1), 1 - -1, 7 div 2, 7 % 2, !0, ~1, 1 << 2, 1 <=> null, 1 xor 0", "select 'a' 'b', \"c\", 'd''e', 'f\\'g', 'h\\\\'",
		"select path, sum(ms) from requests group by path with rollup", "select ms from requests group by 1 having ms > 3 limit 1",
	} {
		if _, err := ask(t.Context(), source, "reader", sql); err != nil {
			t.Errorf("%s: %v (%v)", sql, err, errors.Unwrap(err))
		}
	}
}

// TestTextsArriveAsTheyWereWritten would fail if the server read a quote or a backslash in another way than the grammar.
func TestTextsArriveAsTheyWereWritten(t *testing.T) {
	maria := mariadb(t)
	if _, err := maria.SQL("set global sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT', global character_set_server = gbk"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := maria.SQL("set global sql_mode = default, global character_set_server = default"); err != nil {
			t.Error(err)
		}
	}()
	got, _ := item(t, sourceOf(t, nil), "reader", `select 'a\'b' a, "c\"d" b, 'e\\' c, '縗\' or 1=1 -- ' d, '\\\'; x' e, 1 || 0 f from requests limit 1`)
	want := []fact.Fact{
		{Name: "rows", Value: "1"},
		{Name: "b of a'b", Value: `c"d`},
		{Name: "c of a'b", Value: `e\`},
		{Name: "d of a'b", Value: "縗' or 1=1 -- "},
		{Name: "e of a'b", Value: `\'; x`},
		{Name: "f of a'b", Value: "1"},
	}
	if diff := cmp.Diff(want, got.Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAttackIsRefusedWhateverTheAccountMayDo asks with an account that may do everything.
func TestAttackIsRefusedWhateverTheAccountMayDo(t *testing.T) {
	source, before := sourceOf(t, nil), state(t)
	for _, sql := range attack.SQL() {
		if !utf8.ValidString(sql) {
			continue // JSON carries none
		}
		if answer, err := ask(t.Context(), source, "boss", sql); err == nil {
			t.Errorf("%s was answered: %+v", sql, answer)
		}
	}
	if diff := cmp.Diff(before, state(t)); diff != "" {
		t.Errorf("the database changed (-before +after):\n%s", diff)
	}
	wroteNothing(t)
}

// TestAttackThatIsNotCheckedChangesNothing sends attacks as they are: what stands behind the check holds by itself, with
// an account that only reads.
func TestAttackThatIsNotCheckedChangesNothing(t *testing.T) {
	source, before := sourceOf(t, func(c *Config) { c.Timeout = 100 * time.Millisecond }), state(t)
	for _, sql := range attack.SQL() {
		if sql == "shutdown" {
			continue // the account may not, and a server that obeys ends every other test
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, _ = source.databases["reader"].query(ctx, sql)
		cancel()
	}
	if diff := cmp.Diff(before, state(t)); diff != "" {
		t.Errorf("the database changed (-before +after):\n%s", diff)
	}
	wroteNothing(t)
}

// TestAllowedFunctionIsBuiltIn finds functions that the server would look for among the stored ones.
func TestAllowedFunctionIsBuiltIn(t *testing.T) {
	one := sourceOf(t, nil).databases["reader"]
	for _, name := range readonly.Functions() {
		_, err := one.query(t.Context(), "SELECT "+name+"()")
		if err != nil && err.Error() == sentence(1305) {
			t.Errorf("%s is unknown", name)
		}
	}
}

// wroteNothing looks for the file that attacks write.
func wroteNothing(t *testing.T) {
	t.Helper()
	for _, folder := range []string{os.TempDir(), mariadb(t).Folder} {
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.Contains(entry.Name(), "fastreact-attack") {
				t.Errorf("%s was written", path)
			}
			return nil
		})
	}
}

func TestResultBeyondTheRowsIsCut(t *testing.T) {
	got, note := item(t, sourceOf(t, nil), "reader", "select id from requests order by id limit 900")
	if got.Facts[0].Value != "200" || !strings.Contains(note, "more than 200 rows") {
		t.Errorf("%+v, note %q", got.Facts[0], note)
	}
}

func TestResultBeyondTheBytesIsCut(t *testing.T) {
	source := sourceOf(t, func(c *Config) { c.Bytes = 2000 })
	got, note := item(t, source, "reader", "select id, body from requests order by id")
	if got.Facts[0].Value != "19" || !strings.Contains(note, "2000 bytes") {
		t.Errorf("%+v, note %q", got.Facts[0], note)
	}
}

func TestHugeRowIsNotRead(t *testing.T) {
	_, err := ask(t.Context(), sourceOf(t, nil), "reader", "select b from blobs")
	if err == nil || !strings.Contains(err.Error(), "larger than is read") {
		t.Error(err)
	}
}

func TestStatementThatTakesTooLongIsEndedAtTheServer(t *testing.T) {
	source := sourceOf(t, func(c *Config) { c.Timeout = 200 * time.Millisecond })
	_, err := ask(t.Context(), source, "reader", slow)
	if err == nil || !strings.Contains(err.Error(), "took too long") {
		t.Error(err, errors.Unwrap(err))
	}
	nothingRuns(t)
}

func TestStatementThatIsGivenUpIsKilled(t *testing.T) {
	source := sourceOf(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := ask(ctx, source, "reader", slow)
		done <- err
	}()
	running(t, true)
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Error(err)
	}
	nothingRuns(t)
}

// slow joins so many rows that no patience lasts.
const slow = "select count(*) from requests a, requests b, requests c where a.ms + b.ms + c.ms < 0"

// running waits until the slow statement runs at the server, or no more.
func running(t *testing.T, want bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		text, err := mariadb(t).SQL("select count(*) from information_schema.processlist where info like 'SELECT COUNT(1)%'")
		if err != nil {
			t.Fatal(err)
		}
		if (strings.TrimSpace(text) != "0") == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the statement runs: want %v", want)
		}
	}
}

func nothingRuns(t *testing.T) {
	t.Helper()
	running(t, false)
}

func TestAccountThatMayOnlyReadPassesTheCheck(t *testing.T) {
	if err := sourceOf(t, nil).Check(t.Context(), "reader"); err != nil {
		t.Error(err)
	}
}

func TestAccountThatMayDoMoreFailsTheCheck(t *testing.T) {
	source := sourceOf(t, nil)
	for account, want := range map[string]string{
		"boss": "(ALL PRIVILEGES, GRANT OPTION", "filer": "(FILE)", "clerk": "(INSERT, UPDATE)", "player": "(a role)",
	} {
		if err := source.Check(t.Context(), account); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", account, err)
		}
	}
}

func TestAccountThatMayDoMoreIsRefusedWhereTheOperatorSaysSo(t *testing.T) {
	source := sourceOf(t, func(c *Config) {
		for name, one := range c.Datasources {
			one.RequireReadOnly = true
			c.Datasources[name] = one
		}
	})
	if _, err := ask(t.Context(), source, "clerk", "select 1"); err == nil || !strings.HasPrefix(err.Error(), "UNAVAILABLE") {
		t.Error(err)
	}
	if _, err := ask(t.Context(), source, "reader", "select 1"); err != nil {
		t.Error(err)
	}
}

func TestAccountThatMayDoMoreIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	source := sourceOf(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 3 {
		item(t, source, "clerk", "select 1")
	}
	if got := strings.Count(log.String(), "may do more than read"); got != 1 || strings.Contains(log.String(), "canary") {
		t.Errorf("%d lines: %s", got, &log)
	}
}

func TestErrorOfTheServerShowsNothingOfIt(t *testing.T) {
	source := sourceOf(t, nil)
	for sql, want := range map[string]string{
		"select canary_x from requests":                               "There is no such column",
		"select * from canary_x":                                      "There is no such table",
		"select * from canary_x.requests":                             "The account may not read this",
		"select ms from requests union select 1, 2":                   "refused the statement (error 1222)",
		"select concat('canary') collate latin1_bin":                  "refused the statement (error 1253)",
		"select * from requests where match(path) against ('canary')": "refused the statement (error 1191)",
	} {
		_, err := ask(t.Context(), source, "reader", sql)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestConnectionThatFailsShowsNothingOfTheDSN(t *testing.T) {
	maria := mariadb(t)
	source := sourceOf(t, func(c *Config) {
		c.Datasources["wrong"] = Datasource{DSN: maria.DSN("reader", "canary-wrong", "shop")}
		c.Datasources["closed"] = Datasource{DSN: "canary:canary@tcp(127.0.0.1:1)/canary"}
	})
	for name, want := range map[string]string{"wrong": "refused the credentials", "closed": "cannot be reached"} {
		_, err := ask(t.Context(), source, name, "select 1")
		if err == nil || !strings.HasPrefix(err.Error(), "UNAVAILABLE") || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzStatementThatIsAcceptedChangesNothing(f *testing.F) {
	source, before := sourceOf(f, func(c *Config) { c.Timeout = time.Second }), state(f)
	for _, sql := range append(attack.SQL(), "select * from requests limit 3", "show tables", "explain select 1") {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if _, err := ask(t.Context(), source, "reader", sql); err != nil {
			return
		}
		if diff := cmp.Diff(before, state(t)); diff != "" {
			t.Errorf("%q changed the database (-before +after):\n%s", sql, diff)
		}
	})
}
