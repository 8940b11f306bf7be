package semanticguard

import (
	"strings"

	"github.com/fastreact/fastreact/policies/claim"
	"github.com/fastreact/fastreact/sdk/report"
)

// keywords name a secret whose value stands behind a colon or an equals sign.
func keywords() []string {
	return []string{
		"password", "passwd", "pwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey",
		"private_key", "secret_key", "credential", "credentials", "authorization", "dsn",
	}
}

// holdsSecret reports whether a text holds a keyword with its value, or what has the shape of a key.
func holdsSecret(text, plain string) bool {
	if len(valuesIn(plain)) > 0 {
		return true
	}
	for _, part := range []string{"-----begin", "@tcp(", "@unix(", "github_pat_", "xoxb-", "xoxp-", "xoxa-", "glpat-", "ghp_", "gho_", "ghs_"} {
		if strings.Contains(plain, part) {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(text, parts) {
		if isKey(word) {
			return true
		}
	}
	return holdsBearer(plain)
}

// valuesIn lists the values behind keywords.
func valuesIn(plain string) []string {
	var values []string
	for _, keyword := range keywords() {
		for at := 0; ; {
			next := strings.Index(plain[at:], keyword)
			if next < 0 {
				break
			}
			at += next + len(keyword)
			if value := assigned(plain[at:]); value != "" {
				values = append(values, value)
			}
		}
	}
	return values
}

// maxValue is how much of a value is compared, in bytes.
const maxValue = 256

// assigned is the value that a text gives to the name before it, or nothing.
func assigned(behind string) string {
	behind = strings.TrimLeft(behind, ` '"\`)
	if behind == "" || behind[0] != ':' && behind[0] != '=' {
		return ""
	}
	behind = strings.TrimLeft(behind[1:], ` '"\=`)
	behind = behind[:min(len(behind), maxValue)]
	end := strings.IndexAny(behind, " '\"&,;)}]\\")
	if end < 0 {
		end = len(behind)
	}
	value := strings.TrimRight(behind[:end], ".:!?")
	if len(value) < 3 || strings.Trim(value, "*x#.<>[]") == "" || strings.Trim(value, "<>[]") == "redacted" { // masked already
		return ""
	}
	return value
}

// holdsBearer reports whether a text holds a token that is shown at a door, or a URL with a password.
func holdsBearer(plain string) bool {
	for _, scheme := range []string{"bearer ", "basic "} {
		for at := 0; ; {
			next := strings.Index(plain[at:], scheme)
			if next < 0 {
				break
			}
			at += next + len(scheme)
			token, _, _ := strings.Cut(plain[at:], " ")
			if len(token) >= 8 && strings.ContainsAny(token, "0123456789") {
				return true
			}
		}
	}
	for rest := plain; ; {
		_, behind, found := strings.Cut(rest, "://")
		if !found {
			return false
		}
		authority, _, _ := strings.Cut(behind, "/")
		authority, _, _ = strings.Cut(authority, " ")
		if user, _, signed := strings.Cut(authority, "@"); signed && strings.Contains(user, ":") {
			return true
		}
		rest = behind
	}
}

// isKey reports whether a word has the shape of a key or a signed token.
func isKey(word string) bool {
	for _, shape := range []struct {
		prefix string
		least  int
	}{{"AKIA", 20}, {"ASIA", 20}, {"sk-", 20}, {"pk-", 20}, {"rk_", 20}, {"sk_", 20}, {"eyJ", 24}, {"AIza", 35}} {
		if strings.HasPrefix(word, shape.prefix) && len(word) >= shape.least {
			return true
		}
	}
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("-_./:", r) }) {
		if random(part) {
			return true
		}
	}
	return false
}

// random reports whether a word mixes letters and digits as nobody writes them.
func random(word string) bool {
	var small, large, digits, others int
	for _, r := range word {
		switch {
		case 'a' <= r && r <= 'z':
			small++
		case 'A' <= r && r <= 'Z':
			large++
		case '0' <= r && r <= '9':
			digits++
		case r != '+' && r != '=' && r != '%':
			others++
		}
	}
	mixed := small > 2 && large > 2 && digits > 2
	return others == 0 && (len(word) >= 20 && mixed || len(word) >= 32 && digits > 5 && small+large > 5)
}

// secretsOf lists the values that the evidence gives to keywords: they are secrets wherever they stand.
func secretsOf(items []report.Item) []string {
	var secrets []string
	for _, item := range items {
		for _, fact := range item.Facts {
			secrets = append(secrets, valuesIn(claim.Plain(fact.Name+"="+fact.Value))...)
		}
		secrets = append(secrets, valuesIn(claim.Plain(item.Excerpt))...)
	}
	return secrets
}

// repeatsSecret reports whether a text repeats a secret of the evidence. Short ones are words.
func (e *examination) repeatsSecret(plain string) bool {
	for _, secret := range e.secrets {
		if len(secret) >= 6 && strings.Contains(plain, secret) {
			return true
		}
	}
	return false
}

// holdsID reports whether a text holds an id as sessions and runs have them: 26 signs that tell the time.
func holdsID(plain string) bool {
	for _, keyword := range []string{"session_id", "run_id", "user_key", "session-id", "run-id"} {
		if at := strings.Index(plain, keyword); at >= 0 && assigned(plain[at+len(keyword):]) != "" {
			return true
		}
	}
	length, digits := 0, 0
	for i := 0; i <= len(plain); i++ {
		if i < len(plain) && isAlnum(plain[i]) && strings.IndexByte("ilou", plain[i]) < 0 {
			length++
			if plain[i] <= '9' {
				digits++
			}
			continue
		}
		whole := i == len(plain) || !isAlnum(plain[i])
		if whole && length == 26 && digits > 3 && digits < 26 && plain[i-26] <= '7' {
			return true
		}
		length, digits = 0, 0
	}
	return false
}
