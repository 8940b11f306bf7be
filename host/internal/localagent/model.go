package localagent

import (
	"context"
	"errors"
)

// What a model may fail with. Whatever else an error says stays inside: no part of it reaches a turn.
var (
	// ErrUnavailable reports that the model was not reached, or did not answer as one that works.
	ErrUnavailable = errors.New("the model is not available")
	// ErrProtocol reports an answer that could not be read, or that was too long.
	ErrProtocol = errors.New("the model's answer cannot be read")
	// ErrTooLarge reports that the messages are longer than one request may be. The model was not asked.
	ErrTooLarge = errors.New("the messages are too long for one request")
)

// Role says who speaks.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn to speak. After the system's, user and assistant take turns.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Model answers a conversation with one text. It returns as soon as ctx ends, and is asked by one goroutine at a time.
type Model interface {
	Complete(ctx context.Context, messages []Message) (string, error)
}
