package host

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// This is the seed's "Configuration defaults".
func TestTheHarnessRunsWithTheDefaultsOfItsContract(t *testing.T) {
	want := ChatHarnessConfig{
		StreamTimeout: 150 * time.Second, RunTimeout: 120 * time.Second, MaxSteps: 12, MaxToolCalls: 24, MaxRepairs: 1,
		MaxRequestBytes: 16384, MaxContentBytes: 262144,
		Canonical: CanonicalConfig{TTL: 10 * time.Minute, MaxItems: 256, MaxItemBytes: 65536, MaxBytes: 4194304},
		Worker:    PoolConfig{Size: 8, Queue: 64},
		Model:     ModelPoolConfig{Size: 4, Queue: 16, Timeout: time.Minute},
		Tool:      ToolPoolConfig{Size: 8, Queue: 32, Timeout: 20 * time.Second},
	}
	got := load(t, LoadOptions{Getenv: env{}.get}).Config.Harness.Chat
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(EvidenceConfig{}, "Limits")); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestEveryHarnessLimitOfZeroOrBelowIsRefusedInOneGo(t *testing.T) {
	limits := numbersBelow(reflect.TypeFor[ChatHarnessConfig](), "harness.chat")
	if len(limits) < 25 {
		t.Fatalf("only %d limits were found: %v", len(limits), limits)
	}
	refuseNothingAndLess(t, limits)
}

// refuseNothingAndLess fails for every number and duration that may be zero or below.
func refuseNothingAndLess(t *testing.T, limits map[string]reflect.Type) {
	t.Helper()
	for _, value := range []string{"0", "-1"} {
		overrides := map[string]string{}
		for path, kind := range limits {
			overrides[path] = value
			if kind == durationType {
				overrides[path] = value + "s"
			}
		}
		refusedEach(t, overrides)
	}
}

// refusedEach fails for every override that is not refused for its size.
func refusedEach(t *testing.T, overrides map[string]string) {
	t.Helper()
	_, err := Load(LoadOptions{Getenv: env{}.get, Overrides: overrides})
	var refused *ConfigError
	if !errors.As(err, &refused) {
		t.Fatalf("%v was accepted: %v", overrides, err)
	}
	got := map[string]bool{}
	for _, problem := range refused.Problems {
		got[problem.Path] = strings.HasPrefix(problem.Message, "must lie between ")
	}
	for path, value := range overrides {
		if !got[path] {
			t.Errorf("%s: %s is not refused", path, value)
		}
	}
}

// numbersBelow lists every number and duration of a section by its path.
func numbersBelow(section reflect.Type, path string) map[string]reflect.Type {
	found := map[string]reflect.Type{}
	for _, f := range fieldsOf(section) {
		one, at := section.Field(f.index).Type, join(path, f.key)
		switch one.Kind() {
		case reflect.Struct:
			for inner, kind := range numbersBelow(one, at) {
				found[inner] = kind
			}
		case reflect.Int, reflect.Int64:
			found[at] = one
		}
	}
	return found
}

func TestEveryBrokenRelationOfHarnessLimitsIsSaidInOneGoWithItsPlace(t *testing.T) {
	path := file(t, `harness:
  chat:
    stream_timeout: 2m
    run_timeout: 2m
    max_content_bytes: 8193
    canonical:
      ttl: 119s
      max_bytes: 8192
`)
	_, err := Load(LoadOptions{Path: path, Getenv: env{}.get})
	want := strings.Join([]string{
		`:3:21: harness.chat.stream_timeout: must be longer than harness.chat.run_timeout (a stream that ends before its run would cancel it)`,
		`:5:24: harness.chat.max_content_bytes: must not be above harness.chat.canonical.max_bytes (lower it, or raise canonical.max_bytes)`,
		`:7:7: harness.chat.canonical.max_item_bytes: must not be above harness.chat.canonical.max_bytes (lower it, or raise canonical.max_bytes)`,
		`:7:12: harness.chat.canonical.ttl: must not be shorter than harness.chat.run_timeout (evidence would be gone before the answer that cites it)`,
	}, "\n")
	got := ""
	if err != nil {
		got = strings.ReplaceAll(err.Error(), path, "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestRelationsThatAreKeptAtTheirEdgeAreAccepted(t *testing.T) {
	load(t, LoadOptions{Getenv: env{}.get, Path: file(t, `harness:
  chat:
    stream_timeout: 2m1s
    run_timeout: 2m
    max_content_bytes: 65536
    canonical: {ttl: 2m, max_bytes: 65536}
`)})
}

func TestEvidenceThatCannotBeReachedAsWrittenIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"scheme":        {`prometheus: {url: "ftp://p"}`, "prometheus.url: is not an http or https URL"},
		"password":      {`prometheus: {url: "http://u:p@p"}`, "prometheus.url: holds a user name or password"},
		"no ranges":     {`prometheus: {url: "http://p", addresses: [b]}`, "prometheus.url: is not written as it is compared"},
		"empty root":    {`logs: {roots: [" "]}`, "logs.roots[0]: is empty"},
		"no DSN":        {`mysql: {datasources: {shop: {}}}`, "mysql.datasources.shop.dsn_env: the datasource has no DSN"},
		"unset DSN":     {`mysql: {datasources: {shop: {dsn_env: NOWHERE}}}`, "mysql.datasources.shop.dsn_env: the environment variable NOWHERE is not set"},
		"two sources":   {`mysql: {datasources: {shop: {dsn_env: SET, dsn_file: f}}}`, "mysql.datasources.shop.dsn_file: the DSN has two sources"},
		"no file":       {`mysql: {datasources: {shop: {dsn_file: nowhere/at/all}}}`, "mysql.datasources.shop.dsn_file: cannot be read"},
		"DSN in a file": {`mysql: {datasources: {shop: {dsn: "u:p@tcp(h)/d"}}}`, "mysql.datasources.shop.dsn: unknown key"},
		"odd name":      {`mysql: {datasources: {"a shop": {dsn_env: SET}}}`, "mysql.datasources.a shop: is not a name of a datasource"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "harness: {chat: {evidence: {" + c.text + "}}}"
			_, err := Load(LoadOptions{Path: file(t, text), Getenv: env{"SET": "u:p@tcp(h)/d"}.get})
			if err == nil || !strings.Contains(err.Error(), "harness.chat.evidence."+c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestADSNIsReadAndShownToNobody(t *testing.T) {
	dsn := "reader:canary-pass@tcp(127.0.0.1:3306)/shop"
	loaded := load(t, LoadOptions{
		Path:   file(t, `harness: {chat: {evidence: {mysql: {datasources: {shop: {dsn_env: SHOP}}}}}}`),
		Getenv: env{"SHOP": dsn}.get,
	})
	if got := loaded.Config.Harness.Chat.Evidence.MySQL.Datasources["shop"].DSN.Reveal(); got != dsn {
		t.Errorf("read %q", got)
	}
	printed := printOf(t, loaded)
	if strings.Contains(printed, "canary") || !strings.Contains(printed, "dsn_env: SHOP # file; set, [redacted]") {
		t.Errorf("printed:\n%s", printed)
	}
	masked := maskOf(loaded.Config).Text("Access denied for canary-pass at " + dsn)
	if strings.Contains(masked, "canary") {
		t.Errorf("not masked: %s", masked)
	}
}
