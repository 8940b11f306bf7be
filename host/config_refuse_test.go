package host

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryProblemIsReportedAtOnceWithItsPlace(t *testing.T) {
	path := file(t, `server:
  adr: "127.0.0.1:1"
  keepalive: 15
  max_request_bytes: lots
  max_request_bytes: 5
workers: [1]
telemetry: {log_level: loud}
policy:
  tool_rules: {exec: maybe}
  user_rules: {a: {tool: {}}}
agent: {max_iterations: 0}
`)
	_, err := Load(LoadOptions{Path: path, Getenv: env{}.get})
	want := strings.Join([]string{
		`:2:3: server.adr: unknown key (did you mean addr?)`,
		`:3:14: server.keepalive: "15" is no duration; use a form like 15s or 5m (the default is 15s)`,
		`:4:22: server.max_request_bytes: must be a whole number, not text (the default is 1048576)`,
		`:5:3: server.max_request_bytes: duplicate key (it stands on line 4 too)`,
		`:6:10: workers: must be a mapping, not a list (write {} for an empty one, or leave the key out)`,
		`:7:24: telemetry.log_level: "loud" is not a value of this key (one of debug, info, warn, error)`,
		`:9:22: policy.tool_rules.exec: "maybe" is not an action (one of allow, caution, require_approval, deny)`,
		`:10:26: policy.user_rules.a.tool: unknown key (known here: action, tools)`,
		`:11:25: agent.max_iterations: must lie between 1 and 1000 (the default is 20)`,
	}, "\n")
	got := ""
	if err != nil {
		got = strings.ReplaceAll(err.Error(), path, "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	var problem Problem
	if !errors.As(err, &problem) || problem.Path != "server.adr" {
		t.Errorf("the problems cannot be reached one by one: %+v", problem)
	}
}

func TestWhatCannotRunIsRefused(t *testing.T) {
	pinned := `sha256: "` + strings.Repeat("a", 64) + `"`
	for name, c := range map[string]struct{ text, want string }{
		"node with a slash":   {`workers: {node: "a/b"}`, "workers.node: is no name"},
		"jwt, no issuer":      {`auth: {mode: jwt, jwt: {audience: a, jwks_file: f}}`, "auth.jwt.issuer: is required"},
		"jwt, no audience":    {`auth: {mode: jwt, jwt: {issuer: i, jwks_file: f}}`, "auth.jwt.audience: is required"},
		"jwt, no keys":        {`auth: {mode: jwt, jwt: {issuer: i, audience: a}}`, "auth.jwt.secret_env: mode jwt has no keys"},
		"jwt, two sources":    {`auth: {mode: jwt, jwt: {issuer: i, audience: a, jwks_file: f, jwks_url: "https://h/k"}}`, "auth.jwt.jwks_url: the keys have two sources"},
		"keys over http":      {`auth: {jwt: {jwks_url: "http://login.example/k"}}`, "auth.jwt.jwks_url: must use https"},
		"keys with password":  {`auth: {jwt: {jwks_url: "https://u:p@login.example/k"}}`, "auth.jwt.jwks_url: is no address"},
		"secret not set":      {`auth: {jwt: {secret_env: NOWHERE}}`, "auth.jwt.secret_env: the environment variable NOWHERE is not set"},
		"no proxies":          {`auth: {mode: trusted_headers}`, "auth.trusted_proxies: is empty"},
		"odd proxy":           {`auth: {trusted_proxies: [10.0.0.0/33]}`, "auth.trusted_proxies[0]: is neither an address nor a network"},
		"empty key in a list": {`auth: {block_users: [""]}`, "auth.block_users[0]: is no key"},
		"unknown mode":        {`auth: {mode: oauth}`, "auth.mode"},
		"token mode, none":    {`auth: {mode: service_token}`, "auth.mode: no service token is set"},
		"named variable":      {`auth: {service_token_env: MINE}`, "environment variable MINE is not set"},
		"two sources":         {`auth: {service_token_env: MINE, service_token_file: f}`, "the secret has two sources"},
		"absent secret file":  {`model: {api_key_file: nowhere/at/all}`, "model.api_key_file: cannot be read"},
		"postgres":            {`store: {driver: postgres}`, "store.dsn_env: driver postgres has no DSN"},
		"postgres, no name":   {`store: {driver: postgres, dsn_env: ""}`, "set the variable that dsn_env names, or"},
		"runs before events":  {`store: {retention: {runs: 24h}}`, "store.retention.runs: is shorter than store.retention.events (720h0m0s)"},
		"store of a server":   {`store: {path: "postgres://h/db"}`, "store.path: is no file"},
		"webhook unsigned":    {`approvals: {notify: {webhook_url: "http://h/x"}}`, "approvals.notify.secret_env: the webhook has no secret"},
		"webhook short":       {`approvals: {notify: {webhook_url: "http://h/x", secret_env: SET}}`, "approvals.notify.secret_env: the secret is shorter"},
		"webhook unset":       {`approvals: {notify: {webhook_url: "http://h/x", secret_env: NONE}}`, "the environment variable NONE is not set"},
		"webhook scheme":      {`approvals: {notify: {webhook_url: "file:///x", secret_env: SET}}`, "approvals.notify.webhook_url: is not an http"},
		"url with password":   {`model: {base_url: "http://a:b@c"}`, "holds a user name or password"},
		"url scheme":          {`model: {base_url: "ftp://c"}`, "is not an http or https URL"},
		"address":             {`server: {addr: here}`, "server.addr: is not an address"},
		"port":                {`server: {addr: "127.0.0.1:99999"}`, "has no port between"},
		"authority":           {`server: {authorities: ["http://x"]}`, "server.authorities[0]: is not a host name"},
		"unpinned":            {`plugins: {load: [{path: a.wasm}]}`, "plugins.load[0].sha256: is missing"},
		"bad pin":             {`plugins: {load: [{path: a.wasm, sha256: abc}]}`, "is not 64 hexadecimal digits"},
		"no path":             {`plugins: {load: [{` + pinned + `}]}`, "plugins.load[0].path: is missing"},
		"relative mount":      {`plugins: {load: [{path: a, ` + pinned + `, grants: {files: [{path: x, at: y}]}}]}`, "files[0].at: is not an absolute path"},
		"file mode":           {`plugins: {load: [{path: a, ` + pinned + `, grants: {files: [{path: x, mode: rx}]}}]}`, "grants.files[0].mode: \"rx\" is not a value"},
		"ungrantable":         {`plugins: {load: [{path: a.wasm, ` + pinned + `, grants: {exec: [b]}}]}`, "grants.exec: unknown key"},
		"host is a pattern":   {`plugins: {load: [{path: a.wasm, ` + pinned + `, grants: {http: [{host: "*.example"}]}}]}`, "grants.http[0]: is no origin"},
		"range is none":       {`plugins: {load: [{path: a.wasm, ` + pinned + `, grants: {http: [{host: a, addresses: ["10.0.0.1"]}]}}]}`, "grants.http[0]: is no origin"},
		"secret of nobody":    {`plugins: {load: [{path: a.wasm, ` + pinned + `, grants: {secrets: [{name: t, hosts: [a]}]}}]}`, "grants.secrets[0].name: no secret has this name"},
		"secret for no host":  {`plugins: {load: [{path: a.wasm, ` + pinned + `, grants: {secrets: [{name: t}]}}]}`, "grants.secrets[0]: is no secret bound to hosts"},
		"secret, no name":     {`plugins: {secrets: [{value_env: PATH}]}`, "plugins.secrets[0].name: is no name of a secret"},
		"secret, no value":    {`plugins: {secrets: [{name: t}]}`, "plugins.secrets[0]: the secret has no value"},
		"secret, unset":       {`plugins: {secrets: [{name: t, value_env: NOWHERE}]}`, "plugins.secrets[0].value_env: the environment variable NOWHERE is not set"},
		"secret in the file":  {`plugins: {secrets: [{name: t, value: abcdefghij}]}`, "plugins.secrets[0].value: unknown key"},
		"short secret":        {`plugins: {secrets: [{name: t, value_env: SET}]}`, "plugins.secrets[0]: the secret is shorter than 8 bytes"},
		"kv beyond the bound": {`plugins: {load: [{path: a.wasm, ` + pinned + `, grants: {kv: {bytes: 1073741825}}}]}`, "grants.kv.bytes: must lie between 0 and 1073741824"},
		"mcp, no ranges":      {`mcp: {servers: [{name: a, url: "http://a/mcp", addresses: [b]}]}`, "mcp.servers[0].url: is not written as it is compared"},
		"plugin config":       {`plugins: {load: [{path: a, ` + pinned + `, config: 5}]}`, "plugins.load[0].config: must be a mapping"},
		"plugin config twice": {`plugins: {load: [{path: a, ` + pinned + `, config: {a: {b: 1, b: 2}}}]}`, "config.a.b: duplicate key"},
		"unnamed server":      {`mcp: {servers: [{command: c}]}`, "mcp.servers[0].name: is missing"},
		"same server":         {`mcp: {servers: [{name: a, command: c}, {name: a, command: c}]}`, "mcp.servers[1].name: two servers"},
		"no command":          {`mcp: {servers: [{name: a}]}`, "mcp.servers[0].command: is missing"},
		"both transports":     {`mcp: {servers: [{name: a, command: c, url: "http://h"}]}`, "url: has no meaning with transport stdio"},
		"header variable":     {`mcp: {servers: [{name: a, url: "http://h", headers_env: {X: NONE}}]}`, "headers_env.X: the environment variable NONE is not set"},
		"header name":         {`mcp: {servers: [{name: a, url: "http://h", headers_env: {"X Y": SET}}]}`, "is not a header name"},
		"number as text":      {`model: {name: 4}`, "model.name: must be text, not a number (put it in quotes)"},
		"null section":        {`policy:`, "policy: must be a mapping, not nothing"},
		"alias":               {"server: &a {}\nagent: *a", "anchors and aliases"},
		"merge key":           {"server: {<<: {addr: x}}", "a key must be plain text"},
		"two documents":       {"server: {}\n---\nagent: {}", "a second document"},
		"top level list":      {`[1]`, "the file must be a mapping, not a list"},
		"syntax":              {"server: {addr: \"", "is neither YAML nor JSON"},
		"empty rule":          {`policy: {tool_rules: {exec: {}}}`, "policy.tool_rules.exec: decides nothing"},
		"null rule":           {`policy: {tool_rules: {exec: }}`, "policy.tool_rules.exec: \"\" is not an action"},
		"tools in tool rule":  {`policy: {tool_rules: {exec: {tools: {}}}}`, "policy.tool_rules.exec.tools: unknown key"},
		"deep action":         {`policy: {tenant_rules: {t: {tools: {exec: {action: no}}}}}`, "policy.tenant_rules.t.tools.exec.action: \"no\""},
		"tool pattern":        {`policy: {tool_rules: {"pska_*": deny}}`, "patterns are not supported"},
		"rules for everybody": {`policy: {user_rules: {"*": deny}}`, "for everybody use policy.tool_rules"},
		"too large":           {`workers: {chat: 99999999999999999999}`, "workers.chat: must be a whole number"},
		"negative pages":      {`plugins: {load: [{path: a, ` + pinned + `, limits: {memory_pages: -1}}]}`, "memory_pages: is too large or too small"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(LoadOptions{Path: file(t, c.text), Getenv: env{"SET": "x"}.get})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestBadEnvironmentNamesItsVariable(t *testing.T) {
	for name, value := range map[string]string{
		"FASTREACT_ADDR":          "here",
		"FASTREACT_LOG_LEVEL":     "loud",
		"FASTREACT_SERVICE_TOKEN": "two words",
	} {
		_, err := Load(LoadOptions{Getenv: env{name: value}.get})
		if err == nil {
			t.Errorf("%s=%q was accepted", name, value)
		} else if strings.Contains(err.Error(), "two words") {
			t.Errorf("a secret shows in %q", err)
		}
	}
}

func TestUnknownOverrideIsRefused(t *testing.T) {
	for _, path := range []string{"server.nothing", "server", "server.authorities", "mcp.servers", ""} {
		if _, err := Load(LoadOptions{Getenv: env{}.get, Overrides: map[string]string{path: "x"}}); err == nil {
			t.Errorf("override of %q was accepted", path)
		}
	}
}

func TestOneTokenForBothDoorsIsRefused(t *testing.T) {
	_, err := Load(LoadOptions{Getenv: env{"FASTREACT_SERVICE_TOKEN": "one-token", "FASTREACT_ADMIN_TOKEN": "one-token"}.get})
	if err == nil || !strings.Contains(err.Error(), "equals the service token") {
		t.Errorf("got %v", err)
	}
}

func TestAConfigurationTooLargeOrTooDeepIsRefused(t *testing.T) {
	deep := strings.Repeat("[", maxTreeDepth+1) + strings.Repeat("]", maxTreeDepth+1)
	for text, want := range map[string]string{
		"# " + strings.Repeat("x", maxConfigBytes):                "larger than",
		"plugins: {load: [{path: a, config: {a: " + deep + "}}]}": "is nested too deeply",
	} {
		if _, err := Load(LoadOptions{Getenv: env{}.get, Path: file(t, text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestEmptySecretFileIsRefused(t *testing.T) {
	empty := filepath.ToSlash(file(t, "\n"))
	_, err := Load(LoadOptions{Getenv: env{}.get, Path: file(t, "auth: {service_token_file: "+empty+"}")})
	if err == nil || !strings.Contains(err.Error(), "the file is empty") {
		t.Errorf("got %v", err)
	}
}

// FuzzLoad shows that no text crashes the loader, and that what it accepts is valid and can be printed.
func FuzzLoad(f *testing.F) {
	f.Add(exampleYAML)
	f.Add("{\"server\": {\"addr\": \"127.0.0.1:0\"}}")
	f.Add("a: &a [*a]")
	f.Add("? {a: b}\n: c")
	f.Add("policy: {tool_rules: {exec: !!binary aGk=}}")
	f.Fuzz(func(t *testing.T, text string) {
		d := newDecoder()
		config := DefaultConfig()
		d.source, d.origin = "fuzz", FromFile
		d.document([]byte(text), &config)
		if len(d.problems) > 0 {
			return
		}
		_ = config.Validate()
		loaded := &Loaded{Config: config, Origins: d.origins}
		printOf(t, loaded)
	})
}
