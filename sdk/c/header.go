// Package c holds the header with which a plugin is written in C. Builds give it to the compiler by themselves; a copy
// beside the sources is for editors.
package c

import _ "embed" // the header

// HeaderFile is the name under which sources include the header.
const HeaderFile = "fastreact.h"

//go:embed fastreact.h
var header string

// Header returns the text of fastreact.h.
func Header() string { return header }
