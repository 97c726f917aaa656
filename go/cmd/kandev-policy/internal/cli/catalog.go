package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
	"github.com/kandev/kandev-policy/go/policy"
)

func newCatalog(streams Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "catalog",
		Short:   "Check the catalog of servers that unattended reviewers may use",
		Long:    "Check the catalog of servers and tools that unattended reviewers may use.",
		Example: "  kandev-policy catalog check --server kcap-review -- kcap mcp review",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newCatalogCheck(streams))
	return command
}

func newCatalogCheck(streams Streams) *cobra.Command {
	var server, catalogPath string
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "check --server ID [--catalog FILE] -- SERVER [ARG…]",
		Short: "Compare the tools that an MCP server offers with the catalog",
		Long: `Start an MCP server, ask it for its tools as an agent would (MCP over standard input and output), and compare them with
the catalog: each tool must be classified as safe with nobody watching.

Exit status: 0 when every tool is classified; 1 when one is not, each of which is named, or when the server can't be
asked; 2 when an argument or the catalog can't be used, with the rule that the catalog breaks.`,
		Example: `  kandev-policy catalog check --server kcap-review -- kcap mcp review
  kandev-policy catalog check --server own --catalog catalog.json -- node server.js`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			catalog, err := readCatalog(streams, catalogPath)
			if err != nil {
				return err
			}
			// What is wrong with catalog or id is said before anything is started.
			if _, err := policy.UnclassifiedTools(catalog, server, []byte(`{"tools":[]}`)); err != nil {
				return catalogProblem(catalogPath, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			list, err := listTools(ctx, streams, args)
			if err != nil {
				if ctx.Err() != nil {
					err = fmt.Errorf("no answer within %v", timeout)
				}
				return failed(fmt.Errorf("%s: %w", document.Printable(args[0]), document.Cause(err)))
			}
			return checkTools(streams, catalog, server, list)
		},
	}
	flags := command.Flags()
	flags.StringVar(&server, "server", "", "the server's `id` in the catalog")
	_ = command.MarkFlagRequired("server")
	catalogFlag(command, &catalogPath)
	flags.DurationVar(&timeout, "timeout", 30*time.Second, "for the server to start and to answer")
	flags.SetInterspersed(false)
	return command
}

// catalogFlag adds --catalog.
func catalogFlag(command *cobra.Command, path *string) {
	command.Flags().StringVar(path, "catalog", "", "a catalog in place of the built-in one: a JSON `file`")
	_ = command.MarkFlagFilename("catalog", "json")
}

// readCatalog gives nil for the built-in one.
func readCatalog(streams Streams, path string) (json.RawMessage, error) {
	if path == "" {
		return nil, nil
	}
	file, err := document.Read(path, streams.In)
	if err != nil {
		return nil, unusable(err)
	}
	if place, problem := document.SyntaxError(file.Bytes); problem != "" {
		return nil, unusable(fmt.Errorf("%s: %s", file.At(place), problem))
	}
	return file.Bytes, nil
}

// catalogProblem is about the file, if there is one and it is at fault.
func catalogProblem(path string, err error) error {
	if path != "" && errors.Is(err, policy.ErrBadConfig) {
		err = fmt.Errorf("%s: %w", document.Printable(path), err)
	}
	return unusable(err)
}

// listTools asks a server for all of its tools, page by page, and gives them as one result.
func listTools(ctx context.Context, streams Streams, args []string) ([]byte, error) {
	server := exec.CommandContext(ctx, args[0], args[1:]...)
	server.Stderr = streams.Err
	client := mcp.NewClient(&mcp.Implementation{Name: "kandev-policy", Version: commandVersion()}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server, TerminateDuration: time.Second}, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	list := struct {
		Tools []namedTool `json:"tools"`
	}{Tools: []namedTool{}}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		list.Tools = append(list.Tools, namedTool{tool.Name})
	}
	return json.Marshal(list)
}

type namedTool struct {
	Name string `json:"name"`
}

func checkTools(streams Streams, catalog json.RawMessage, server string, list []byte) error {
	unclassified, err := policy.UnclassifiedTools(catalog, server, list)
	if err != nil {
		return failed(err)
	}
	var offered struct{ Tools []namedTool }
	_ = json.Unmarshal(list, &offered) // which is our own
	out := screen.New(streams.Out)
	if len(unclassified) == 0 {
		out.Printf("%s %s: %s, all of them classified\n", screen.Passed(), server, count(len(offered.Tools), "tool"))
		return failed(out.Err())
	}
	for _, tool := range unclassified {
		out.Printf("%s %s: %s is not classified\n", screen.Stopped("deny"), server, screen.Strong(document.Printable(tool)))
	}
	if err := out.Err(); err != nil {
		return failed(err)
	}
	return failed(fmt.Errorf("%s offers %s; %d not classified as safe with nobody watching", server,
		count(len(offered.Tools), "tool"), len(unclassified)))
}
