package sdk

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// HTTPAccess lets a tool send requests to one origin: a scheme, a host and a port, compared as such and never as the
// beginning of a text.
type HTTPAccess struct {
	Scheme    string   `json:"scheme,omitempty"`    // "https", which absent means, or "http"
	Host      string   `json:"host"`                // "api.example", "192.0.2.1" or "2001:db8::1", in lower case; no pattern
	Port      int      `json:"port,omitempty"`      // absent: the scheme's own
	Methods   []string `json:"methods,omitempty"`   // in capitals; absent: GET and HEAD
	Addresses []string `json:"addresses,omitempty"` // grants only: address ranges that the host may have though they are not public
}

// SecretAccess lets a tool name a secret as secret://<name> in requests to some hosts. It never sees the value.
type SecretAccess struct {
	Name  string   `json:"name"`
	Hosts []string `json:"hosts"` // "api.example", or "api.example:8443" for one port alone
}

// KVAccess lets a tool keep values from call to call, for each tenant apart: the import fastreact:kv/1.
type KVAccess struct {
	Bytes int64 `json:"bytes"` // keys and values of one tenant together
}

// MaxKVBytes is the most that one plugin may be granted to keep for one tenant.
const MaxKVBytes = 1 << 30

// WithDefaults returns a with the scheme, port and methods that absent ones mean.
func (a HTTPAccess) WithDefaults() HTTPAccess {
	if a.Scheme == "" {
		a.Scheme = "https"
	}
	if a.Port == 0 {
		a.Port = map[string]int{"http": 80, "https": 443}[a.Scheme]
	}
	if len(a.Methods) == 0 {
		a.Methods = []string{"GET", "HEAD"}
	}
	return a
}

// Validate reports an origin or a method that is not written as it is compared. Addresses are left to the host.
func (a HTTPAccess) Validate() error {
	var problems []error
	if a.Scheme != "" && a.Scheme != "http" && a.Scheme != "https" {
		problems = append(problems, fmt.Errorf("scheme: %q is neither http nor https", a.Scheme))
	}
	if err := CheckHost(a.Host); err != nil {
		problems = append(problems, fmt.Errorf("host: %w", err))
	}
	if a.Port < 0 || a.Port > 65535 {
		problems = append(problems, fmt.Errorf("port: %d does not lie between 1 and 65535", a.Port))
	}
	for i, method := range a.Methods {
		if !madeOf(method, 32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") || method == "CONNECT" || method == "TRACE" {
			problems = append(problems, fmt.Errorf("methods[%d]: %q is no method in capitals that may be granted", i, method))
		}
	}
	return errors.Join(problems...)
}

// Validate reports a name that cannot stand behind secret://, or hosts that are none.
func (a SecretAccess) Validate() error {
	var problems []error
	if err := CheckSecretName(a.Name); err != nil {
		problems = append(problems, fmt.Errorf("name: %w", err))
	}
	if len(a.Hosts) == 0 {
		problems = append(problems, errors.New("hosts: a secret is bound to at least one host"))
	}
	for i, host := range a.Hosts {
		if _, _, err := SplitHost(host); err != nil {
			problems = append(problems, fmt.Errorf("hosts[%d]: %w", i, err))
		}
	}
	return errors.Join(problems...)
}

// Validate reports an amount that is not above 0, or above MaxKVBytes.
func (a KVAccess) Validate() error {
	if a.Bytes < 1 || a.Bytes > MaxKVBytes {
		return fmt.Errorf("bytes: %d does not lie between 1 and %d", a.Bytes, MaxKVBytes)
	}
	return nil
}

// CheckSecretName reports a name that cannot stand behind secret://.
func CheckSecretName(name string) error {
	if !madeOf(name, 64, lowerLetters+strings.ToUpper(lowerLetters)+digits+"_-") {
		return fmt.Errorf("%q is not made of 1 to 64 letters, digits, hyphens and underscores", name)
	}
	return nil
}

// SplitHost splits "api.example:8443" or "[2001:db8::1]:8443". Without a port, port is 0.
func SplitHost(text string) (host string, port int, err error) {
	host = text
	if inner, rest, found := strings.Cut(strings.TrimPrefix(text, "["), "]"); found {
		host, text = inner, rest
	} else if strings.Count(text, ":") > 1 {
		return host, 0, CheckHost(host)
	}
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		if port, err = strconv.Atoi(text[at+1:]); err != nil || port < 1 || port > 65535 {
			return "", 0, fmt.Errorf("%q has no port between 1 and 65535 behind its colon", text)
		}
		host = strings.TrimSuffix(host, text[at:])
	}
	return host, port, CheckHost(host)
}

// CheckHost reports a host that is not written as hosts are compared: a name of letters, digits, hyphens and
// underscores in lower case without a dot at its end, in its ASCII form (xn--…), or an address. The host reads
// addresses more closely.
func CheckHost(host string) error {
	if strings.Contains(host, ":") {
		if !madeOf(host, 45, "abcdef:."+digits) {
			return fmt.Errorf("%q is no address", host)
		}
		return nil
	}
	labels := strings.Split(host, ".")
	if len(host) > 253 {
		return errors.New("the name is longer than 253 bytes")
	}
	for _, label := range labels {
		if !madeOf(label, 63, lowerLetters+digits+"_-") || label[0] == '-' || label[len(label)-1] == '-' {
			return fmt.Errorf("%q is no host name in lower case and ASCII, without a dot at its end", host)
		}
	}
	// Some resolvers read 2130706433, 127.1, 0177.0.0.1 and 0x7f.1 as addresses.
	if last := labels[len(labels)-1]; (madeOf(last, 63, digits) || strings.HasPrefix(last, "0x")) && !isIPv4(labels) {
		return fmt.Errorf("%q ends in a number and is no address in the usual form", host)
	}
	return nil
}

func isIPv4(parts []string) bool {
	for _, part := range parts {
		if n, err := strconv.Atoi(part); err != nil || n < 0 || n > 255 || strconv.Itoa(n) != part {
			return false
		}
	}
	return len(parts) == 4
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	digits       = "0123456789"
)

// madeOf reports whether text has 1 to most bytes, all of them from a set.
func madeOf(text string, most int, set string) bool {
	return text != "" && len(text) <= most && strings.Trim(text, set) == ""
}
