package agenttools

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// lingering is how long the rest of a body is waited for when nobody wants it any more. It is only a courtesy: a client
// that is still sending reads the answer better than the end of its connection.
const lingering = 500 * time.Millisecond

// readBody returns the whole body, if it is framed as the protocol wants it: one length, no transfer coding, one exact
// content type. What is refused here is refused before the body is looked at, but for its end.
func (f *Face) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !framed(r) || !hasOne(r.Header, "Content-Type", "application/json") {
		return nil, refused(invalidRequest)
	}
	if r.ContentLength > f.cfg.MaxBody {
		return nil, refused(bodyTooLarge)
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(f.cfg.BodyTimeout)) // a writer without deadlines is a test's
	raw, err := io.ReadAll(io.LimitReader(r.Body, f.cfg.MaxBody+1))
	if err != nil || int64(len(raw)) != r.ContentLength {
		return nil, refused(invalidRequest)
	}
	_ = control.SetReadDeadline(time.Time{}) // from here on silence is no fault
	return raw, nil
}

// framed reports whether everybody on the way agrees where the body ends.
func framed(r *http.Request) bool {
	lengths := r.Header.Values("Content-Length")
	if len(r.TransferEncoding) > 0 || len(r.Header.Values("Transfer-Encoding")) > 0 || len(lengths) != 1 {
		return false
	}
	length, err := strconv.ParseInt(lengths[0], 10, 64)
	return err == nil && length == r.ContentLength && !twiceFramed(r.Context())
}

// bodiless reports whether a request that reads came alone, as it must.
func bodiless(r *http.Request) bool {
	return r.ContentLength == 0 && len(r.TransferEncoding) == 0 && !twiceFramed(r.Context())
}

func hasOne(header http.Header, name, value string) bool {
	values := header.Values(name)
	return len(values) == 1 && values[0] == value
}
