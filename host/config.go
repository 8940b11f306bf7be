package host

// Config is everything an operator can set. Load fills it from flags, environment, file and defaults, in that order
// of strength, and validates it whole. Relative paths in it are relative to the working directory.
//
// The struct tags of the sections are the one home of the configuration's names, defaults, bounds and descriptions:
// the loader, config print and the JSON Schema all read them. Fields without a key come from secrets or flags.
type Config struct {
	Server     ServerConfig     `key:"server" about:"The HTTP listener."`
	Auth       AuthConfig       `key:"auth" about:"Who may call the service."`
	Model      ModelConfig      `key:"model" about:"The language model, an OpenAI-compatible endpoint."`
	Agent      AgentConfig      `key:"agent" about:"Bounds of one run."`
	Skills     SkillsConfig     `key:"skills" about:"Know-how for the model, written down in folders."`
	Store      StoreConfig      `key:"store" about:"Where runs, events, approvals and audit records are kept."`
	Workers    WorkersConfig    `key:"workers" about:"How many runs are driven at once."`
	Workspace  WorkspaceConfig  `key:"workspace" about:"Folders in which tools work, one for each tenant and user."`
	Tools      ToolsConfig      `key:"tools" about:"Bounds of one tool call."`
	Plugins    PluginsConfig    `key:"plugins" about:"WebAssembly plugins. Built-in ones are there without being listed."`
	Policy     PolicyConfig     `key:"policy" about:"What may run. The stricter opinion wins."`
	Approvals  ApprovalsConfig  `key:"approvals" about:"Calls that wait for a person."`
	MCP        MCPConfig        `key:"mcp" about:"MCP servers whose tools the model may call, through the gate."`
	Harness    HarnessConfig    `key:"harness" about:"The guarded faces."`
	AgentTools AgentToolsConfig `key:"agent_tools" about:"The agent tools on an address of their own."`
	Telemetry  TelemetryConfig  `key:"telemetry" about:"Logs and metrics."`

	// Insecure allows a listener that is reachable from other machines without a token. It is a flag only.
	Insecure bool
	// AllowAll empties the built-in forbidden list and the policy rules. It is a flag only.
	AllowAll bool
}

// Origin says where a value comes from.
type Origin string

// The origins, strongest first.
const (
	FromFlag        Origin = "flag"
	FromEnvironment Origin = "environment"
	FromFile        Origin = "file"
	FromDefault     Origin = "default"
)

// Loaded is a valid configuration, and where each of its values comes from.
type Loaded struct {
	Config  Config
	File    string            // the file that was read; empty when there was none
	Origins map[string]Origin // by path, such as "mcp.servers[0].name"; a path that is absent is a default
}

// Origin says where the value at path comes from.
func (l *Loaded) Origin(path string) Origin {
	if origin, known := l.Origins[path]; known {
		return origin
	}
	return FromDefault
}
