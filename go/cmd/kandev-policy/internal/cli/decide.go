package cli

import (
	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/reasons"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
	"github.com/kandev/kandev-policy/go/policy"
)

const inputHelp = `FRAME is what the agent sent: an ACP session/request_permission frame (v1 or v2 params, or the whole
JSON-RPC message) or, under a config with "policy":"unattended_review", a hook payload. One of FRAME and
the config may be - for standard input.

With --json the output is the library's answer byte for byte, and a line feed.

Exit status: 0 when a decision was made, also when it is ask, deny or cancel. 2 when an argument or a file can't be
used: a missing file, a config with a fault, a FRAME that is no JSON object or is longer than 16 MiB. Standard error
then names the file and, where there is one, the line and column (in bytes) and the key. With --json the library's
answer (malformed_config, malformed_frame, malformed_request) is written even then, so that a program always
reads a decision once the files could be read.`

func newDecide(streams Streams) *cobra.Command {
	var configPath string
	var asJSON bool
	command := &cobra.Command{
		Use:   "decide --config FILE FRAME",
		Short: "Decide one permission request",
		Long:  "Decide one permission request, and show the decision.\n\n" + inputHelp,
		Example: `  kandev-policy decide --config config.json frame.json
  kandev-policy decide --config config.json --json - < frame.json
  jq -c .config session.json | kandev-policy decide --config - frame.json`,
		Args: frameArgument,
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := readInputs(streams, configPath, args[0])
			if err != nil {
				return err
			}
			warnWithoutEngine(streams)
			decision := policy.DecideJSON(in.request.Bytes, in.config.Bytes)
			problem := in.check(decision)
			json, _ := decision.MarshalJSON() // which never fails
			return write(streams, asJSON, json, problem, func(out *screen.Screen) { showDecision(out, decision) })
		},
	}
	configFlag(command, &configPath)
	command.Flags().BoolVar(&asJSON, "json", false, "write the decision's JSON")
	return command
}

// write writes a result: its JSON, which a program gets also when a file is unusable, or what show makes of it for people.
// The problem is the command's own error.
func write(streams Streams, asJSON bool, json []byte, problem error, show func(*screen.Screen)) error {
	if asJSON {
		if _, err := streams.Out.Write(append(json, '\n')); err != nil {
			return failed(err)
		}
		return problem
	}
	if problem != nil {
		return problem
	}
	out := screen.New(streams.Out)
	show(out)
	return failed(out.Err())
}

// showDecision writes a decision for people.
func showDecision(out *screen.Screen, d policy.Decision) {
	word := d.Kind.String()
	out.Printf("%s  %s\n", screen.Decision(word, word), screen.Strong(string(d.Reason)))
	if reason, ok := reasons.Find(string(d.Reason)); ok {
		out.Paragraph(2, screen.Code(reason.Paragraphs[0].Text))
	}
	row := func(label, value string) { out.Printf("  %s %s\n", screen.Faint(pad(label, 8)), value) }
	if d.Kind == policy.Select {
		row("option", optionText(d))
	}
	if d.Server != "" {
		row("server", document.Printable(d.Server))
		row("tool", document.Printable(d.Tool))
	}
	if d.Response != nil {
		row("response", document.Printable(string(d.Response)))
	}
}

// optionText is the option's id and kind. The id is the agent's, so it is shown with care.
func optionText(d policy.Decision) string {
	text := document.Printable(d.OptionID)
	if d.OptionKind != "" {
		text += " (" + d.OptionKind + ")"
	}
	return text
}
