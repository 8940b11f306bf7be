package gateway

// entry is one accepted call, from its request to its result.
type entry struct {
	key         string // idempotency key, lower case; empty: of the deterministic agent's own
	fingerprint string // of the intention
	callID      string
	resultID    string
	shelf       *shelf
	done        chan struct{} // closed when it has ended
	ended       bool          // guarded by Gateway.mu, as is all below
	result      Result
	fault       error // what the caller and every replay get instead of a reply
}
