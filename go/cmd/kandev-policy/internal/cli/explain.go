package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/reasons"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/trace"
	"github.com/kandev/kandev-policy/go/policy"
)

func newExplain(streams Streams) *cobra.Command {
	var configPath string
	var asJSON bool
	command := &cobra.Command{
		Use:   "explain --config FILE FRAME",
		Short: "Decide one permission request, and say why",
		Long: `Decide one permission request, and say why: each step, what it looked at and what it found, what would have
to be different, and what to do.

` + inputHelp,
		Example: `  kandev-policy explain --config config.json frame.json
  kandev-policy explain --config config.json --json frame.json | jq .trace
  kandev-policy explain --config reviewer.json - < hook-payload.json`,
		Args: frameArgument,
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := readInputs(streams, configPath, args[0])
			if err != nil {
				return err
			}
			explanation, err := policy.ExplainJSON(in.request.Bytes, in.config.Bytes)
			if err != nil {
				warnWithoutEngine(streams)
			}
			problem := in.check(explanation.Decision)
			json, _ := explanation.MarshalJSON() // which never fails
			return write(streams, asJSON, json, problem, func(out *screen.Screen) { showExplanation(out, explanation) })
		},
	}
	configFlag(command, &configPath)
	command.Flags().BoolVar(&asJSON, "json", false, "write the explanation's JSON")
	return command
}

// showExplanation writes an explanation for people.
func showExplanation(out *screen.Screen, e policy.Explanation) {
	showDecision(out, e.Decision)
	if len(e.Trace) > 0 {
		out.Heading("Steps")
	}
	for _, step := range e.Trace {
		showStep(out, step, e.Decision)
	}
	reason, ok := reasons.Find(string(e.Decision.Reason))
	if !ok {
		return
	}
	out.Heading(reasons.Different)
	out.Paragraph(2, screen.Code(sentence(reason.Labelled(reasons.Different))))
	for _, paragraph := range reason.Paragraphs[1:] {
		if paragraph.Label == reasons.Different {
			continue
		}
		out.Heading(paragraph.Label)
		out.Paragraph(2, screen.Code(sentence(paragraph.Text)))
	}
	out.Printf("\n%s\n", screen.Faint("More: "+reasons.Page+"#"+reason.Code))
}

func showStep(out *screen.Screen, step policy.Step, d policy.Decision) {
	const indent = 22
	mark, outcome := screen.Passed(), step.Outcome
	if step.Outcome == "stopped" {
		mark, outcome = screen.Stopped(d.Kind.String()), "stopped: "+step.Facts["reason"]
		if d.Kind == policy.Allow || d.Kind == policy.Select {
			outcome = "decided: " + step.Facts["reason"]
		}
	}
	out.Printf("  %s %s %s\n", mark, screen.Strong(pad(step.Step, indent-5)), outcome)
	out.Paragraph(indent, screen.Faint("looked at ")+screen.Code(trace.Looked(step, d.Status != 0)))
	if found := trace.Finding(step); found != "" {
		out.Paragraph(indent, screen.Faint("found ")+screen.Code(found))
	}
}

// sentence begins with a capital letter, as a paragraph of its own does.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// pad fills up with spaces on the right.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-len(text), 0))
}
