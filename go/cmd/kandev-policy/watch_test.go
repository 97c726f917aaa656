//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWatchIsByteExact passes the captured traffic and arbitrary bytes through an agent that echoes.
func TestWatchIsByteExact(t *testing.T) {
	list, want := captures(t, "acp-capture-*.jsonl")
	noise := make([]byte, 3<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(noise)
	text := traffic(list)
	folder := write(t, map[string]string{"c.json": string(list[0].Config)})
	for _, input := range []string{text, text + string(noise) + "\n" + text, "", "\n", "no line feed"} {
		record := filepath.Join(t.TempDir(), "record")
		r := kandev(t, folder, input, "watch", "-c", "c.json", "--record", record, "--", agent, "echo")
		r.want(t, 7, input, "agent's own words\n")
		var got []string
		for line := range strings.Lines(read(t, record)) {
			var row struct{ Decision json.RawMessage }
			decode(t, line, &row)
			got = append(got, string(row.Decision))
		}
		var decisions []string
		for range strings.Count(input, text) {
			for _, v := range list {
				decisions = append(decisions, string(v.Expect))
			}
		}
		if strings.Join(got, "\n") != strings.Join(decisions, "\n") {
			t.Errorf("%d decisions recorded, want %d", len(got), len(decisions))
		}
	}
	// Without --record the decisions are shown on standard error, behind nothing of the agent's.
	r := kandev(t, folder, text, "watch", "-c", "c.json", agent, "echo")
	if r.out != text || r.status != 7 {
		t.Errorf("status %d, output the same: %t", r.status, r.out == text)
	}
	for reason, count := range want.Reasons {
		if got := strings.Count(r.err, "kandev-policy: "+strings.Replace(reason, ":", " ", 1)); got != count {
			t.Errorf("%s is shown %d times, want %d", reason, got, count)
		}
	}
	if last := fmt.Sprintf("kandev-policy: %d permission requests, 0 lines without a message\n", want.Requests); !strings.HasSuffix(r.err, last) {
		t.Errorf("the last line isn't %q", last)
	}
}

// TestWatchIsAsBare runs each kind of agent by itself and under watch, with the same input, and compares all that a host
// sees: both streams and the exit status.
func TestWatchIsAsBare(t *testing.T) {
	list, _ := captures(t, "acp-capture-*.jsonl")
	folder := write(t, map[string]string{"c.json": string(list[0].Config)})
	for _, kind := range []string{"echo", "burst", "close", "early"} {
		for name, input := range map[string]string{"traffic": traffic(list), "much": strings.Repeat(traffic(list), 40), "nothing": ""} {
			host := func(args ...string) (out, errs []byte, status int) {
				program := exec.Command(args[0], args[1:]...)
				program.Stdin = strings.NewReader(input)
				var stdout, stderr bytes.Buffer
				program.Stdout, program.Stderr = &stdout, &stderr
				_ = program.Run() // the agents have statuses of their own, and leave input unread
				return stdout.Bytes(), stderr.Bytes(), program.ProcessState.ExitCode()
			}
			bareOut, bareErr, bareStatus := host(agent, kind)
			out, errs, status := host(command, "watch", "-c", filepath.Join(folder, "c.json"),
				"--record", filepath.Join(folder, "record"), "--", agent, kind)
			if !bytes.Equal(out, bareOut) || !bytes.Equal(errs, bareErr) || status != bareStatus || status < 3 {
				t.Errorf("%s, %s: %d and %d bytes, want %d and %d; status %d, want %d", kind, name,
					len(out), len(errs), len(bareOut), len(bareErr), status, bareStatus)
			}
		}
	}
}

// TestWatchHoldsNothingBack wants each byte to arrive at once, complete line or not, in both directions.
func TestWatchHoldsNothingBack(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig})
	program := exec.Command(command, "watch", "-c", filepath.Join(folder, "c.json"), "--record", filepath.Join(folder, "record"), "--", agent, "echo")
	in, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"a", goodFrame[:10], goodFrame[10:], "\n", "\x00", "b\n\n"} {
		if _, err := io.WriteString(in, piece); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != piece {
			t.Fatalf("got %q, %v, want %q", got, err, piece)
		}
	}
	in.Close()
	_ = program.Wait()
	if status := program.ProcessState.ExitCode(); status != 7 {
		t.Errorf("exit status %d", status)
	}
}

// TestWatchForwardsSignals sends each signal to the command, and wants the agent's answer and exit status.
func TestWatchForwardsSignals(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig})
	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		program := exec.Command(command, "watch", "-c", filepath.Join(folder, "c.json"), "--", agent, "signal")
		out, err := program.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(out)
		if line, err := reader.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		if err := program.Process.Signal(sent); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(reader)
		if err != nil || string(rest) != sent.String()+"\n" {
			t.Errorf("the agent got %q, want %q", rest, sent)
		}
		_ = program.Wait()
		if status := program.ProcessState.ExitCode(); status != 42 {
			t.Errorf("%s: exit status %d, want the agent's", sent, status)
		}
	}
}

// TestWatchDiesAsTheAgent wants the same signal to be seen by the host.
func TestWatchDiesAsTheAgent(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig})
	program := exec.Command(command, "watch", "-c", filepath.Join(folder, "c.json"), "--", agent, "die")
	var out bytes.Buffer
	program.Stdout = &out
	_ = program.Run()
	status := program.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGKILL || out.String() != "ready\n" {
		t.Errorf("%v, %q", program.ProcessState, out.String())
	}
}

// TestWatchClosedOutput wants an agent whose reader has gone to find that out, as it would without us.
func TestWatchClosedOutput(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig})
	program := exec.Command(command, "watch", "-c", filepath.Join(folder, "c.json"), "--", "yes")
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	_ = program.Wait()
	if status := program.ProcessState.ExitCode(); status != 128+int(syscall.SIGPIPE) {
		t.Errorf("%v, want the agent's broken pipe", program.ProcessState)
	}
}

func TestWatchUnusable(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "reviewer.json": reviewerConfig, "bad.json": `{"port":"x"}`, "text": "no program"})
	const help = "Try 'kandev-policy watch --help'.\n"
	kandev(t, folder, "", "watch", "-c", "c.json").want(t, 2, "", "kandev-policy: requires at least 1 arg(s), only received 0\n"+help)
	kandev(t, folder, "", "watch", "-c", "-", "true").want(t, 2, "", "kandev-policy: standard input is the agent's, so the config can't come from it\n"+help)
	kandev(t, folder, "", "watch", "-c", "bad.json", "true").want(t, 2, "", "kandev-policy: bad.json:1:2: port: found string, expected integer\n")
	kandev(t, folder, "", "watch", "-c", "reviewer.json", "true").want(t, 2, "", "kandev-policy: reviewer.json: a reviewer's config; hooks don't come over ACP\n")
	kandev(t, folder, "", "watch", "-c", "c.json", "--record", "no/such", "true").want(t, 2, "", "kandev-policy: no/such: no such file or directory\n")
	for name, status := range map[string]int{"no-such-agent": 127, "./no-such-agent": 127, "./text": 126} {
		if r := kandev(t, folder, "", "watch", "-c", "c.json", name); r.status != status || !strings.HasPrefix(r.err, "kandev-policy: "+name+": can't start the agent: ") {
			t.Errorf("%s: status %d, %q", name, r.status, r.err)
		}
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		r := kandev(t, folder, goodFrame, "watch", "-c", "c.json", "--record", "/dev/full", agent, "echo")
		r.want(t, 7, goodFrame, "agent's own words\nkandev-policy: the record is incomplete: no space left on device\n")
	}
}
