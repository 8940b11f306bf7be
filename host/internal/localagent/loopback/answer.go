package loopback

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/localagent"
)

// completion is an answer, or one piece of a streamed one. What else an endpoint says is passed over.
type completion struct {
	Choices []choice `json:"choices"`
}

type choice struct {
	Index   int  `json:"index"`
	Message part `json:"message"` // of a whole answer
	Delta   part `json:"delta"`   // of a piece
}

type part struct {
	Content *string `json:"content"`
}

// bounded ends with errTooLong instead of reading more than its bound.
type bounded struct {
	from io.Reader
	left int
}

var errTooLong = fmt.Errorf("%w: too long", localagent.ErrProtocol)

// Read reads; the byte that is one too many is an error.
func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.from.Read(into[:min(len(into), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// whole reads an answer that came at once: exactly one choice with a text.
func whole(body io.Reader) (string, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return "", fmt.Errorf("%w: %w", localagent.ErrProtocol, err)
	}
	answer, err := decode(raw)
	if err != nil {
		return "", err
	}
	if len(answer.Choices) != 1 || answer.Choices[0].Message.Content == nil {
		return "", fmt.Errorf("%w: not exactly one choice with a text", localagent.ErrProtocol)
	}
	return *answer.Choices[0].Message.Content, nil
}

// joined reads an answer that came in pieces although none were asked for: the pieces of one choice up to the end mark.
func joined(body io.Reader, longest int) (string, error) {
	var text strings.Builder
	pieces := 0
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longest+1)
	for lines.Scan() {
		data, is := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !is {
			continue
		}
		if string(data) == "[DONE]" && pieces > 0 {
			return text.String(), nil
		}
		piece, err := decode(data)
		if err != nil {
			return "", err
		}
		if len(piece.Choices) > 1 || len(piece.Choices) == 1 && piece.Choices[0].Index != 0 {
			return "", fmt.Errorf("%w: more than one choice", localagent.ErrProtocol)
		}
		for _, one := range piece.Choices {
			pieces++
			if one.Delta.Content != nil {
				text.WriteString(*one.Delta.Content)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("%w: %w", localagent.ErrProtocol, err)
	}
	return "", fmt.Errorf("%w: a stream without an end", localagent.ErrProtocol)
}

// decode reads exactly one JSON object.
func decode(raw []byte) (completion, error) {
	var answer completion
	if !utf8.Valid(raw) {
		return completion{}, fmt.Errorf("%w: not UTF-8", localagent.ErrProtocol)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return completion{}, fmt.Errorf("%w: %w", localagent.ErrProtocol, err)
	}
	return answer, nil
}
