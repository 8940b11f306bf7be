package host

import (
	"strings"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
)

// EvidenceConfig says where the evidence tools look. They reach nothing else.
type EvidenceConfig struct {
	Prometheus PrometheusConfig `key:"prometheus" about:"The Prometheus server that query_metrics asks."`
	Logs       LogsConfig       `key:"logs" about:"The log files that query_logs reads."`
	MySQL      MySQLConfig      `key:"mysql" about:"The MySQL or MariaDB databases that query_mysql reads."`
	Limits     EvidenceLimits   `key:"limits" about:"Bounds of one call of an evidence tool. Its answer is bounded by canonical.max_item_bytes, its time by tool.timeout less a quarter."`
}

// EvidenceLimits bounds one call of an evidence tool.
type EvidenceLimits struct {
	Rows          int   `key:"rows" default:"200" min:"1" max:"100000" about:"Rows that query_mysql reads."`
	RowBytes      int   `key:"row_bytes" default:"65536" min:"1" max:"16777216" about:"Bytes of rows that query_mysql reads."`
	LogBytes      int64 `key:"log_bytes" default:"67108864" min:"1" max:"1099511627776" about:"Bytes of log files that query_logs reads."`
	LogFiles      int   `key:"log_files" default:"1000" min:"1" max:"1000000" about:"Log files that query_logs looks at."`
	LogMatches    int   `key:"log_matches" default:"50" min:"1" max:"100000" about:"Lines that query_logs returns."`
	Series        int   `key:"series" default:"20" min:"1" max:"10000" about:"Series that query_metrics names."`
	Samples       int   `key:"samples" default:"500" min:"1" max:"100000" about:"Samples of one series that query_metrics reads over a range."`
	ResponseBytes int64 `key:"response_bytes" default:"8388608" min:"1024" max:"1073741824" about:"Bytes of one answer of Prometheus that query_metrics reads."`
	ExcerptBytes  int   `key:"excerpt_bytes" default:"2048" min:"16" max:"2048" about:"Bytes of the excerpt of one item."`
}

// PrometheusConfig names one Prometheus server.
type PrometheusConfig struct {
	URL       string   `key:"url" default:"" about:"Base URL of the server, such as http://127.0.0.1:9090; empty means none."`
	Addresses []string `key:"addresses" about:"Address ranges that the host of url may have though they are not public, such as 10.1.2.0/24; an address or localhost in url names itself."`
}

// LogsConfig names the folders of log files.
type LogsConfig struct {
	Roots []string `key:"roots" about:"Folders of log files; nothing outside them is read, whatever links lie in them."`
}

// MySQLConfig names databases. The service's own store is never one of them.
type MySQLConfig struct {
	Datasources map[string]DatasourceConfig `key:"datasources" about:"Databases by the name under which a query asks for them."`
}

// DatasourceConfig reaches one database.
type DatasourceConfig struct {
	DSNEnv  string `key:"dsn_env" default:"" about:"Environment variable that holds the DSN, such as reader:password@tcp(127.0.0.1:3306)/shop."`
	DSNFile string `key:"dsn_file" default:"" about:"File that holds the DSN, instead of a variable."`

	RequireReadOnly bool `key:"require_read_only" default:"false" about:"Whether the database is not asked at all while its account may do more than read; doctor fails such an account in any case."`

	DSN Secret // resolved from the keys above
}

// resolveEvidence reads the DSNs that the configuration names.
func (d *decoder) resolveEvidence(evidence *EvidenceConfig, getenv func(string) string) {
	for _, name := range sortedKeys(evidence.MySQL.Datasources) {
		source := evidence.MySQL.Datasources[name]
		at := join("harness.chat.evidence.mysql.datasources", name)
		switch {
		case source.DSNEnv != "" && source.DSNFile != "":
			d.report(at+".dsn_file", "the DSN has two sources", "keep one of dsn_env and dsn_file")
		case source.DSNEnv != "":
			source.DSN = d.variable(source.DSNEnv, at+".dsn_env", getenv)
		case source.DSNFile != "":
			text, err := readBounded(source.DSNFile)
			if err != nil {
				d.report(at+".dsn_file", "cannot be read: "+err.Error(), relativeHint)
			}
			source.DSN = Secret(strings.TrimRight(string(text), "\r\n"))
		}
		evidence.MySQL.Datasources[name] = source
	}
}

func (e EvidenceConfig) validate(path string, report reporter) {
	if url := e.Prometheus.URL; url != "" {
		if problem := urlProblem(url); problem != "" {
			report(path+".prometheus.url", problem, "use a form like http://127.0.0.1:9090")
		} else if _, err := egress.Endpoint(url, e.Prometheus.Addresses); err != nil {
			report(path+".prometheus.url", "is not written as it is compared, or addresses hold no ranges: "+err.Error(),
				"use a form like http://127.0.0.1:9090, and ranges like 10.1.2.0/24")
		}
	}
	for i, root := range e.Logs.Roots {
		if strings.TrimSpace(root) == "" {
			report(element(path+".logs.roots", i), "is empty", "name a folder, such as /var/log/shop")
		}
	}
	for _, name := range sortedKeys(e.MySQL.Datasources) {
		at := join(path+".mysql.datasources", name)
		switch source := e.MySQL.Datasources[name]; {
		case !serverName.MatchString(name):
			report(at, "is not a name of a datasource", "use letters, digits, dots, underscores and hyphens, at most 64")
		case source.DSN == "":
			report(at+".dsn_env", "the datasource has no DSN", "name an environment variable that holds one, or a file with dsn_file")
		}
	}
}

// evidenceSecrets lists the DSNs, and the password in each.
func evidenceSecrets(evidence EvidenceConfig) []string {
	var secrets []string
	for _, source := range evidence.MySQL.Datasources {
		dsn := source.DSN.Reveal()
		secrets = append(secrets, dsn)
		if slash := strings.LastIndex(dsn, "/"); slash >= 0 {
			dsn = dsn[:slash]
		}
		if at := strings.LastIndex(dsn, "@"); at >= 0 {
			_, password, _ := strings.Cut(dsn[:at], ":")
			secrets = append(secrets, password)
		}
	}
	return secrets
}
