// Command mcpserver is an MCP server on standard input and output for tests.
//
//	mcpserver NAME TOOL…
//
// It offers the tools, two to a page, and appends a line for each call ("NAME TOOL") to the file in MCP_CALLS, if that is
// set. A tool named in MCP_READ_ONLY says that it only reads.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	name, tools := os.Args[1], os.Args[2:]
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, &mcp.ServerOptions{PageSize: 2})
	for _, tool := range tools {
		server.AddTool(&mcp.Tool{
			Name:        tool,
			Description: "A tool for tests.",
			InputSchema: map[string]any{"type": "object"},
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: tool == os.Getenv("MCP_READ_ONLY")},
		}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if path := os.Getenv("MCP_CALLS"); path != "" {
				file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					return nil, err
				}
				defer file.Close()
				if _, err := fmt.Fprintln(file, name, tool); err != nil {
					return nil, err
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: tool + " was called"}}}, nil
		})
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
