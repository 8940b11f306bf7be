package host

import (
	"net/url"
	"time"
)

// ModelConfig names the language model.
type ModelConfig struct {
	BaseURL          string        `key:"base_url" default:"" about:"Base URL of an OpenAI-compatible API, such as https://api.example/v1."`
	Name             string        `key:"name" default:"" about:"Model that is asked when a request names none."`
	APIKeyEnv        string        `key:"api_key_env" default:"FASTREACT_MODEL_API_KEY" about:"Environment variable that holds the API key."`
	APIKeyFile       string        `key:"api_key_file" default:"" about:"File that holds the API key, instead of a variable."`
	FirstByteTimeout time.Duration `key:"first_byte_timeout" default:"60s" min:"1ms" max:"1h" about:"How long the first byte of an answer may take."`
	IdleTimeout      time.Duration `key:"idle_timeout" default:"60s" min:"1ms" max:"1h" about:"Longest silence within an answer."`
	TotalTimeout     time.Duration `key:"total_timeout" default:"300s" min:"1ms" max:"24h" about:"How long one answer may take in all."`
	MaxRetries       int           `key:"max_retries" default:"3" min:"0" max:"20" about:"Retries of one model call, before its first token only."`

	APIKey Secret // resolved from the keys above
}

// AgentConfig bounds one run.
type AgentConfig struct {
	MaxIterations    int           `key:"max_iterations" default:"20" min:"1" max:"1000" about:"Model steps of one run."`
	MaxToolCalls     int           `key:"max_tool_calls" default:"64" min:"1" max:"100000" about:"Tool calls of one run."`
	RunTimeout       time.Duration `key:"run_timeout" default:"15m" min:"1ms" max:"168h" about:"How long one run may take."`
	AnswerCheck      bool          `key:"answer_check" default:"true" about:"Keep tool names, runtime markers and the words GraphRAG, FastReAct and MCP out of answers."`
	RewriteTimeout   time.Duration `key:"rewrite_timeout" default:"30s" min:"1ms" max:"1h" about:"How long the model may take to put an answer right; then the sentences that must not leave are dropped."`
	SystemPromptFile string        `key:"system_prompt_file" default:"" about:"File with the operator's standing instruction to the model."`
	MemoryTurns      int           `key:"memory_turns" default:"20" min:"1" max:"1000" about:"Earlier runs of its session that a run with session_memory remembers, the newest."`
	MemoryBytes      int           `key:"memory_bytes" default:"65536" min:"256" max:"16777216" about:"Text of what such a run remembers; what is older is left out."`
	ContextBytes     int           `key:"context_bytes" default:"400000" min:"4096" max:"268435456" about:"Text of one conversation, beyond which older parts of it are shortened for the model."`

	SystemPrompt string // content of SystemPromptFile
}

func (c Config) validateModel(report reporter) {
	if c.Model.BaseURL == "" {
		return
	}
	if problem := urlProblem(c.Model.BaseURL); problem != "" {
		report("model.base_url", problem, "use a form like https://api.example/v1")
	}
}

// urlProblem says what is wrong with an http(s) base URL, or nothing.
func urlProblem(text string) string {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL"
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return "is not an http or https URL"
	case parsed.Host == "":
		return "names no host"
	case parsed.User != nil:
		return "holds a user name or password; secrets never stand in the configuration"
	case parsed.Fragment != "":
		return "has a fragment"
	}
	return ""
}
