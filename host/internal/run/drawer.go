package run

// Drawer is where one plugin keeps values for one tenant. No other plugin and no other tenant sees into it.
type Drawer struct {
	Plugin string // the plugin's name, whatever its version
	Tenant TenantKey
}

// Pair is a value that a plugin keeps under a key.
type Pair struct {
	Key     string
	Value   []byte
	Version int64 // different for every value that was ever kept; above 0
}

// Put asks to keep a value.
type Put struct {
	Key       string
	Value     []byte
	IfVersion *int64 // the version that must be kept now, 0 for none; nil: whatever is kept
	Limit     int64  // bytes of all keys and values of the drawer together
}

// PutOutcome says what became of a Put. Nothing changed unless Version is above 0.
type PutOutcome struct {
	Version  int64
	Full     bool // it would have gone beyond the limit
	Conflict bool // another version is kept
}
