// Package screen writes for people: styled on a terminal, plain elsewhere, wrapped to the width.
package screen

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// The styles. The writer takes out what the output can't show, so they are used without asking.
var (
	good   = lipgloss.NewStyle().Foreground(lipgloss.Green).Bold(true)
	bad    = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	wait   = lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true)
	strong = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	code   = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
)

// Screen is an output. The first error of writing is kept and given by Err.
type Screen struct {
	w     io.Writer
	width int
	err   error
}

// New makes a screen of a file. Colours follow NO_COLOR, CLICOLOR_FORCE and TERM.
func New(file *os.File) *Screen { return NewBuffered(file, file) }

// NewBuffered makes a screen of a file that is written to through w.
func NewBuffered(file *os.File, w io.Writer) *Screen {
	width := 80
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		width = min(max(columns, 40), 100)
	}
	profile := colorprofile.Detect(file, os.Environ())
	return &Screen{w: &colorprofile.Writer{Forward: w, Profile: profile}, width: width}
}

// IsTerminal says whether a person looks at the file.
func IsTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// Printf writes one formatted text.
func (s *Screen) Printf(format string, values ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, values...)
	}
}

// Err is the first error of writing.
func (s *Screen) Err() error { return s.err }

// Paragraph writes text, wrapped between words, each line behind the indent. A word is never broken: it may be a tool's
// name, which somebody copies.
func (s *Screen) Paragraph(indent int, text string) {
	margin, line, width := strings.Repeat(" ", indent), "", 0
	for _, word := range strings.Fields(text) {
		w := lipgloss.Width(word)
		if line != "" && indent+width+1+w > s.width {
			s.Printf("%s%s\n", margin, line)
			line, width = "", 0
		}
		if line != "" {
			line, width = line+" ", width+1
		}
		line, width = line+word, width+w
	}
	s.Printf("%s%s\n", margin, line)
}

// Heading writes a heading behind an empty line.
func (s *Screen) Heading(text string) { s.Printf("\n%s\n", strong.Render(text)) }

// Decision styles a decision's word: green for an approval, yellow where it is left to a person, red for a refusal.
func Decision(word, text string) string {
	switch word {
	case "select", "allow":
		return good.Render(text)
	case "ask":
		return wait.Render(text)
	default:
		return bad.Render(text)
	}
}

// Passed and Stopped are the marks of a step.
func Passed() string { return good.Render("✓") }

// Stopped marks the step that made the decision, in the colour of the decision's word.
func Stopped(word string) string {
	if word == "select" || word == "allow" {
		return Decision(word, "✓")
	}
	return Decision(word, "✗")
}

// Strong and Faint style text.
func Strong(text string) string { return strong.Render(text) }

// Faint styles what matters less.
func Faint(text string) string { return faint.Render(text) }

var quoted = regexp.MustCompile("`[^`]+`")

// Code styles each `code` in a text.
func Code(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(word string) string { return code.Render(word) })
}
