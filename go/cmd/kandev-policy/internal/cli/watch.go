package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/agent"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/judge"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/tally"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/traffic"
)

func newWatch(streams Streams) *cobra.Command {
	var configPath, recordPath string
	command := &cobra.Command{
		Use:   "watch --config FILE -- AGENT [ARG…]",
		Short: "Run an ACP agent and show what would be decided, answering nothing",
		Long: `Run an ACP agent and show what would be decided for each permission request that it sends. Nothing is ever answered,
and the host that starts this command in place of the agent sees no difference.

The agent's standard input and error are passed on as they are; its output is passed on byte for byte, and read on the
side. Decisions go to standard error, or with --record as JSON lines to a file, {"time":…,"line":…,"decision":{…}};
standard error is then the agent's alone, which a host that doesn't read it needs. The file is appended to.

Signals are passed on to the agent. From a terminal the agent gets them itself; a signal that is sent to the whole
process group reaches it from both.

Exit status: the agent's. If a signal killed it, the same signal (SIGHUP, SIGINT, SIGTERM, SIGKILL), or 128 and the
signal's number. 127 when there is no such agent, 126 when it can't be started, 2 when an argument or the config can't
be used.`,
		Example: `  kandev-policy watch --config config.json -- claude-agent-acp
  kandev-policy watch --config config.json --record decisions.ndjson -- npx @agentclientprotocol/claude-agent-acp`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if configPath == document.Stdin {
				return errors.New("standard input is the agent's, so the config can't come from it")
			}
			judge, err := readJudge(streams, configPath, "")
			if err != nil {
				return err
			}
			if judge.Reviewer() {
				return unusable(fmt.Errorf("%s: a reviewer's config; hooks don't come over ACP", document.Printable(configPath)))
			}
			watcher, err := newWatcher(streams, judge, recordPath)
			if err != nil {
				return unusable(err)
			}
			return watcher.run(args)
		},
	}
	configFlag(command, &configPath)
	command.Flags().StringVar(&recordPath, "record", "", "append the decisions to this `file`, and show nothing")
	// All behind the agent's name is the agent's, also without the --.
	command.Flags().SetInterspersed(false)
	return command
}

// watcher shows or records decisions.
type watcher struct {
	streams Streams
	judge   *judge.Judge
	screen  *screen.Screen
	record  io.WriteCloser // nil: show
	broken  error          // the first error of recording
	sum     *tally.Tally
}

func newWatcher(streams Streams, judge *judge.Judge, recordPath string) (*watcher, error) {
	w := &watcher{streams: streams, judge: judge, screen: screen.New(streams.Err), sum: tally.New()}
	if recordPath == "" {
		warnWithoutEngine(streams)
		return w, nil
	}
	file, err := os.OpenFile(recordPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", document.Printable(recordPath), document.Cause(err))
	}
	w.record = file
	return w, nil
}

func (w *watcher) run(command []string) error {
	tap := traffic.NewTap(w.line)
	state, err := agent.Run(command, w.streams.In, w.streams.Out, w.streams.Err, tap)
	tap.Close()
	if err != nil {
		return failure{startStatus(err), fmt.Errorf("%s: can't start the agent: %w", document.Printable(command[0]), cause(err))}
	}
	w.finish()
	return exitStatus(agent.Exit(state))
}

// cause is the error without the agent's name, which the caller gives.
func cause(err error) error {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		return lookup.Err
	}
	return document.Cause(err)
}

// startStatus is the one that shells give.
func startStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}

// line looks at one line of the agent's output.
func (w *watcher) line(line traffic.Line) {
	w.sum.Lines++
	if line.TooLong {
		w.sum.Bad++
		return
	}
	decision, what, _ := w.judge.Decide(line.Bytes)
	switch what {
	case judge.Bad:
		w.sum.Bad++ // agents do print what is no message
		return
	case judge.Other:
		w.sum.Other++
		return
	}
	w.sum.Count(decision)
	if w.record != nil {
		record := appendDecision(fmt.Appendf(nil, `{"time":%q,"line":%d,"decision":`,
			time.Now().UTC().Format(time.RFC3339Nano), line.Number), decision)
		if _, err := w.record.Write(append(record, '}', '\n')); err != nil && w.broken == nil {
			w.broken = err
		}
		return
	}
	text := []string{screen.Faint("kandev-policy:"), screen.Decision(decision.Kind.String(), decision.Kind.String()),
		screen.Strong(string(decision.Reason))}
	if decision.Server != "" {
		text = append(text, tally.Tool(decision))
	}
	if decision.OptionID != "" {
		text = append(text, "with "+optionText(decision))
	}
	w.screen.Printf("%s\n", strings.Join(text, " "))
}

// finish ends the showing or the recording.
func (w *watcher) finish() {
	if w.record == nil {
		w.screen.Printf("%s %s, %s\n", screen.Faint("kandev-policy:"),
			count(w.sum.Requests, "permission request"), count(w.sum.Bad, "line")+" without a message")
		return
	}
	if err := w.record.Close(); w.broken == nil {
		w.broken = err
	}
	if w.broken != nil {
		fmt.Fprintf(w.streams.Err, "kandev-policy: the record is incomplete: %v\n", document.Cause(w.broken))
	}
}
