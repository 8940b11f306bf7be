package mysql

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNothingConfiguredIsUnavailable(t *testing.T) {
	source, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), source, "shop", "select 1"); err == nil || !strings.HasPrefix(err.Error(), "UNAVAILABLE") {
		t.Error(err)
	}
}

func TestUnknownDatasourceIsRefused(t *testing.T) {
	source, err := New(Config{Datasources: map[string]Datasource{"shop": {DSN: "a:b@tcp(127.0.0.1:1)/c"}}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Shop", "fastreact", "a:b@tcp(127.0.0.1:1)/c", "canary"} {
		if _, err := ask(t.Context(), source, name, "select 1"); err == nil || strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongConfigNamesItsDatasourceAndNothingOfItsDSN(t *testing.T) {
	_, err := New(Config{Datasources: map[string]Datasource{
		"a": {DSN: "canary"}, "b": {DSN: "u:canary@pipe(x)/y"}, "c": {DSN: "u:canary@tcp(h)/mysql"}, "no name!": {DSN: "u@tcp(h)/d"},
		"fine": {DSN: "u@tcp(h)/d"}, "e": {DSN: "u:canary@tcp(h)/d?tls=canary"},
	}, Timeout: time.Second})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Fatal(err)
	}
	for _, name := range []string{"datasource a:", "datasource b:", "datasource c:", "datasource no name!:", "datasource e:"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in %v", name, err)
		}
	}
}

// TestOptionsOfADSNOpenNoWay names every option that would let a server or a statement do more.
func TestOptionsOfADSNOpenNoWay(t *testing.T) {
	settings, err := harmless("u:p@tcp(h:1)/d?allowAllFiles=true&multiStatements=true&allowCleartextPasswords=true&"+
		"allowOldPasswords=true&sql_mode=ANSI_QUOTES&charset=gbk&collation=gbk_chinese_ci&timeout=9h&"+
		"readTimeout=9h&maxAllowedPacket=0&compress=true", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if settings.AllowAllFiles || settings.MultiStatements || settings.AllowCleartextPasswords || settings.AllowOldPasswords ||
		settings.InterpolateParams || len(settings.Params) > 0 || settings.ReadTimeout != 4*time.Second {
		t.Errorf("%+v", settings)
	}
	if dsn := settings.FormatDSN(); strings.Contains(dsn, "gbk") || strings.Contains(dsn, "compress") {
		t.Error(dsn)
	}
}

func TestGrantsBeyondReadingAreFound(t *testing.T) {
	for line, want := range map[string][]string{
		"GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*ON INSERT'": nil,
		"GRANT SELECT, SHOW VIEW ON `a,b`.* TO `r`@`%`":                     nil,
		"GRANT SELECT (`INSERT ON`, `b`) ON `shop`.`t` TO `r`@`%`":          nil,
		"GRANT SELECT, INSERT (`a`, `b`), FILE ON *.* TO `r`@`%`":           {"INSERT", "FILE"},
		"GRANT ALL PRIVILEGES ON *.* TO `r`@`%` WITH GRANT OPTION":          {"GRANT OPTION", "ALL PRIVILEGES"},
		"GRANT `boss`@`%` TO `r`@`%`":                                       {"a role"},
		"GRANT PROXY ON ''@'' TO 'root'@'localhost' WITH GRANT OPTION":      {"GRANT OPTION", "PROXY"},
		"SET DEFAULT ROLE `boss` FOR `r`@`%`":                               {"a role"},
		"GRANT BACKUP_ADMIN,XA_RECOVER_ADMIN ON *.* TO `r`@`%`":             {"another privilege", "another privilege"},
		"REVOKE SELECT ON `mysql`.* FROM `r`@`%`":                           nil,
		"GRANT CREATE TEMPORARY TABLES ON `shop`.* TO `r`@`%`":              {"CREATE TEMPORARY TABLES"},
		"GRANT EXECUTE ON FUNCTION `shop`.`bump` TO `r`@`%`":                {"EXECUTE"},
	} {
		if diff := cmp.Diff(want, excess(line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestLogOfTheDriverIsKeptNowhere(t *testing.T) {
	settings, err := harmless("u@tcp(h)/d", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, silent := settings.Logger.(quiet); !silent {
		t.Errorf("%T", settings.Logger)
	}
}

func TestQuestionThatFindsNoConnectionWaits(t *testing.T) {
	source, err := New(Config{Datasources: map[string]Datasource{"shop": {DSN: "u:p@tcp(127.0.0.1:1)/d"}}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for range connections {
		source.databases["shop"].slots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = ask(ctx, source, "shop", "select 1")
	if err == nil || err.Error() != "UNAVAILABLE: the database did not answer in time." {
		t.Error(err)
	}
}

func TestSessionIsSetInTheWordsOfItsServer(t *testing.T) {
	config := Config{Rows: 200, Timeout: 15 * time.Second}
	for maria, want := range map[bool]string{true: "max_statement_time = 13.500", false: "max_execution_time = 13500"} {
		want = "SET SESSION sql_mode = '', SESSION sql_select_limit = 201, SESSION lock_wait_timeout = 15, SESSION " + want
		if diff := cmp.Diff(want, config.setup(maria)); diff != "" {
			t.Errorf("maria %v (-want +got):\n%s", maria, diff)
		}
	}
}
