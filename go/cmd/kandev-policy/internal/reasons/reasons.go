// Package reasons is docs/reasons.md: what each reason code means to a user.
package reasons

import (
	_ "embed"
	"strings"
)

//go:generate cp ../../../../../docs/reasons.md reasons.md

//go:embed reasons.md
var markdown string

// Page is where the text stands for readers of the project.
const Page = "docs/reasons.md"

// Reason is what the page says about one code.
type Reason struct {
	Code string
	// Paragraphs are in the page's order; the first one says what the code means and has no label.
	Paragraphs []Paragraph
}

// Paragraph is one of Reason's, without Markdown but for `code`.
type Paragraph struct {
	Label string // such as "What to do"
	Text  string // on one line
}

// Different is the label of the paragraph on what would have to be different.
const Different = "What would have to be different"

var all = parse(markdown)

// All gives every reason, in the page's order.
func All() []Reason { return all }

// Find gives what the page says about a code.
func Find(code string) (Reason, bool) {
	for _, reason := range all {
		if reason.Code == code {
			return reason, true
		}
	}
	return Reason{}, false
}

// Labelled gives the text of the paragraph with a label.
func (r Reason) Labelled(label string) string {
	for _, paragraph := range r.Paragraphs {
		if paragraph.Label == label {
			return paragraph.Text
		}
	}
	return ""
}

// parse reads a page whose second-level headings are the codes.
func parse(page string) []Reason {
	var reasons []Reason
	inside := false
	for _, block := range strings.Split(page, "\n\n") {
		block = strings.TrimSpace(block)
		switch {
		case strings.HasPrefix(block, "## "):
			reasons = append(reasons, Reason{Code: strings.TrimPrefix(block, "## ")})
			inside = true
		case strings.HasPrefix(block, "# "):
			inside = false
		case inside && block != "":
			last := &reasons[len(reasons)-1]
			last.Paragraphs = append(last.Paragraphs, paragraph(block))
		}
	}
	return reasons
}

func paragraph(block string) Paragraph {
	text := strings.Join(strings.Fields(block), " ")
	if rest, ok := strings.CutPrefix(text, "**"); ok {
		if label, text, ok := strings.Cut(rest, ":** "); ok {
			return Paragraph{Label: label, Text: text}
		}
	}
	return Paragraph{Text: text}
}
