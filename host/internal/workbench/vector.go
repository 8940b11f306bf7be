package workbench

import "github.com/fastreact/fastreact/sdk"

// vectorCases makes cases of the self-test vectors that a manifest ships.
func vectorCases(sdk.Manifest) ([]*Case, error) { return nil, nil }
