// Command kandev runs the stand-in: it decodes an ACP permission frame from standard input, as the pinned SDK does, and
// says what becomes of it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"go.uber.org/zap"

	sdk "github.com/kandev/kandev/internal/agentctl/acp"
	"github.com/kandev/kandev/internal/agentctl/server/acp"
	"github.com/kandev/kandev/internal/agentctl/server/config"
	"github.com/kandev/kandev/internal/agentctl/server/process"
)

func main() {
	port := flag.Int("port", 43210, "instance port; 0: the host injects no server")
	agentType := flag.String("agent-type", "claude-acp", "the host's id of the agent")
	blanket := flag.Bool("auto-approve", false, "blanket approval")
	servers := flag.String("servers", "[]", "the user's own MCP servers, as JSON")
	flag.Parse()

	overrides := &config.InstanceOverrides{}
	if err := json.Unmarshal([]byte(*servers), &overrides.McpServers); err != nil {
		fail(err)
	}
	var frame sdk.RequestPermissionRequest
	if err := json.NewDecoder(os.Stdin).Decode(&frame); err != nil {
		fail(err)
	}
	log := zap.NewProductionConfig()
	log.OutputPaths = []string{"stderr"}
	log.DisableCaller = true
	logger, err := log.Build()
	if err != nil {
		fail(err)
	}
	cfg := (&config.Config{AgentType: *agentType, AutoApprovePermissions: *blanket}).NewInstanceConfig(*port, overrides)
	manager := process.NewManager(cfg, logger)
	defer manager.Stop()

	go func() { // the user, who says no to everything
		for id := range manager.Announced {
			fmt.Println("pending")
			_ = manager.RespondToPermission(id, frame.Options[len(frame.Options)-1].OptionId)
		}
	}()
	client := &acp.Client{PermissionHandler: manager.HandlePermissionRequest}
	resp, err := client.RequestPermission(context.Background(), frame)
	if err != nil {
		fail(err)
	}
	if resp.Cancelled {
		fmt.Println("cancelled")
		return
	}
	fmt.Println("answered with", resp.Selected)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
