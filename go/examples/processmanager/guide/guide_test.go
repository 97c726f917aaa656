// Package guide follows the adoption guide, docs/kandev.md: it puts the guide's code blocks into a stand-in of Kandev's
// manager, in an empty module with a replace line, and runs it.
package guide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of the guide with the comment in front of it.
type block struct {
	comment, language, code string
}

var fence = regexp.MustCompile("(?s)(?:<!-- ([^\n]*?) -->\n)?```([a-z]+)\n(.*?)\n```")

func blocks(t *testing.T) []block {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "kandev.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	for _, m := range fence.FindAllSubmatch(page, -1) {
		out = append(out, block{string(m[1]), string(m[2]), string(m[3])})
	}
	if fences := bytes.Count(page, []byte("\n```")); fences != 2*len(out) {
		t.Fatalf("%d fences, but %d blocks were understood", fences, len(out))
	}
	return out
}

var (
	newFile = regexp.MustCompile(`^file (\S+)$`)
	replace = regexp.MustCompile(`^replace (type|func) (\w+) in (\S+)$`)
)

// module makes an empty module as the guide's first section says, with the stand-in in it.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "kandev"))); err != nil {
		t.Fatal(err)
	}
	library, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "go", "mod", "init", "github.com/kandev/kandev")
	run(t, dir, nil, "go", "mod", "edit", "-require=github.com/kandev/kandev-policy/go@v0.0.0",
		"-replace=github.com/kandev/kandev-policy/go="+library, "-require=go.uber.org/zap@"+version(t, "go.uber.org/zap"))
	// The sums of this module save the test from asking the network what it already knows.
	sums, err := os.ReadFile(filepath.Join("..", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func version(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(run(t, ".", nil, "go", "list", "-m", "-f", "{{.Version}}", path))
}

func run(t *testing.T, dir string, stdin []byte, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	if dir != "." {
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// apply makes the guide's changes and returns how many.
func apply(t *testing.T, dir string) (changes int) {
	t.Helper()
	for _, b := range blocks(t) {
		if b.comment == "" {
			continue
		}
		if b.language != "go" {
			t.Fatalf("a %s block has the comment %q", b.language, b.comment)
		}
		switch {
		case newFile.MatchString(b.comment):
			path := filepath.Join(dir, newFile.FindStringSubmatch(b.comment)[1])
			if _, err := os.Stat(path); err == nil {
				t.Fatalf("%s is there already", path)
			}
			write(t, path, b.code+"\n")
		case replace.MatchString(b.comment):
			m := replace.FindStringSubmatch(b.comment)
			replaceDecl(t, filepath.Join(dir, m[3]), m[1], m[2], b.code)
		default:
			t.Fatalf("the comment %q says nothing that this test understands", b.comment)
		}
		changes++
	}
	return changes
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// replaceDecl replaces the one declaration of that name.
func replaceDecl(t *testing.T, path, kind, name, code string) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	var from, to int
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if kind == "func" && decl.Name.Name == name {
				found, from, to = found+1, set.Position(decl.Pos()).Offset, set.Position(decl.End()).Offset
			}
		case *ast.GenDecl:
			if spec, ok := decl.Specs[0].(*ast.TypeSpec); ok && kind == "type" && spec.Name.Name == name {
				found, from, to = found+1, set.Position(decl.Pos()).Offset, set.Position(decl.End()).Offset
			}
		}
	}
	if found != 1 {
		t.Fatalf("%s has %d declarations of %s %s, want 1", path, found, kind, name)
	}
	text := string(source[:from]) + code + string(source[to:])
	if strings.Contains(code, "*policy.Policy") && !strings.Contains(text, `kandev-policy/go/policy"`) {
		text = strings.Replace(text, "\t\"go.uber.org/zap\"\n", "\t\"go.uber.org/zap\"\n\n\t\"github.com/kandev/kandev-policy/go/policy\"\n", 1)
	}
	write(t, path, text)
}

const (
	plan    = `{"sessionId":"s","toolCall":{"toolCallId":"1","name":"mcp__kandev__update_task_plan_kandev","title":"SECRET"},"options":[%s]}`
	bash    = `{"sessionId":"s","toolCall":{"toolCallId":"1","name":"Bash","title":"mcp__kandev__update_task_plan_kandev","kind":"other"},"options":[%s]}`
	titled  = `{"sessionId":"s","toolCall":{"toolCallId":"1","title":"mcp__kandev__update_task_plan_kandev","kind":"other"},"options":[%s]}`
	vetoed  = `{"sessionId":"s","toolCall":{"toolCallId":"1","name":"mcp__kandev__x","_meta":{"claudeCode":{"mcpServer":{"name":"kandev","source":"project"}}}},"options":[%s]}`
	options = `{"optionId":"no","kind":"reject_once"},{"optionId":"always","kind":"allow_always"},{"optionId":"yes","kind":"allow_once"},{"optionId":"last","kind":"reject_always"}`
)

func frame(format string, offered string) []byte { return fmt.Appendf(nil, format, offered) }

func TestTheGuideGivesAnAutomaticApproval(t *testing.T) {
	dir := module(t)
	binary := func(name string) string {
		run(t, dir, nil, "go", "build", "-o", name, ".")
		return filepath.Join(dir, name)
	}
	before := binary("before")
	if n := apply(t, dir); n != 10 {
		t.Errorf("the guide has %d changes, want 10", n)
	}
	run(t, dir, nil, "go", "vet", "./...")
	if out := run(t, dir, nil, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted after the guide's changes: %s", out)
	}
	after := binary("after")

	const rejects = `{"optionId":"no","kind":"reject_once"},{"optionId":"last","kind":"reject_always"}`
	const mine = `[{"name":"kandev","type":"http","url":"http://localhost:43210/mcp"}]`
	for name, c := range map[string]struct {
		frame         []byte
		flags         []string
		before, after string
	}{
		"a call to the injected server": {frame(plan, options), nil, "pending\nanswered with last\n", "answered with yes\n"},
		"beside other servers":          {frame(plan, options), []string{"-servers", `[{"name":"other","command":"x"}]`}, "pending\nanswered with last\n", "answered with yes\n"},
		"an exact title, for Claude":    {frame(titled, options), nil, "pending\nanswered with last\n", "answered with yes\n"},
		"an exact title, for another":   {frame(titled, options), []string{"-agent-type", "codex-acp"}, "pending\nanswered with last\n", "pending\nanswered with last\n"},
		"a shell command":               {frame(bash, options), nil, "pending\nanswered with last\n", "pending\nanswered with last\n"},
		"a veto of the agent":           {frame(vetoed, options), nil, "pending\nanswered with last\n", "pending\nanswered with last\n"},
		"no injection":                  {frame(plan, options), []string{"-port", "0", "-servers", mine}, "pending\nanswered with last\n", "pending\nanswered with last\n"},
		"only rejections":               {frame(plan, rejects), nil, "pending\nanswered with last\n", "pending\nanswered with last\n"},
		"no options":                    {frame(plan, ""), nil, "cancelled\n", "cancelled\n"},
		"blanket approval":              {frame(bash, options), []string{"-auto-approve"}, "answered with always\n", "answered with always\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := run(t, dir, c.frame, before, c.flags...); got != c.before {
				t.Errorf("before the change: %q, want %q", got, c.before)
			}
			if got := run(t, dir, c.frame, after, c.flags...); got != c.after {
				t.Errorf("after the change: %q, want %q", got, c.after)
			}
		})
	}

	// The record, as zap writes it, and nothing secret in it.
	cmd := exec.Command(after)
	cmd.Stdin = bytes.NewReader(frame(plan, options))
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(log.Bytes(), &record); err != nil {
		t.Fatalf("not one record: %v\n%s", err, &log)
	}
	delete(record, "ts")
	want := `{"level":"info","msg":"permission approved automatically","option_kind":"allow_once","reason":"injected_mcp","tool":"update_task_plan_kandev"}`
	if got, _ := json.Marshal(record); string(got) != want {
		t.Errorf("record %s, want %s", got, want)
	}
}

// A Kandev that injects another host has it in the guide's constant, and the policy expects it.
func TestTheGuideWithAnotherHost(t *testing.T) {
	dir := module(t)
	apply(t, dir)
	path := filepath.Join(dir, "internal", "agentctl", "server", "config", "config.go")
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(source, []byte("localhost")); n != 1 {
		t.Fatalf("the host stands in %d places, want the constant alone", n)
	}
	for _, host := range []string{"127.0.0.1", "host.docker.internal", "localhost"} {
		write(t, path, strings.Replace(string(source), "localhost", host, 1))
		if got := run(t, dir, frame(plan, options), "go", "run", "."); got != "answered with yes\n" {
			t.Errorf("%s: %q", host, got)
		}
	}
}

// The page's own small frame, and what the page says that it does.
func TestTheGuidesFirstSection(t *testing.T) {
	var script string
	for _, b := range blocks(t) {
		if b.language == "sh" && strings.Contains(b.code, "go mod init") {
			script = b.code
		}
	}
	if script == "" {
		t.Fatal("the guide has no first section")
	}
	project, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	setup, rest, ok := strings.Cut(script, "# now make the changes")
	_, try, ok2 := strings.Cut(rest, "\n")
	if !ok || !ok2 {
		t.Fatalf("the script does not say where the changes go:\n%s", script)
	}
	dir := t.TempDir()
	shell := func(script string) string {
		return run(t, dir, nil, "bash", "-euc", "POLICY='"+project+"'\n"+script)
	}
	shell(setup)
	// go mod tidy would ask for the newest zap; the version of this module is enough.
	run(t, dir, nil, "go", "mod", "edit", "-require=go.uber.org/zap@"+version(t, "go.uber.org/zap"))
	if got, want := shell(try), "pending\nanswered with no\n"; got != want {
		t.Errorf("before the changes: %q, want %q", got, want)
	}
	apply(t, dir)
	if got, want := shell(try), "answered with yes\n"; got != want {
		t.Errorf("after the changes: %q, want %q", got, want)
	}
}

// The blocks that are no declaration compile too.
func TestTheGuidesStatements(t *testing.T) {
	dir := module(t)
	statements := 0
	var body strings.Builder
	for _, b := range blocks(t) {
		if b.language == "go" && b.comment == "" {
			statements++
			body.WriteString("\t" + b.code + "\n")
		}
	}
	if statements == 0 {
		t.Fatal("the guide has none; this test can go")
	}
	if err := os.Mkdir(filepath.Join(dir, "statements"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "statements", "main.go"), "package main\n\nimport (\n\t\"expvar\"\n\n\t\"go.uber.org/zap\"\n\n"+
		"\t\"github.com/kandev/kandev-policy/go/policy\"\n)\n\nfunc main() {\n\tlogger := zap.NewExample()\n"+body.String()+"}\n")
	if got := run(t, dir, nil, "go", "run", "./statements"); !strings.Contains(got, `"engine":"`) || strings.Contains(got, `"none"`) {
		t.Errorf("the engine's record is %s", got)
	}
}
