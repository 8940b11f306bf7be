package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// thin is the one blank that may stand inside a number.
const thin = '\u00a0'

// Plain returns a text as it is compared: small letters, ASCII digits, one kind of double and one of single quotation
// mark, one kind of hyphen, single blanks, and nothing that is not seen on paper.
func Plain(text string) string { return plain(text) }

func plain(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	blank := true // nothing, or a blank, was written last
	for _, r := range text {
		r = replaced(r)
		switch {
		case r == dropped:
			continue
		case r == ' ':
			if !blank {
				out.WriteByte(' ')
			}
			blank = true
			continue
		case r == '…':
			out.WriteString("...")
		default:
			out.WriteRune(r)
		}
		blank = false
	}
	return unstamped(strings.TrimRight(out.String(), " "))
}

const dropped rune = -1

// replaced is the rune as which r is compared.
func replaced(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return replacedASCII(r)
	case r >= 0xff01 && r <= 0xff5e:
		return replacedASCII(r - 0xfee0)
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return dropped
	case unicode.IsDigit(r):
		return digit(r)
	case r >= 0x1d400 && r <= 0x1d6a3: // letters in the styles of mathematics
		return 'a' + (r-0x1d400)%52%26
	case strings.ContainsRune("\u00a0\u2007\u2009\u202f", r):
		return thin
	case unicode.IsSpace(r), strings.ContainsRune("—―、。×÷", r):
		return ' '
	}
	return replacedSign(r)
}

func replacedASCII(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r == '`':
		return '\''
	case r <= ' ' || r == 0x7f:
		return ' '
	}
	return r
}

// replacedSign makes one sign of those that look alike.
func replacedSign(r rune) rune {
	for _, alike := range []struct {
		signs string
		as    rune
	}{
		{"“”„‟«»″‶〝〞〟❝❞❠ʺ˝ˮ「」『』〈〉《》⟨⟩⟪⟫⸢⸣⹂", '"'},
		{"‘’‚‛′‵ʼʹ´❛❜‹›ˈˊˋ", '\''},
		{"‐‑‒–−﹘﹣", '-'},
		{"⁄∕", '/'},
		{"∶ː", ':'},
		{"٪﹪", '%'},
		{"٫․·", '.'},
		{"٬", ','},
		{"µμ", 'u'},
	} {
		if strings.ContainsRune(alike.signs, r) {
			return alike.as
		}
	}
	return unicode.ToLower(r)
}

// digit is the ASCII digit of a decimal digit of any script. Their ranges begin with a zero and hold whole tens.
func digit(r rune) rune {
	for _, table := range unicode.Nd.R16 {
		if r <= rune(table.Hi) {
			return '0' + (r-rune(table.Lo))%10
		}
	}
	for _, table := range unicode.Nd.R32 {
		if r <= rune(table.Hi) {
			return '0' + (r-rune(table.Lo))%10
		}
	}
	return r
}

// unstamped parts date, time and zone of time stamps: 2026-11-30t10:15:00z becomes two names.
func unstamped(text string) string {
	const dated = len("2026-11-30")
	stamps := 0
	parted := []byte(text)
	for at := dated; at < len(text); at++ {
		if text[at] != 't' || !isDate(text[at-dated:at]) || !isClock(text[at+1:]) {
			continue
		}
		stamps++
		parted[at] = ' '
		for at++; at < len(text) && (isDigit(text[at]) || text[at] == ':' || text[at] == '.'); at++ {
			continue
		}
		if at < len(text) && text[at] == 'z' {
			parted[at] = ' '
		}
	}
	if stamps == 0 {
		return text
	}
	return string(parted)
}

// isDate reports whether a text is a date such as 2026-11-30.
func isDate(text string) bool {
	return shaped(text, "0000-00-00")
}

// isClock reports whether a text begins with a time such as 10:15.
func isClock(text string) bool {
	return len(text) >= len("00:00") && shaped(text[:len("00:00")], "00:00")
}

// shaped reports whether a text has digits where shape has them, and shape's own signs elsewhere.
func shaped(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' && !isDigit(text[i]) || shape[i] != '0' && text[i] != shape[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
