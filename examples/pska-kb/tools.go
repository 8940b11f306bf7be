package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// errRefused carries a sentence for the caller.
type errRefused string

func (e errRefused) Error() string { return string(e) }

type handler func(ctx context.Context, s *store, args arguments, a *answer) error

// newServer offers the tools over the store.
func newServer(s *store) *server.MCPServer {
	m := server.NewMCPServer("pska-kb", "1", server.WithToolCapabilities(false), server.WithRecovery())
	for _, tool := range []struct {
		name, description, schema string
		handle                    handler
	}{
		{"pska_search", "Search the notes a user may see. Returns snippets with citations.", readSchema, search},
		{"pska_agentic_search", "Search the notes word by word and merge what is found. For questions with several parts.", readSchema, agenticSearch},
		{"pska_index_status", "Say how many notes each knowledge base holds and how many wait for review.", readSchema, indexStatus},
		{"pska_read_evidence_context", "Read the whole text of notes, named by source_item_ids or found by query.", readSchema, readEvidence},
		{"pska_graph_context", "Show notes with the notes they link to and their tags.", readSchema, graphContext},
		{"pska_digest_context", "Show the first sentence of each note.", readSchema, digestContext},
		{"pska_ingest_channel_payload", "Add a note. It waits for review before it can be found.", ingestSchema, ingest},
		{"pska_extract_all", "Build the search index anew from all reviewed notes.", readSchema, extractAll},
		{"pska_review_items", "List notes that wait for review, or approve or reject one of your own.", reviewSchema, reviewItems},
	} {
		m.AddTool(mcp.NewToolWithRawSchema(tool.name, tool.description, json.RawMessage(tool.schema)), serve(s, tool.name, tool.handle))
	}
	return m
}

func serve(s *store, name string, handle handler) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args, err := readArguments(request)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		a := newAnswer(name, args)
		var refused errRefused
		switch err := handle(ctx, s, args, a); {
		case errors.As(err, &refused):
			return mcp.NewToolResultError(refused.Error()), nil
		case err != nil:
			slog.Error("tool failed", slog.String("tool", name), slog.Any("error", err))
			return mcp.NewToolResultError("the knowledge base cannot be read at the moment"), nil
		}
		text, err := canonical(a)
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(string(text)), nil
	}
}

const (
	scopeProperties = `
	"user_id": {"type": "string", "description": "who asks; an identity forwarded beside the arguments counts more"},
	"knowledge_base_ids": {"type": "array", "items": {"type": "string"}, "description": "only these knowledge bases; empty = all"},
	"source_item_ids": {"type": "array", "items": {"type": "string"}, "description": "only these notes; empty = all"},
	"scope_mode": {"type": "string", "enum": ["hard", "soft"]},
	"scope": {"type": "object", "properties": {
		"mode": {"type": "string"},
		"knowledge_base_ids": {"type": "array", "items": {"type": "string"}},
		"source_item_ids": {"type": "array", "items": {"type": "string"}}}}`
	readSchema = `{"type": "object", "properties": {
	"query": {"type": "string", "description": "words to look for"},
	"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},` + scopeProperties + `}}`
	ingestSchema = `{"type": "object", "required": ["title", "text", "knowledge_base_id"], "properties": {
	"title": {"type": "string"}, "text": {"type": "string"}, "knowledge_base_id": {"type": "string"},
	"channel": {"type": "string", "description": "where the text comes from"},` + scopeProperties + `}}`
	reviewSchema = `{"type": "object", "properties": {
	"action": {"type": "string", "enum": ["list", "approve", "reject"], "default": "list"},
	"source_item_id": {"type": "string", "description": "the note to approve or reject"},` + scopeProperties + `}}`
)
