package evidence

import (
	"context"
	"encoding/json"

	"github.com/fastreact/fastreact/sdk"
)

const metricsSchema = `{"type":"object","additionalProperties":false,"required":["query"],"properties":{` +
	`"query":{"type":"string","description":"PromQL, such as rate(http_requests_total[5m]) or ALERTS{alertstate=\"firing\"}"},` +
	`"time":{"type":"string","description":"instant: RFC 3339, Unix seconds, or an age such as -15m; default now"},` +
	`"start":{"type":"string","description":"begin of a range, in the same forms"},` +
	`"end":{"type":"string","description":"end of a range; default now"},` +
	`"step":{"type":"string","description":"distance of the samples, such as 30s; chosen when not given"}}}`

const logsSchema = `{"type":"object","additionalProperties":false,"required":["query"],"properties":{` +
	`"query":{"type":"string","description":"text to look for in any case, or /regexp/ in RE2 syntax, /regexp/i for any case"},` +
	`"paths":{"type":"string","description":"glob below the log folders, such as app*.log or **/nginx/*.log; default all files"},` +
	`"since":{"type":"string","description":"only lines since then: RFC 3339, Unix seconds, or an age such as 15m"},` +
	`"limit":{"type":"integer","minimum":1,"description":"lines at most; default 20"}}}`

const mysqlSchema = `{"type":"object","additionalProperties":false,"required":["datasource","sql"],"properties":{` +
	`"datasource":{"type":"string","description":"name of a configured database"},` +
	`"sql":{"type":"string","description":"one SELECT, SHOW, EXPLAIN or DESCRIBE statement"}}}`

// Tools returns the three tools, whether their sources are configured or not.
func (p *Plugin) Tools(context.Context) []sdk.NativeTool {
	return []sdk.NativeTool{
		tool(QueryLogs, "Searches log files for lines that match, newest first. Answers with evidence: cite its "+
			"evidence_id for what it shows. No match is evidence too.", logsSchema),
		tool(QueryMetrics, "Asks Prometheus, at one instant or over a range from start to end. Firing alerts are the "+
			`series ALERTS{alertstate="firing"}. Answers with evidence: cite its evidence_id for what it shows.`, metricsSchema),
		tool(QueryMySQL, "Reads a MySQL or MariaDB database: one SELECT, SHOW, EXPLAIN or DESCRIBE statement with common "+
			"functions, a bounded number of rows. Answers with evidence: cite its evidence_id for what it shows. "+
			p.datasources(), mysqlSchema),
	}
}

func (p *Plugin) datasources() string {
	names := p.mysql.Names()
	if len(names) == 0 {
		return "No datasource is configured."
	}
	text := "Datasources:"
	for _, name := range names {
		text += " " + name
	}
	return text + "."
}

func tool(name, description, schema string) sdk.NativeTool {
	return sdk.NativeTool{
		Name: name, RawName: name, Description: description, InputSchema: json.RawMessage(schema),
		Profile: Profile,
	}
}
