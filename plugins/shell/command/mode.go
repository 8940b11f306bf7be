package command

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ModeText writes a mode as ls -l does.
func ModeText(mode fs.FileMode) string {
	kind := "-"
	switch {
	case mode.IsDir():
		kind = "d"
	case mode&fs.ModeSymlink != 0:
		kind = "l"
	case mode&fs.ModeNamedPipe != 0:
		kind = "p"
	case mode&fs.ModeCharDevice != 0:
		kind = "c"
	}
	return kind + mode.Perm().String()[1:]
}

// SymbolicMode changes permission bits as chmod writes them: 755, u+x, go-w, a=r.
func SymbolicMode(mode fs.FileMode, text string, folder bool) (fs.FileMode, error) {
	if bits, err := strconv.ParseUint(text, 8, 32); err == nil {
		return fs.FileMode(bits).Perm(), nil
	}
	for _, clause := range strings.Split(text, ",") {
		at := strings.IndexAny(clause, "+-=")
		if at < 0 {
			return 0, fmt.Errorf("invalid mode: ‘%s’", text)
		}
		who, err := whoBits(clause[:at])
		if err != nil {
			return 0, fmt.Errorf("invalid mode: ‘%s’", text)
		}
		bits, err := whatBits(clause[at+1:], folder || mode&0o111 != 0)
		if err != nil {
			return 0, fmt.Errorf("invalid mode: ‘%s’", text)
		}
		switch clause[at] {
		case '+':
			mode |= bits & who
		case '-':
			mode &^= bits & who
		case '=':
			mode = mode&^who | bits&who
		}
	}
	return mode.Perm(), nil
}

func whatBits(letters string, runs bool) (fs.FileMode, error) {
	var bits fs.FileMode
	for _, letter := range letters {
		switch {
		case letter == 'r':
			bits |= 0o444
		case letter == 'w':
			bits |= 0o222
		case letter == 'x', letter == 'X' && runs:
			bits |= 0o111
		case letter == 'X', letter == 's', letter == 't':
		default:
			return 0, fmt.Errorf("unknown %q", letter)
		}
	}
	return bits, nil
}

func whoBits(letters string) (fs.FileMode, error) {
	var bits fs.FileMode
	for _, letter := range letters {
		switch letter {
		case 'u':
			bits |= 0o700
		case 'g':
			bits |= 0o070
		case 'o':
			bits |= 0o007
		case 'a':
			bits |= 0o777
		default:
			return 0, fmt.Errorf("unknown %q", letter)
		}
	}
	if letters == "" {
		bits = 0o777
	}
	return bits, nil
}
