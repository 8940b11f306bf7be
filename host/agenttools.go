package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/web/agenttools"
)

// agentTools is what stands behind the address of the agent tools. A server without one has none of it.
type agentTools struct {
	desk    *research.Desk
	gateway *gateway.Gateway
	runtime *localagent.Runtime
	face    *agenttools.Face

	readable readable
}

// AgentToolNames lists the tools of the agent tools that no plugin offers, where there are agent tools. No other tool
// should take one of their names.
func AgentToolNames(cfg Config) []string {
	if !cfg.AgentTools.wanted() {
		return nil
	}
	return []string{research.ToolState, research.ToolPrepare, research.ToolContact}
}

// buildResearch makes the desk of plans and grants, whose tools the gate will have among its sources.
func (s *Server) buildResearch(context.Context) error {
	cfg := s.options.Config.AgentTools
	if !cfg.wanted() {
		return nil
	}
	var providers []research.Provider
	for _, one := range cfg.Providers {
		client, err := s.options.Egress.Provider(one)
		if err != nil {
			return err
		}
		providers = append(providers, research.Provider{ID: one.ID, URL: one.URL, Client: client})
	}
	desk, err := research.New(research.Config{
		Store: s.ledger, Look: s.look, Providers: providers, Door: func() research.Door { return s.gate },
		GrantTTL: cfg.GrantTTL, Limits: research.Limits{Grants: cfg.Limits.Grants, Campaigns: cfg.Limits.Campaigns},
		Log: s.options.Log,
	})
	s.tools = &agentTools{desk: desk}
	return err
}

// buildAgentTools makes everything between the desk and the wire.
func (s *Server) buildAgentTools(ctx context.Context) error {
	if s.tools == nil {
		return nil
	}
	for _, build := range []func() error{s.buildGateway, s.buildLocalAgent, s.buildToolsFace} {
		if err := build(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) buildGateway() (err error) {
	cfg, tools := s.options.Config.AgentTools, s.tools
	tools.gateway, err = gateway.New(gateway.Config{
		Gate: s.gate, Research: tools.desk, Workspaces: sortedKeys(cfg.Workspaces), Active: cfg.firstWorkspace(),
		Ready: s.obstacle, Switched: func(workspace string) { tools.runtime.Switch(workspace) },
		Limits: gateway.Limits{
			Calls: cfg.Limits.Calls, ResultBytes: cfg.Limits.ResultBytes, Events: cfg.Limits.Events, Turns: cfg.Limits.Turns,
		},
		CallTimeout: min(cfg.CallTimeout, s.options.Config.Tools.Timeout), Log: s.options.Log,
	})
	if err != nil {
		return err
	}
	s.closeWithin(tools.gateway.Close)
	return nil
}

func (s *Server) buildLocalAgent() (err error) {
	cfg, tools := s.options.Config.AgentTools, s.tools
	wanted := localagent.Config{
		Gateway: tools.gateway, Research: tools.desk, Mode: cfg.runtimeMode(), ModelName: cfg.Model,
		Limits: localagent.Limits{
			Queue: cfg.Limits.Queue, Turns: cfg.Limits.Turns, ModelCalls: cfg.Limits.ModelCalls,
			ToolCalls: cfg.Limits.ToolCalls, Events: cfg.Limits.Events,
		},
		Log: s.options.Log,
	}
	if wanted.Mode == localagent.LocalModel {
		client, err := cfg.localModel()
		if err != nil {
			return err
		}
		wanted.Model, wanted.Reachable = client, client.Reachable
	}
	if tools.runtime, err = localagent.New(wanted); err != nil {
		return err
	}
	s.closeWithin(tools.runtime.Close)
	return nil
}

func (s *Server) buildToolsFace() (err error) {
	cfg := s.options.Config.AgentTools
	s.tools.face, err = agenttools.New(agenttools.Config{
		Gateway: s.tools.gateway, Research: s.tools.desk, Runtime: s.tools.runtime, Authority: cfg.Authority,
		SessionTTL: cfg.SessionTTL, MutationInterval: cfg.MutationInterval, MaxBody: cfg.Limits.BodyBytes,
		BodyTimeout: cfg.BodyTimeout, Announce: s.options.Announce, Mask: maskOf(s.options.Config), Log: s.options.Log,
	})
	return err
}

// closeWithin adds the end of a part to what Close undoes. The part gets a bounded time for it.
func (s *Server) closeWithin(end func(context.Context) error) {
	s.closers = append(s.closers, func() error {
		ctx, stop := context.WithTimeout(context.Background(), undoPatience)
		defer stop()
		return end(ctx)
	})
}

// listenTools takes the address of the agent tools, where there is one.
func (s *Server) listenTools() (net.Listener, error) {
	if s.tools == nil {
		return nil, nil
	}
	listener, err := net.Listen("tcp", s.options.Config.AgentTools.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for agent tools: %w", err)
	}
	s.options.Egress.own(listener.Addr())
	return listener, nil
}

// serveTools serves the agent tools and announces where, once their reader is loaded or never will be: whoever reads the
// launch address finds tools that work. It ends when the face is shut down, or before it began, when ctx ends.
func (s *Server) serveTools(ctx context.Context, listener net.Listener) error {
	for _, r := range s.serving.Load().residents {
		if r.profile != AgentTools {
			continue
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return listener.Close()
		}
	}
	s.tools.face.Open(listener.Addr().String())
	return s.tools.face.Serve(listener)
}

// drainTools ends the turns of the local agent, refuses new requests, and waits for those under way until ctx ends.
func (s *Server) drainTools(ctx context.Context) {
	if s.tools == nil {
		return
	}
	turns := make(chan error, 1)
	go func() { turns <- s.tools.runtime.Close(ctx) }()
	if err := errors.Join(s.tools.face.Shutdown(ctx), <-turns, s.tools.gateway.Close(ctx)); err != nil {
		s.options.Log.Warn("work of the agent tools was left behind", slog.Any("error", err))
	}
}
