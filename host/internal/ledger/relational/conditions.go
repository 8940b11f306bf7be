package relational

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// conditions gathers the WHERE clause of a list.
type conditions struct {
	terms []string
	args  []any
}

func (c *conditions) add(term string, args ...any) {
	c.terms, c.args = append(c.terms, term), append(c.args, args...)
}

// equal adds a condition unless the value is empty, which selects all.
func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add(column+` = ?`, value)
	}
}

func (c *conditions) text() string {
	if len(c.terms) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(c.terms, ` AND `)
}

// encode writes JSON as it is stored: compact, without escaping HTML.
func encode(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
