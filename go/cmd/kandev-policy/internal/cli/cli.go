// Package cli is the command line: one file per subcommand.
//
// A subcommand is a function from [Streams] to a cobra command, named in the list below. It returns an error made by
// [unusable] for what the user gave, and any other error for what else went wrong; Main prints it and finds the exit
// status.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// subcommands is where a new one is added.
var subcommands = []func(Streams) *cobra.Command{
	newDecide,
	newExplain,
	newReplay,
	newWatch,

	newHook,
	newBridge,
	newCatalog,

	newVersion,
}

// Streams are the standard streams. They are files, since what is a terminal is shown differently.
type Streams struct {
	In, Out, Err *os.File
}

// The exit statuses that all subcommands share. `watch` exits as the agent does.
const (
	statusOK       = 0
	statusFailed   = 1 // --fail-on, or the output could not be written
	statusUnusable = 2 // arguments or files
)

// Main runs the command line and gives the exit status.
func Main(args []string, streams Streams) int {
	root := newRoot(streams)
	root.SetArgs(args)
	command, err := root.ExecuteC()
	return report(streams.Err, command, err)
}

func newRoot(streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kandev-policy",
		Short: "Decide permission requests of AI coding agents, and say why",
		Long: `kandev-policy decides permission requests of AI coding agents as a host that links the library does.

It reads what an agent sent (an ACP session/request_permission frame, or the payload of a
PermissionRequest hook) and the host's config, and shows the decision: select, cancel or ask for
a frame; allow, deny or ask for a hook. Only hook and bridge answer agents.

Exit status: 0 when a decision was made, also when it is ask or deny; 2 when an argument or a file
can't be used, with the file and the position on standard error; 1 when something else failed.`,
		Example: `  kandev-policy decide --config config.json frame.json
  kandev-policy explain --config config.json frame.json
  kandev-policy replay --config config.json session.ndjson.zst
  kandev-policy watch --config config.json -- claude-agent-acp`,
		Args:          cobra.NoArgs,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
		Version:       commandVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	for _, subcommand := range subcommands {
		root.AddCommand(subcommand(streams))
	}
	return root
}

// exitStatus is an error that says no more than the exit status, because all else has been said.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// failure is an error with an exit status other than that of unusable arguments.
type failure struct {
	status int
	err    error
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// failed marks an error that is not about arguments or files.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return failure{statusFailed, err}
}

// report prints an error and gives the exit status. What has no status of its own is about the arguments: cobra's
// errors are.
func report(w io.Writer, command *cobra.Command, err error) int {
	if err == nil {
		return statusOK
	}
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	var fails failure
	if errors.As(err, &fails) {
		fmt.Fprintf(w, "kandev-policy: %v\n", err)
		return fails.status
	}
	fmt.Fprintf(w, "kandev-policy: %v\n", err)
	var unusable unusableFile
	if !errors.As(err, &unusable) {
		fmt.Fprintf(w, "Try '%s --help'.\n", command.CommandPath())
	}
	return statusUnusable
}

// unusableFile marks an error about a file's content, which no help text explains.
type unusableFile struct{ err error }

func (u unusableFile) Error() string { return u.err.Error() }
func (u unusableFile) Unwrap() error { return u.err }

func unusable(err error) error {
	if err == nil {
		return nil
	}
	return unusableFile{err}
}
