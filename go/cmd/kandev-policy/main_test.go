package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/vectors"
)

var update = flag.Bool("update", false, "write the golden files anew")

// command and agent are the built programs.
var command, agent string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// A program with the race detector otherwise waits for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	folder, err := os.MkdirTemp("", "kandev-policy-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	command, agent = filepath.Join(folder, "kandev-policy"), filepath.Join(folder, "agent")
	for program, source := range map[string]string{command: ".", agent: "./testdata/agent"} {
		build := []string{"build", "-o", program}
		if raceEnabled {
			build = append(build, "-race")
		}
		if output, err := exec.Command("go", append(build, source)...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building %s: %v\n%s", source, err, output)
			return 1
		}
	}
	return m.Run()
}

// result is what a run of the command left behind.
type result struct {
	out, err string
	status   int
}

// kandev runs the command without a terminal, in a folder.
func kandev(t *testing.T, folder, stdin string, args ...string) result {
	t.Helper()
	program := exec.Command(command, args...)
	program.Dir = folder
	program.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	program.Stdout, program.Stderr = &out, &errs
	err := program.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), program.ProcessState.ExitCode()}
}

// kandevTo runs the command with its standard output in a file.
func kandevTo(t *testing.T, folder, path string, args ...string) result {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	program := exec.Command(command, args...)
	program.Dir = folder
	var errs bytes.Buffer
	program.Stdout, program.Stderr = file, &errs
	_ = program.Run() // the status says it
	return result{"", errs.String(), program.ProcessState.ExitCode()}
}

// want checks all of a result.
func (r result) want(t *testing.T, status int, out, errs string) {
	t.Helper()
	if r.status != status || r.out != out || r.err != errs {
		t.Errorf("got status %d\nstdout %q\nstderr %q\nwant status %d\nstdout %q\nstderr %q",
			r.status, r.out, r.err, status, out, errs)
	}
}

// golden compares with a file of testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", path, got, want)
	}
}

// write makes files in a new folder.
func write(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func readVectors(t *testing.T, pattern string) []vectors.Vector {
	t.Helper()
	list, err := vectors.Read("../../../tests/vectors", pattern)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// vector gives one vector by its id.
func vector(t *testing.T, id string) vectors.Vector {
	t.Helper()
	topic, _, _ := strings.Cut(id, "/")
	for _, v := range readVectors(t, topic+".jsonl") {
		if v.ID == id {
			return v
		}
	}
	t.Fatalf("no vector %s", id)
	return vectors.Vector{}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

const (
	injectedConfig = `{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}`
	reviewerConfig = `{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}`
	goodFrame      = `{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`
	selected       = `{"decision":"select","reason":"injected_mcp","option_id":"yes","option_kind":"allow_once","server":"kandev","tool":"list_tasks"}`
	malformed      = `{"decision":"ask","reason":"malformed_frame"}`
	badConfig      = `{"decision":"ask","reason":"malformed_config"}`
)
