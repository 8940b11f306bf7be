//go:build !wasip1

package sdk

import (
	"embed"
	"io/fs"
)

//go:embed *.go guest/*.go wire/*.go
var sources embed.FS

// Sources returns the Go files of the packages that a plugin is made of: this one, guest and wire. With them a plugin
// is built where no module can be downloaded.
func Sources() fs.FS { return sources }
