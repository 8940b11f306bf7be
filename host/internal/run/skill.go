package run

// Skill is a text that tells the model how to do tasks of one kind.
type Skill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Digest      string   `json:"digest"` // of the whole file
	Always      bool     `json:"always,omitempty"`
	Triggers    []string `json:"triggers,omitempty"` // words that call for it
	Builtin     bool     `json:"builtin,omitempty"`  // it came with the program
	Body        string   `json:"body"`               // what the model reads
}
