//go:build !wasip1

package guest

import "context"

// listened leaves the listener to whoever called.
func listened(ctx context.Context) context.Context { return ctx }
