package host

// TelemetryConfig sets up logs and metrics.
type TelemetryConfig struct {
	Prometheus bool   `key:"prometheus" default:"true" about:"Whether /metrics answers in the Prometheus text format."`
	LogLevel   string `key:"log_level" default:"info" enum:"debug|info|warn|error" about:"Least severe log level that is written."`
	LogFormat  string `key:"log_format" default:"text" enum:"text|json" about:"Form of log lines on standard error."`
}
