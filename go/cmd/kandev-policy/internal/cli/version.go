package cli

import (
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

func newVersion(streams Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of command, library and ABI, and the engine",
		Long: `Show the versions of the command, of the library and of its ABI, and the engine: cgo (the linked library), wasm (the
library as WebAssembly, without cgo) or none (nothing is decided).`,
		Example: "  kandev-policy version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			library, abi := policy.Version(), fmt.Sprint(policy.ABIVersion())
			if library == "" {
				library, abi = "none", "none"
			}
			_, err := fmt.Fprintf(streams.Out, "kandev-policy %s\nlibrary %s\nabi %s\nengine %s\ngo %s %s/%s\n",
				commandVersion(), library, abi, policy.Engine(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return failed(err)
		},
	}
}
