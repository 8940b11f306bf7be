package agenttools

import (
	"slices"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
)

// allRoutes lists what the face speaks.
func allRoutes() []route {
	return slices.Concat(workspaceRoutes(), toolRoutes(), researchRoutes(), runtimeRoutes())
}

func workspaceRoutes() []route {
	return []route{
		newRoute("GET /api/v1/session", invalidRequest, (*visit).getSession),
		newRoute("POST /api/v1/workspaces/{id}/activate", invalidRequest, (*visit).activate).withoutKeys(),
	}
}

func toolRoutes() []route {
	const at = " /api/v1/agent-tools"
	invalid := gateway.CodeInvalid
	return []route{
		newRoute("GET"+at+"/catalog", invalid, (*visit).getCatalog),
		newRoute("POST"+at+"/turns", invalid, (*visit).startTurn),
		newRoute("POST"+at+"/calls", invalid, (*visit).call),
		newRoute("POST"+at+"/turns/{id}/resume", invalid, (*visit).resumeTurn).withoutKeys(),
		newRoute("GET"+at+"/results/{id}", invalid, (*visit).getResult),
		newRoute("GET"+at+"/events", invalid, (*visit).getEvents).withCursor(),
	}
}

func researchRoutes() []route {
	const at = " /api/v1/research"
	invalid := research.CodeInvalid
	return []route{
		newRoute("GET"+at, invalid, (*visit).getResearch),
		newRoute("POST"+at+"/prepare", invalid, (*visit).prepare),
		newRoute("POST"+at+"/grants", invalid, (*visit).grant),
		newRoute("POST"+at+"/campaigns", invalid, (*visit).campaign),
		newRoute("POST"+at+"/revoke", invalid, (*visit).revoke),
	}
}

func runtimeRoutes() []route {
	const at = " /api/v1/agent-runtime"
	invalid := localagent.CodeInvalid
	return []route{
		newRoute("GET"+at+"/status", invalid, (*visit).getStatus),
		newRoute("POST"+at+"/turns", invalid, (*visit).startRuntimeTurn),
		newRoute("GET"+at+"/turns/{id}", invalid, (*visit).getRuntimeTurn),
		newRoute("POST"+at+"/turns/{id}/resume", invalid, (*visit).resumeRuntimeTurn).withoutKeys(),
		newRoute("POST"+at+"/turns/{id}/cancel", invalid, (*visit).cancelRuntimeTurn).withoutKeys(),
		newRoute("GET"+at+"/events", invalid, (*visit).getRuntimeEvents).withCursor(),
	}
}
