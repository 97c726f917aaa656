package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/judge"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/tally"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/traffic"
	"github.com/kandev/kandev-policy/go/policy"
)

// namedBadLines is how many bad lines of one file are named; more are only counted. A file of another kind has nothing
// else in it.
const namedBadLines = 1000

func newReplay(streams Streams) *cobra.Command {
	var options replayOptions
	command := &cobra.Command{
		Use:   "replay --config FILE FILE…",
		Short: "Decide every permission request of recorded traffic",
		Long: `Decide every permission request of recorded traffic, and count the decisions.

A recording has one JSON-RPC message a line, in either direction, as a tee on the agent's standard streams writes it;
other messages are passed over. Plain params of requests are read too, and under a reviewer's config hook
payloads. gzip and zstd are recognized by their first bytes. - is standard input. A recording is read line by
line in constant memory; the summary counts at most 1000 tools by name.

Each request is one row: file and line, decision, reason, tool, option. With --json it is one line of JSON,
{"file":…,"line":…,"decision":{…}}, and the summary is the last one, {"summary":{…}}. With --against there is a row
only where the other config would decide differently, if only for another reason.

A bad line (no JSON, a batch, neither a message nor params, longer than 16 MiB) is counted, and named on standard
error by file and line, the first 1000 of each file. It never stops a replay.

--fail-on takes a list of what a recording must not hold: a decision (ask), a decision with its reason
(ask:untrusted_server_source), bad_line, or changed (with --against).

Exit status: 0; 1 when a condition of --fail-on is met; 2 when an argument, the config or a recording can't be used.`,
		Example: `  kandev-policy replay --config config.json session.ndjson
  kandev-policy replay --config config.json --summary recordings/*.ndjson.zst
  kandev-policy replay --config config.json --against stricter.json --json session.ndjson.gz
  kandev-policy replay --config config.json --fail-on ask:untrusted_server_source,bad_line session.ndjson
  kandev-policy replay --config reviewer.json --policy unattended_review hooks.ndjson`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return replay(streams, options, args) },
	}
	configFlag(command, &options.config)
	policyFlag(command, &options.policy)
	flags := command.Flags()
	flags.StringVar(&options.against, "against", "", "show what the config in this `file` would decide differently")
	flags.StringSliceVar(&options.failOn, "fail-on", nil, "exit with 1 if one of these `conditions` is met")
	flags.BoolVar(&options.json, "json", false, "write JSON lines")
	flags.BoolVar(&options.summary, "summary", false, "write the summary alone")
	_ = command.MarkFlagFilename("against", "json")
	_ = command.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(completions(), cobra.ShellCompDirectiveNoSpace))
	return command
}

type replayOptions struct {
	config, policy, against string
	failOn                  []string
	json, summary           bool
}

func replay(streams Streams, options replayOptions, paths []string) error {
	if err := checkConditions(options.failOn, options.against != ""); err != nil {
		return err
	}
	if err := oneStdin(append([]string{options.config, options.against}, paths...)); err != nil {
		return err
	}
	r := &replayer{streams: streams, sum: tally.New(), failOn: options.failOn, rows: newRows(streams.Out, options)}
	var err error
	if r.judge, err = readJudge(streams, options.config, options.policy); err != nil {
		return err
	}
	if options.against != "" {
		if r.against, err = readJudge(streams, options.against, options.policy); err != nil {
			return err
		}
		if r.against.Reviewer() != r.judge.Reviewer() {
			return errors.New("--against: the two configs are not of the same policy")
		}
		r.sum.Comparing()
	}
	if err := readable(paths); err != nil {
		return unusable(err)
	}
	warnWithoutEngine(streams)
	r.bar = newProgress(streams, options, paths)
	return r.run(paths)
}

func oneStdin(paths []string) error {
	if strings.Count("\x00"+strings.Join(paths, "\x00")+"\x00", "\x00"+document.Stdin+"\x00") > 1 {
		return errors.New("only one of the config and the recordings can come from standard input (-)")
	}
	return nil
}

// replayer goes through recordings.
type replayer struct {
	streams        Streams
	judge, against *judge.Judge
	failOn         []string
	sum            *tally.Tally
	rows           rows
	bar            *progress
}

// run replays all recordings. One that breaks off, such as a damaged archive, doesn't keep the others from being read.
func (r *replayer) run(paths []string) error {
	var broken error
	for _, path := range paths {
		if err := r.file(path); err != nil {
			var fails failure
			if errors.As(err, &fails) {
				return err
			}
			r.say("%v", err)
			broken = exitStatus(statusUnusable)
		}
	}
	r.bar.clear()
	if err := r.rows.finish(r.sum); err != nil {
		return failed(err)
	}
	if broken != nil {
		return broken
	}
	if list := met(r.failOn, r.sum); len(list) > 0 {
		return failed(fmt.Errorf("--fail-on: %s", strings.Join(list, ", ")))
	}
	return nil
}

func (r *replayer) file(path string) error {
	recording, err := traffic.Open(path, r.streams.In, r.bar.writer())
	if err != nil {
		return unusable(err)
	}
	defer recording.Close()
	r.sum.Files++
	bad := 0
	for {
		line, err := recording.Next()
		if errors.Is(err, io.EOF) {
			if bad > namedBadLines {
				r.say("%s: %d more bad lines", recording.Name, bad-namedBadLines)
			}
			return nil
		}
		if err != nil {
			return unusable(fmt.Errorf("%s:%d: %w", recording.Name, line.Number, document.Cause(err)))
		}
		problem, err := r.line(recording.Name, line)
		if err != nil {
			return failed(err)
		}
		if problem != "" {
			if bad++; bad <= namedBadLines {
				r.say("%s:%d: %s", recording.Name, line.Number, problem)
			}
		}
	}
}

// line decides one line; the error is one of writing.
func (r *replayer) line(file string, line traffic.Line) (problem string, err error) {
	r.sum.Lines++
	if line.TooLong {
		r.sum.Bad++
		return "longer than any frame may be (16 MiB)", nil
	}
	decision, what, problem := r.judge.Decide(line.Bytes)
	switch what {
	case judge.Bad:
		r.sum.Bad++
		return problem, nil
	case judge.Other:
		r.sum.Other++
		return "", nil
	}
	r.sum.Count(decision)
	row := row{File: file, Line: line.Number, Decision: decision}
	if r.against != nil {
		other, _, _ := r.against.Decide(line.Bytes)
		if !r.sum.Compare(decision, other) {
			return "", nil
		}
		row.Against = &other
	}
	return "", r.rows.write(row)
}

// say writes a line to standard error, without tearing the progress bar.
func (r *replayer) say(format string, values ...any) {
	r.bar.clear()
	fmt.Fprintf(r.streams.Err, "kandev-policy: "+format+"\n", values...)
}

// row is one decided request.
type row struct {
	File     string
	Line     int
	Decision policy.Decision
	Against  *policy.Decision
}
