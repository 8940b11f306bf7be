package guest

import (
	"context"

	"github.com/fastreact/fastreact/sdk"
)

// WithProgress lets a tool's reports, made with sdk.ReportProgress, reach the host. A module that uses it imports
// fastreact:emit/1 and must request the capability progress in its manifest. The host bounds how much one call may
// report and drops the rest. Natively it changes nothing.
func WithProgress(tool sdk.Tool) sdk.Tool { return reporting{tool} }

type reporting struct{ sdk.Tool }

// Call runs the tool with the host as the listener.
func (r reporting) Call(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	return r.Tool.Call(listened(ctx), call)
}
