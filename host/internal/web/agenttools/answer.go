package agenttools

import "net/http"

// security is what a browser must not do with what it got: everything it loads or runs is from here.
const security = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// secure sets what stands on every answer. No other origin is ever allowed anything, so there is no CORS header.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", security)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
}
