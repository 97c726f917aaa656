package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/reasons"
)

// TestReasonsAgree keeps the page, the copy in this command, the Go package and the header in step.
func TestReasonsAgree(t *testing.T) {
	page := read(t, "../../../docs/reasons.md")
	if page != read(t, "internal/reasons/reasons.md") {
		t.Error("the copy of docs/reasons.md is an old one: run go generate ./...")
	}
	var documented []string
	for _, reason := range reasons.All() {
		documented = append(documented, reason.Code)
	}
	slices.Sort(documented)
	if got := goReasons(t); !slices.Equal(got, documented) {
		t.Errorf("package policy has\n%v\nthe page has\n%v", got, documented)
	}
	if got := headerReasons(t); !slices.Equal(got, documented) {
		t.Errorf("the header has\n%v\nthe page has\n%v", got, documented)
	}
}

// TestReasonsAreComplete wants the same paragraphs for each code, and links that lead somewhere.
func TestReasonsAreComplete(t *testing.T) {
	want := []string{"", "Typical causes", reasons.Different, "What to do", "Who is to blame"}
	for _, reason := range reasons.All() {
		var labels []string
		for _, paragraph := range reason.Paragraphs {
			labels = append(labels, paragraph.Label)
			if len(paragraph.Text) < 7 || !strings.HasSuffix(paragraph.Text, ".") {
				t.Errorf("%s: %q is no sentence", reason.Code, paragraph.Text)
			}
		}
		if !slices.Equal(labels, want) {
			t.Errorf("%s: paragraphs %q, want %q", reason.Code, labels, want)
		}
	}
	for _, reason := range reasons.All() {
		if !strings.Contains(read(t, "../../../docs/reasons.md"), "["+reason.Code+"](#"+reason.Code+")") {
			t.Errorf("%s is not in the page's list", reason.Code)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(read(t, "../../../docs/reasons.md"), -1) {
		if _, ok := reasons.Find(link[1]); !ok {
			t.Errorf("a link leads to #%s, which isn't there", link[1])
		}
	}
}

// goReasons gives the constants of type Reason, sorted.
func goReasons(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "../../policy/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Reason" {
			for _, value := range spec.Values {
				word, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				words = append(words, word)
			}
		}
		return true
	})
	slices.Sort(words)
	return words
}

func headerReasons(t *testing.T) []string {
	var words []string
	header := read(t, "../../../include/kandev_policy.h")
	for _, match := range regexp.MustCompile(`(?m)^ *KANDEV_POLICY_REASON_([A-Z_]+) = \d+,$`).FindAllStringSubmatch(header, -1) {
		words = append(words, strings.ToLower(match[1]))
	}
	slices.Sort(words)
	return words
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
