package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/tally"
	"github.com/kandev/kandev-policy/go/policy"
)

// rows is the output of a replay.
type rows interface {
	write(row) error
	finish(*tally.Tally) error
}

func newRows(out *os.File, options replayOptions) rows {
	if options.json {
		return &jsonLines{w: bufio.NewWriterSize(out, 1<<16), silent: options.summary}
	}
	w := bufio.NewWriterSize(out, 1<<16)
	return &table{w: w, screen: screen.NewBuffered(out, w), silent: options.summary}
}

// jsonLines writes one JSON object a line.
type jsonLines struct {
	w      *bufio.Writer
	silent bool
}

func (j *jsonLines) write(r row) error {
	if j.silent {
		return nil
	}
	_, err := j.w.Write(appendRow(nil, r))
	return err
}

// appendRow writes a row by hand, so that the decision stays the library's bytes.
func appendRow(line []byte, r row) []byte {
	file, _ := json.Marshal(r.File) // a string always marshals
	line = append(append(line, `{"file":`...), file...)
	line = strconv.AppendInt(append(line, `,"line":`...), int64(r.Line), 10)
	line = appendDecision(append(line, `,"decision":`...), r.Decision)
	if r.Against != nil {
		line = appendDecision(append(line, `,"against":`...), *r.Against)
	}
	return append(line, '}', '\n')
}

func appendDecision(line []byte, d policy.Decision) []byte {
	json, _ := d.MarshalJSON() // which never fails
	return append(line, json...)
}

func (j *jsonLines) finish(sum *tally.Tally) error {
	encoder := json.NewEncoder(j.w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]*tally.Tally{"summary": sum}); err != nil {
		return err
	}
	return j.w.Flush()
}

// table writes rows in columns whose widths are fixed, since the rows to come aren't known.
type table struct {
	w      *bufio.Writer
	screen *screen.Screen
	silent bool
	begun  bool
}

func (t *table) write(r row) error {
	if t.silent {
		return nil
	}
	if !t.begun {
		t.begun = true
		t.screen.Printf("%s\n", screen.Strong(cell("LINE", placeWidth)+cell("DECISION", decisionWidth)+
			cell("REASON", reasonWidth)+cell("TOOL", toolWidth)+"OPTION"))
	}
	t.line(fmt.Sprintf("%s:%d", r.File, r.Line), r.Decision)
	if r.Against != nil {
		t.line("  against", *r.Against)
	}
	return t.screen.Err()
}

func (t *table) line(place string, d policy.Decision) {
	word, tool, option := d.Kind.String(), "", ""
	if d.Server != "" {
		tool = tally.Tool(d)
	}
	if d.Kind == policy.Select {
		option = optionText(d)
	}
	rest := strings.TrimRight(cell(string(d.Reason), reasonWidth)+cell(tool, toolWidth)+option, " ")
	t.screen.Printf("%s%s%s\n", cell(place, placeWidth), screen.Decision(word, cell(word, decisionWidth)), rest)
}

const (
	placeWidth    = 28
	decisionWidth = 9
	reasonWidth   = 25
	toolWidth     = 40
)

// cell fills a text up to its column's width; a longer one pushes the others to the right.
func cell(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 1))
}

func (t *table) finish(sum *tally.Tally) error {
	if t.begun {
		t.screen.Printf("\n")
	}
	showSummary(t.screen, sum)
	if err := t.screen.Err(); err != nil {
		return err
	}
	return t.w.Flush()
}

// showSummary writes a tally for people.
func showSummary(out *screen.Screen, sum *tally.Tally) {
	out.Printf("%s\n", screen.Strong(fmt.Sprintf("%s in %s: %s, %s, %s",
		count(sum.Lines, "line"), count(sum.Files, "file"), count(sum.Requests, "request"),
		count(sum.Other, "other message"), count(sum.Bad, "bad line"))))
	group := func(name string, counts map[string]int) {
		if len(counts) == 0 {
			return
		}
		out.Heading(name)
		for _, entry := range tally.Sorted(counts) {
			out.Printf("  %8d  %s\n", entry.Count, entry.Name)
		}
	}
	group("By decision", sum.Decision)
	group("By reason", sum.Reason)
	group("By tool", sum.Tool)
	if sum.Changed != nil {
		out.Heading(fmt.Sprintf("The other config would change %d of %s", *sum.Changed, count(sum.Requests, "decision")))
		for _, entry := range tally.Sorted(sum.Changes) {
			out.Printf("  %8d  %s\n", entry.Count, entry.Name)
		}
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
