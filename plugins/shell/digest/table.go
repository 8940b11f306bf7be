// Package digest holds checksums and the encodings of bytes as text.
package digest

import "github.com/fastreact/fastreact/plugins/shell/command"

// Table returns the utilities by name.
func Table() command.Table {
	return command.Table{
		"md5sum": sum, "sha1sum": sum, "sha224sum": sum, "sha256sum": sum, "sha384sum": sum, "sha512sum": sum, "shasum": sum, "cksum": crc,
		"base64": encode, "base32": encode, "xxd": xxd, "od": od, "hexdump": hexdump, "hd": hexdump,
	}
}
