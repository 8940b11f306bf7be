package chat

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

const feedbackPath = "/api/feedback"

// maxComment is the longest comment, in characters.
const maxComment = 2000

// feedback keeps what a reader thought of an answer. It may be said again: the last word counts.
func (f *face) feedback(x *web.Exchange) error {
	const sentence = "Feedback names run_id, session_id and a rating, up or down; a comment has at most 2000 characters."
	fields, err := f.readBody(x, sentence, "run_id", "session_id", "rating", "comment")
	if err != nil {
		return err
	}
	said := run.Feedback{
		SessionID: fields.Text("session_id", web.MaxKey), Rating: run.Rating(fields.OneOf("rating", "up", "down")),
		Comment: fields.Text("comment", maxComment), At: time.Now().UTC().Truncate(time.Microsecond),
	}
	id := fields.Text("run_id", web.MaxKey)
	if fields.Err() != nil || id == "" || said.SessionID == "" || said.Rating == "" {
		return invalid(sentence)
	}
	if said.Ref, err = f.find(x, id, said.SessionID); err != nil {
		return err
	}
	if err := f.cfg.Feedback.Feedback(x.Request.Context(), said); err != nil {
		return err
	}
	return x.Nothing()
}

// find returns the run of these ids within the caller's view, narrowed to the user that it comes for. Ids that do not
// belong together name no run.
func (f *face) find(x *web.Exchange, id, session string) (run.Ref, error) {
	seen, err := x.View()
	if err != nil {
		return run.Ref{}, err
	}
	by := x.Behalf()
	if err := x.Admit(by.User, by.Tenant); err != nil {
		return run.Ref{}, err
	}
	if seen.User == "" && !by.Own {
		seen.User = by.User
	}
	filter := run.Filter{ID: id, SessionID: session, Tenant: seen.Tenant, UserKey: seen.User, Limit: 2}
	page, err := f.cfg.Records.Runs(x.Request.Context(), filter)
	switch {
	case err != nil:
		return run.Ref{}, err
	case len(page.Items) != 1:
		return run.Ref{}, absent()
	}
	return page.Items[0].Ref, nil
}
