package host

import "time"

// HarnessConfig sets up the guarded faces.
type HarnessConfig struct {
	Chat ChatHarnessConfig `key:"chat" about:"The strict chat stream, guarded answers and diagnoses."`
}

// ChatHarnessConfig bounds one guarded run and the parts that all of them share. Every limit is above zero.
type ChatHarnessConfig struct {
	StreamTimeout   time.Duration   `key:"stream_timeout" default:"150s" min:"1ms" max:"24h" about:"How long one stream may be open; a stream that is open longer counts as one whose client left. More than run_timeout."`
	RunTimeout      time.Duration   `key:"run_timeout" default:"120s" min:"1ms" max:"24h" about:"How long one run may take, repairs and guards included."`
	MaxSteps        int             `key:"max_steps" default:"12" min:"1" max:"1000" about:"Model steps of one run."`
	MaxToolCalls    int             `key:"max_tool_calls" default:"24" min:"1" max:"100000" about:"Tool calls of one run."`
	MaxRepairs      int             `key:"max_repairs" default:"1" min:"1" max:"10" about:"How often the model may write a rejected draft again."`
	MaxRequestBytes int             `key:"max_request_bytes" default:"16384" min:"1" max:"268435456" about:"Largest request body; larger ones get 413."`
	MaxContentBytes int             `key:"max_content_bytes" default:"262144" min:"1" max:"67108864" about:"Largest answer that is released; at most canonical.max_bytes."`
	Canonical       CanonicalConfig `key:"canonical" about:"The evidence that one run has gathered. Evidence beyond a bound leads to the fallback."`
	Worker          PoolConfig      `key:"worker" about:"Streams that are served at once; more than size and queue get 503."`
	Model           ModelPoolConfig `key:"model" about:"Model calls at once, of all guarded runs together; more fail the run."`
	Tool            ToolPoolConfig  `key:"tool" about:"Tool calls at once, of all guarded runs together; more fail the run."`
	SecondOpinion   bool            `key:"second_opinion" default:"false" about:"Ask the model, as the last guard of a diagnosis, whether its evidence carries it. It can only reject, and costs a model call for each draft."`
	Evidence        EvidenceConfig  `key:"evidence" about:"Where a diagnosis finds its evidence. What is not configured answers UNAVAILABLE."`
}

// CanonicalConfig bounds the evidence of one run.
type CanonicalConfig struct {
	TTL          time.Duration `key:"ttl" default:"10m" min:"1ms" max:"168h" about:"How old evidence may be when an answer cites it; at least run_timeout."`
	MaxItems     int           `key:"max_items" default:"256" min:"1" max:"100000" about:"Items of evidence."`
	MaxItemBytes int           `key:"max_item_bytes" default:"65536" min:"1024" max:"16777216" about:"Size of one answer of an evidence tool; at most max_bytes."`
	MaxBytes     int           `key:"max_bytes" default:"4194304" min:"1" max:"268435456" about:"Size of all items together; at least max_item_bytes and max_content_bytes."`
}

// PoolConfig sizes an executor: a fixed number of workers and a finite queue.
type PoolConfig struct {
	Size  int `key:"size" default:"8" min:"1" max:"10000" about:"Work that is done at once."`
	Queue int `key:"queue" default:"64" min:"1" max:"1000000" about:"Work that may wait."`
}

// ModelPoolConfig sizes the executor of model calls.
type ModelPoolConfig struct {
	Size    int           `key:"size" default:"4" min:"1" max:"10000" about:"Model calls at once."`
	Queue   int           `key:"queue" default:"16" min:"1" max:"1000000" about:"Model calls that may wait."`
	Timeout time.Duration `key:"timeout" default:"60s" min:"1ms" max:"24h" about:"How long one model call may take, its wait included."`
}

// ToolPoolConfig sizes the executor of tool calls.
type ToolPoolConfig struct {
	Size    int           `key:"size" default:"8" min:"1" max:"10000" about:"Tool calls at once."`
	Queue   int           `key:"queue" default:"32" min:"1" max:"1000000" about:"Tool calls that may wait."`
	Timeout time.Duration `key:"timeout" default:"20s" min:"1ms" max:"24h" about:"How long one tool call may take, its wait included."`
}

// relation is one sentence that two limits must keep.
type relation struct {
	holds                  bool
	path, message, keeping string
}

// validateHarness reports every relation of the limits that does not hold. That each limit is above zero is said by its
// range.
func (c Config) validateHarness(report reporter) {
	chat := c.Harness.Chat
	for _, r := range []relation{
		{
			chat.StreamTimeout > chat.RunTimeout, "stream_timeout", "must be longer than harness.chat.run_timeout",
			"a stream that ends before its run would cancel it",
		},
		{
			chat.Canonical.TTL >= chat.RunTimeout, "canonical.ttl", "must not be shorter than harness.chat.run_timeout",
			"evidence would be gone before the answer that cites it",
		},
		{
			chat.Canonical.keeps(chat.MaxContentBytes), "max_content_bytes",
			"must not be above harness.chat.canonical.max_bytes", "lower it, or raise canonical.max_bytes",
		},
		{
			chat.Canonical.keeps(chat.Canonical.MaxItemBytes), "canonical.max_item_bytes",
			"must not be above harness.chat.canonical.max_bytes", "lower it, or raise canonical.max_bytes",
		},
	} {
		if !r.holds {
			report("harness.chat."+r.path, r.message, r.keeping)
		}
	}
	chat.Evidence.validate("harness.chat.evidence", report)
}

// keeps reports whether something of this size fits into the evidence of a run. A bound that is out of its range is
// complained about there.
func (c CanonicalConfig) keeps(size int) bool { return c.MaxBytes <= 0 || size <= c.MaxBytes }
