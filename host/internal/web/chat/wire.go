package chat

// The events of a stream carry exactly these objects, their keys in this order.

// metadata names the stored run.
type metadata struct {
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
}

// status says how far the work is.
type status struct {
	Code    statusCode `json:"code"`
	Message string     `json:"message"`
}

// content is the one answer of a stream.
type content struct {
	Type    contentType `json:"content_type"`
	Payload any         `json:"payload"` // a spoken or a report, as the type says
}

// spoken is the payload of ANSWER and FALLBACK.
type spoken struct {
	Text string `json:"text"`
}

// report is the payload of DIAGNOSIS_REPORT.
type report struct {
	Summary            string     `json:"summary"`
	Findings           []finding  `json:"findings"`
	LikelyCause        string     `json:"likely_cause"`
	RecommendedActions []string   `json:"recommended_actions"`
	Evidence           []evidence `json:"evidence"`
}

type finding struct {
	Statement   string   `json:"statement"`
	Severity    severity `json:"severity"`
	EvidenceIDs []string `json:"evidence_ids"`
}

// evidence names what a finding leans on; never what the tool said.
type evidence struct {
	EvidenceID string `json:"evidence_id"`
	Source     string `json:"source"`
	Title      string `json:"title"`
	ObservedAt string `json:"observed_at"`
}

// failure says why there is no answer.
type failure struct {
	Code    failureCode `json:"code"`
	Message string      `json:"message"`
}

// done ends a stream.
type done struct {
	Outcome outcome `json:"outcome"`
}

// refusal is the body of an answer without a stream.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type (
	statusCode  string
	contentType string
	severity    string
	failureCode string
	outcome     string
)

const (
	routing    statusCode = "ROUTING"
	planning   statusCode = "PLANNING"
	collecting statusCode = "COLLECTING_EVIDENCE"
	analyzing  statusCode = "ANALYZING"
	verifying  statusCode = "VERIFYING"
	repairing  statusCode = "REPAIRING"
)

const (
	answerContent   contentType = "ANSWER"
	reportContent   contentType = "DIAGNOSIS_REPORT"
	fallbackContent contentType = "FALLBACK"
)

const (
	routingFailed    failureCode = "CHAT_ROUTING_FAILED"
	modelUnavailable failureCode = "CHAT_MODEL_UNAVAILABLE"
	modelSaturated   failureCode = "CHAT_MODEL_SATURATED"
	budgetExhausted  failureCode = "CHAT_BUDGET_EXHAUSTED"
	timedOut         failureCode = "CHAT_TIMEOUT"
	storeUnavailable failureCode = "CHAT_STORE_UNAVAILABLE"
	internalFailure  failureCode = "CHAT_INTERNAL"
)

const (
	success  outcome = "SUCCESS"
	fallback outcome = "FALLBACK"
	failed   outcome = "FAILED"
)

// message is what a status says to people.
func (c statusCode) message() string {
	switch c {
	case routing:
		return "Finding out what kind of question this is."
	case planning:
		return "Planning the diagnosis."
	case collecting:
		return "Collecting evidence."
	case analyzing:
		return "Analyzing the evidence."
	case verifying:
		return "Verifying the answer."
	case repairing:
		return "Repairing the answer."
	}
	return ""
}

// message is what a failure says to people.
func (c failureCode) message() string {
	switch c {
	case routingFailed:
		return "The question could not be assigned to a way of answering it."
	case modelUnavailable:
		return "The language model is not available. Try again later."
	case modelSaturated:
		return "The language model is busy. Try again later."
	case budgetExhausted:
		return "The question needs more work than one run may do."
	case timedOut:
		return "The answer took longer than it may."
	case storeUnavailable:
		return "The storage of the service is not available. Try again later."
	}
	return "The service could not finish this request."
}

// outcome is how a stream with this content ends.
func (c content) outcome() outcome {
	if c.Type == fallbackContent {
		return fallback
	}
	return success
}
