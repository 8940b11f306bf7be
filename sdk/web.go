package sdk

// HTTPRequest is one request that a tool asks its host to make. Where a secret belongs, in the query, a header or the
// body, stands secret://<name>; the host puts the value in, for the hosts that the secret is bound to.
type HTTPRequest struct {
	Method string // in capitals; empty: GET
	URL    string
	Header map[string]string
	Body   []byte
}

// HTTPResponse is the whole answer to a request, after its redirects.
type HTTPResponse struct {
	Status int
	Header map[string]string // names in lower case; values of one name joined by ", "
	Body   []byte
}

// Refusal is the error of a capability: what was asked for is not granted, or could not be done. Code is stable, such
// as "egress_not_granted" or "kv_full".
type Refusal struct {
	Code    string
	Message string // for people
}

// Error shows code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }
