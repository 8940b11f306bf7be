package agenttools

import (
	"net/http"

	"github.com/fastreact/fastreact/host/internal/localagent"
)

func (v *visit) getStatus() (reply, error) {
	status := v.cfg.Runtime.Status(v.r.Context())
	return done(runtimeStatus{
		statusContract, status.Mode, status.Configured, status.Available, status.Provider, status.EndpointKind,
		orNull(status.Model), orNull(status.Reason),
	}), nil
}

// startRuntimeTurn puts a turn into the queue. The key may be left out.
func (v *visit) startRuntimeTurn() (reply, error) {
	var objective, key string
	ok := v.body.into([]string{"objective", "idempotency_key"}, &objective, &key) ||
		v.body.into([]string{"objective"}, &objective)
	if !ok {
		return reply{}, refused(localagent.CodeInvalid)
	}
	turn, err := v.cfg.Runtime.Start(v.r.Context(), objective, key)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusAccepted, value: toRuntimeTurn(turn)}, nil
}

func (v *visit) getRuntimeTurn() (reply, error) { return showTurn(v.cfg.Runtime.Turn(v.vars[0])) }

func (v *visit) resumeRuntimeTurn() (reply, error) {
	return showTurn(v.cfg.Runtime.Resume(v.r.Context(), v.vars[0]))
}

func (v *visit) cancelRuntimeTurn() (reply, error) { return showTurn(v.cfg.Runtime.Cancel(v.vars[0])) }

func showTurn(turn localagent.Turn, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return done(toRuntimeTurn(turn)), nil
}

func (v *visit) getRuntimeEvents() (reply, error) {
	page := v.cfg.Runtime.Events(v.cursor)
	events := []runtimeEvent{}
	for _, e := range page.Events {
		events = append(events, toRuntimeEvent(e))
	}
	return done(eventPage[runtimeEvent]{runtimeContract, transport, page.Cursor, events, page.Gap}), nil
}
