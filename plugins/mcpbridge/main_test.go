package mcpbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// The test binary is also the MCP servers under test: the bridge starts it again with roleVariable set.
const (
	roleVariable    = "MCPBRIDGE_TEST_ROLE"
	addressVariable = "MCPBRIDGE_TEST_ADDRESS"
	childVariable   = "MCPBRIDGE_TEST_CHILD_ADDRESS"
	markedVariable  = "MCPBRIDGE_TEST_MARKED"
)

func TestMain(m *testing.M) {
	if code, asked := Keep(os.Args); asked {
		os.Exit(code)
	}
	role, chosen := os.LookupEnv(roleVariable)
	if !chosen {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		os.Exit(1)
	}
}

func play(role string) error {
	switch role {
	case "real":
		return mcpserver.ServeStdio(realServer())
	case "relay":
		return relayStdio(os.Getenv(addressVariable))
	case "parent":
		if err := escape(); err != nil {
			return err
		}
		return relayStdio(os.Getenv(addressVariable))
	case "stubborn":
		return holdConnection(os.Getenv(addressVariable))
	}
	return fmt.Errorf("unknown role")
}

// relayStdio lets the test speak through this process: what the bridge writes goes to the test, what the test writes
// goes to the bridge. The process ends when the test hangs up.
func relayStdio(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		os.Exit(0)
	}()
	_, err = io.Copy(os.Stdout, conn)
	return err
}

// escape starts a stubborn child in a session of its own; unless markedVariable is set, also in a bare environment.
func escape() error {
	child := exec.Command(os.Args[0])
	child.Env = []string{roleVariable + "=stubborn", addressVariable + "=" + os.Getenv(childVariable), "GORACE=" + raceExit}
	if os.Getenv(markedVariable) != "" {
		child.Env = append(os.Environ(), child.Env...)
	}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Start()
}

// holdConnection lives until it is killed, holding a connection by which the test sees whether it lives.
func holdConnection(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, conn)
	return err
}

// realServer is an MCP server written with the library.
func realServer() *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("real", "1", mcpserver.WithToolCapabilities(true))
	s.AddTool(mcp.NewToolWithRawSchema("echo", "says it again", json.RawMessage(echoSchema)), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.GetArguments()["text"])), nil
	})
	s.AddTool(mcp.NewTool("big"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("0123456789", bigSize/10)), nil
	})
	s.AddTool(mcp.NewTool("identity"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.Params.Meta.AdditionalFields["user_key"], " ", r.Params.Meta.AdditionalFields["tenant_key"])), nil
	})
	s.AddTool(mcp.NewTool("pid"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(os.Getpid())), nil
	})
	s.AddTool(mcp.NewTool("environment"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Join(os.Environ(), "\n")), nil
	})
	s.AddTool(mcp.NewTool("broken"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("the tool says no"), nil
	})
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return s
}

const (
	bigSize    = 5_000_000
	echoSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"text":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/word"}]}},"patternProperties":{"^x-":{"type":"string"}},"$defs":{"word":{"type":"string"}}}`
)
