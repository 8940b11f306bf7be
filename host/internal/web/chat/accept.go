package chat

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/host/internal/web"
)

const eventStream = "text/event-stream"

// wantsStream reports whether a client takes a stream. One that says nothing takes what there is; of several ranges
// that fit, the most specific counts.
func wantsStream(header http.Header) bool {
	given := header.Values("Accept")
	if len(given) == 0 {
		return true
	}
	wanted, best := false, 0
	for _, part := range strings.Split(strings.Join(given, ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		rank := map[string]int{eventStream: 3, "text/*": 2, "*/*": 1}[media]
		if err != nil || rank < best || rank == 0 {
			continue
		}
		quality, err := strconv.ParseFloat(parameters["q"], 64)
		wanted, best = err != nil || quality > 0, rank
	}
	return wanted
}

func notAcceptable() *web.Refusal {
	return &web.Refusal{
		Status: http.StatusNotAcceptable, Code: "CHAT_NOT_ACCEPTABLE",
		Sentence: "The answer is a stream: Accept must take text/event-stream.",
	}
}
