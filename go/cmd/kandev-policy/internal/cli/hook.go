package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/bridge"
)

// maxHookTimeout leaves the agents, which give a hook 600 seconds, time to read the answer.
const maxHookTimeout = bridge.DefaultHookTimeout

func newHook(streams Streams) *cobra.Command {
	var vendor string
	var timeout, connectTimeout time.Duration
	command := &cobra.Command{
		Use:   "hook --vendor codex|claude",
		Short: "What an agent's PermissionRequest hook runs: ask the bridge, answer the agent",
		Long: `Ask the bridge about a permission request, and answer the agent: this is what its PermissionRequest hook runs.

The payload comes from standard input and is posted to the bridge whose URL is in ` + bridge.EnvURL + `; the answer goes to
standard output. An agent takes a hook that fails for one that has not decided. So whatever fails (no variable, no bridge,
an unknown token, another status than 200, a timeout, garbage, wrong flags) is printed as an answer that denies, with exit
status 0; standard error says what failed, without the URL.

The URL must be one on loopback: nothing is sent elsewhere, no proxy is used and no redirect followed.`,
		Example: `  kandev-policy hook --vendor codex
  kandev-policy hook --vendor claude --timeout 60s`,
		// Wrong arguments are a failure like others: the agent gets an answer.
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return denyHook(streams, errors.New("arguments are not expected"))
			}
			if timeout <= 0 || connectTimeout <= 0 {
				return denyHook(streams, errors.New("--timeout and --connect-timeout must be positive"))
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			hook := bridge.Hook{
				URL:            os.Getenv(bridge.EnvURL),
				Vendor:         vendor,
				Timeout:        min(timeout, maxHookTimeout),
				ConnectTimeout: connectTimeout,
			}
			return answerHook(streams, func() ([]byte, error) { return hook.Answer(ctx, streams.In) })
		},
	}
	flags := command.Flags()
	flags.StringVar(&vendor, "vendor", "", "whose agent it is: `codex or claude`")
	flags.DurationVar(&timeout, "timeout", bridge.DefaultHookTimeout, "for everything; at most 590s, since agents wait for 600s")
	flags.DurationVar(&connectTimeout, "connect-timeout", bridge.DefaultHookConnectTimeout, "for reaching the bridge")
	_ = command.RegisterFlagCompletionFunc("vendor",
		cobra.FixedCompletions([]string{"codex", "claude"}, cobra.ShellCompDirectiveNoFileComp))
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return denyHook(streams, err) })
	return command
}

// denyHook prints the answer that denies.
func denyHook(streams Streams, err error) error {
	return answerHook(streams, func() ([]byte, error) { return bridge.HookFailed(), err })
}

// answerHook prints an answer. The exit status is 0, since the answer is all that counts.
func answerHook(streams Streams, ask func() ([]byte, error)) error {
	answer, err := ask()
	if err != nil {
		fmt.Fprintf(streams.Err, "kandev-policy hook: %v\n", err)
	}
	_, _ = streams.Out.Write(append(answer, '\n')) // if the agent doesn't read it, there is nothing more to do
	return exitStatus(statusOK)
}
