package sdk

import "context"

// Tool is a plugin that answers calls. Which tools it has stands in its manifest.
type Tool interface {
	Call(ctx context.Context, call Call) (Result, error)
}

// Policy is a pure plugin that judges calls: same question, same opinion.
type Policy interface {
	Evaluate(question Question) (Opinion, error)
}

// Scoper is a pure plugin that bounds arguments and filters results.
type Scoper interface {
	Inject(request InjectRequest) (Injection, error)
	Filter(request FilterRequest) (Filtering, error)
}

// Guard is a pure plugin that reviews draft answers.
type Guard interface {
	Review(request ReviewRequest) (Review, error)
}

// Op numbers the operations of guest ABI v1.
type Op uint32

// The operations of guest ABI v1.
const (
	OpCall     Op = 1 // Call → Result
	OpEvaluate Op = 2 // Question → Opinion
	OpInject   Op = 3 // InjectRequest → Injection
	OpFilter   Op = 4 // FilterRequest → Filtering
	OpReview   Op = 5 // ReviewRequest → Review
)

// ABIVersion is the guest ABI this package speaks, the value of the export fastreact_abi.
const ABIVersion = 1

// ManifestSection is the name of the Wasm custom section that holds a module's manifest.
const ManifestSection = "fastreact.manifest"
