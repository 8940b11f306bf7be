package run

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const uuidPattern = `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`

// ObjectIDPattern is the form of an id of an object that agent tools work on: "<kind>:<uuid>" or the UUID alone.
const ObjectIDPattern = `^([a-z][a-z0-9_-]{0,31}:)?` + uuidPattern + `$`

// MaxText is how many characters an objective, a question, a query or an exclusion may have.
const MaxText = 512

var (
	uuidForm     = regexp.MustCompile(`^` + uuidPattern + `$`)
	objectIDForm = regexp.MustCompile(ObjectIDPattern)
)

// IsUUID reports whether a text is a UUID in its canonical form, of any case.
func IsUUID(text string) bool { return uuidForm.MatchString(text) }

// IsObjectID reports whether a text has the form of ObjectIDPattern.
func IsObjectID(text string) bool { return objectIDForm.MatchString(text) }

// IsText reports whether a text says something, in at most MaxText characters of valid UTF-8, and holds no NUL.
func IsText(text string) bool {
	return utf8.ValidString(text) && strings.TrimSpace(text) != "" &&
		utf8.RuneCountInString(text) <= MaxText && !strings.ContainsRune(text, 0)
}

// maxKey is how many bytes an idempotency key may have.
const maxKey = 128

// IsKey reports whether a client's text can be an idempotency key: 1 to 128 bytes of printable UTF-8, not only blanks.
func IsKey(text string) bool {
	return len(text) <= maxKey && IsText(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Stamp writes a time as the agent tool protocol does: UTC, whole seconds.
func Stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05Z") }
