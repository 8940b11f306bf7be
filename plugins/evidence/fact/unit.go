package fact

import "strings"

// Unit reads the unit of a number off the end of its name, as metrics and columns are named by habit.
func Unit(name string) string {
	name = strings.ToLower(name)
	for _, suffix := range []string{"_total", "_sum", "_avg", "_max", "_min"} {
		name = strings.TrimSuffix(name, suffix)
	}
	for _, known := range []struct{ suffix, unit string }{
		{"milliseconds", "ms"},
		{"microseconds", "µs"},
		{"seconds", "s"},
		{"_ms", "ms"},
		{"_us", "µs"},
		{"_ns", "ns"},
		{"_sec", "s"},
		{"_bytes", "bytes"},
		{"_percent", "%"},
		{"_celsius", "°C"},
	} {
		if strings.HasSuffix(name, known.suffix) {
			return known.unit
		}
	}
	return ""
}
