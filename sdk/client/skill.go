package client

import (
	"context"
	"encoding/json"
)

// Skills is what the operator wrote down for the model, without the texts.
type Skills struct {
	Items []Skill `json:"skills"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Skill is one of them.
type Skill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Digest      string   `json:"digest"`
	Always      bool     `json:"always"`   // used unless a request names its skills
	Triggers    []string `json:"triggers"` // words in a question that call for it
	Source      string   `json:"source"`   // builtin or folder
}

// Skills lists the skills of the service, by name.
func (c *Client) Skills(ctx context.Context) (Skills, error) {
	var skills Skills
	raw, err := c.get(ctx, "/v1/skills", nil, &skills)
	skills.Raw = raw
	return skills, err
}
