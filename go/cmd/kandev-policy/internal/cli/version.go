package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/policy"
)

// version is the command's own; a release sets it with -ldflags "-X …/internal/cli.version=1.2.3".
var version = ""

func commandVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// versions is what `version` shows, and its JSON.
type versions struct {
	Command  string `json:"command"`
	Library  string `json:"library"` // empty without an engine
	ABI      int    `json:"abi"`     // 0 without an engine
	Engine   string `json:"engine"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(streams Streams) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of command, library and ABI, and the engine",
		Long: `Show the versions of the command, of the library and of its ABI, and the engine: cgo (the linked library), wasm (the
library as WebAssembly, without cgo) or none (nothing is decided).`,
		Example: `  kandev-policy version
  kandev-policy version --json | jq -r .engine`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versions{commandVersion(), policy.Version(), policy.ABIVersion(), policy.Engine(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if asJSON {
				return failed(json.NewEncoder(streams.Out).Encode(v))
			}
			library, abi := v.Library, fmt.Sprint(v.ABI)
			if library == "" {
				library, abi = "none", "none"
			}
			_, err := fmt.Fprintf(streams.Out, "kandev-policy %s\nlibrary %s\nabi %s\nengine %s\ngo %s %s\n",
				v.Command, library, abi, v.Engine, v.Go, v.Platform)
			return failed(err)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return command
}
