//go:build unix

package main_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// onTerminal runs the command with standard error, and maybe standard output, on a terminal of 100 columns, and gives
// what the terminal and the other output got.
func onTerminal(t *testing.T, withOut bool, env []string, args ...string) (screen, out string) {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 50, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	program := exec.Command(command, args...)
	program.Env = append(os.Environ(), append([]string{"TERM=xterm-256color"}, env...)...)
	var plain bytes.Buffer
	program.Stderr, program.Stdout = tty, &plain
	if withOut {
		program.Stdout = tty
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(terminal) // ends with an error when the last holder closes
		shown <- string(text)
	}()
	if err := program.Wait(); err != nil {
		t.Fatal(err)
	}
	return <-shown, plain.String()
}

// TestColour is for terminals only, and not for those who don't want it.
func TestColour(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "f.json": goodFrame, "r.ndjson": goodFrame})
	config, frame := filepath.Join(folder, "c.json"), filepath.Join(folder, "f.json")
	const green, plain = "\x1b[1;32mselect\x1b[m", "select"
	for _, subcommand := range []string{"decide", "explain", "replay"} {
		args := []string{subcommand, "-c", config, frame}
		if shown, _ := onTerminal(t, true, nil, args...); !strings.Contains(shown, strings.TrimSuffix(green, "\x1b[m")) {
			t.Errorf("%s: no colour in %q", subcommand, shown)
		}
		for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
			shown, _ := onTerminal(t, true, []string{env}, args...)
			if !strings.Contains(shown, plain) || strings.Contains(shown, "\x1b[1;32m") || strings.Contains(shown, "\x1b[36m") {
				t.Errorf("%s %s: colour in %q", env, subcommand, shown)
			}
		}
		if _, out := onTerminal(t, false, nil, args...); strings.Contains(out, "\x1b") || !strings.Contains(out, plain) {
			t.Errorf("%s: escape sequences in a pipe: %q", subcommand, out)
		}
	}
	if shown, _ := onTerminal(t, true, nil, "decide", "--json", "-c", config, frame); shown != selected+"\r\n" {
		t.Errorf("--json shows %q", shown)
	}
}

// TestProgress wants the bar on a terminal, not among the rows on one, and nothing of it in a pipe.
func TestProgress(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "r.ndjson": strings.Repeat(goodFrame+"\n", 20000)})
	config, recording := filepath.Join(folder, "c.json"), filepath.Join(folder, "r.ndjson")
	shown, out := onTerminal(t, false, nil, "replay", "-c", config, "--summary", recording)
	if !strings.Contains(shown, "replay") || !strings.Contains(shown, "%") || strings.Contains(out, "%") {
		t.Errorf("terminal %q, output %q", shown, out)
	}
	if shown, _ = onTerminal(t, true, nil, "replay", "-c", config, recording); strings.Contains(shown, "%") {
		t.Error("a bar among the rows")
	}
	if r := kandev(t, folder, "", "replay", "-c", config, "--summary", recording); r.err != "" {
		t.Errorf("%q in a pipe", r.err)
	}
}
