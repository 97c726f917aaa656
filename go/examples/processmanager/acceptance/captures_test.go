package acceptance

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// capture is a frame that a released agent has sent, byte for byte, and what the contract answers to it.
type capture struct {
	ID       string          `json:"id"`
	Agent    string          `json:"agent"`
	Scenario string          `json:"scenario"`
	Config   json.RawMessage `json:"config"`
	Frame    string          `json:"input"`
	Expect   struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		OptionID string `json:"option_id"`
		Tool     string `json:"tool"`
	} `json:"expect"`
}

// protocol is the version of ACP that the frame is in.
func (c capture) protocol() int {
	if strings.Contains(c.ID, "-v2/") {
		return 2
	}
	return 1
}

// release is the agent's release with the protocol, such as 0.101.0-v1.
func (c capture) release() string {
	topic, _, _ := strings.Cut(c.ID, "/")
	return strings.TrimPrefix(topic, "acp-capture-claude-agent-acp-")
}

// with is the same capture with another frame.
func (c capture) with(slug, frame string) capture {
	c.ID, c.Frame = c.ID+"+"+slug, frame
	return c
}

// sessionID is the session that the frame belongs to.
func (c capture) sessionID(t testing.TB) string {
	t.Helper()
	var params struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal([]byte(c.Frame), &params); err != nil || params.SessionID == "" {
		t.Fatalf("%s: no session in the frame: %v", c.ID, err)
	}
	return params.SessionID
}

// captures reads the recorded frames that a filter takes. Finding none is a failure: a test without cases shows nothing.
func captures(t testing.TB, take func(capture) bool) []capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "tests", "vectors", "acp-capture-*.jsonl"))
	if err != nil || len(files) < 4 {
		t.Fatalf("found %d files of captured frames (%v), want at least 4", len(files), err)
	}
	var out []capture
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var c capture
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if take(c) {
				out = append(out, c)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) == 0 {
		t.Fatal("no captured frame fits")
	}
	return out
}

// scenario takes frames by the beginnings of their scenarios: 1_ a plan update, 2_ creating and deleting, 3_ ambiguous
// names, 4_ a third-party server, 5_ shell and files, 6_ servers of a repository or a user, 7_ look-alikes, 8_ spoofed
// inputs, D_ a shell command with an exact title.
func scenario(prefixes ...string) func(capture) bool {
	return func(c capture) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(c.Scenario, p) })
	}
}

// one is the capture of a release and scenario.
func one(t testing.TB, release, name string) capture {
	t.Helper()
	return captures(t, func(c capture) bool { return c.release() == release && c.Scenario == name })[0]
}

// replace changes the one place in a frame that it names.
func (c capture) replace(t testing.TB, slug, old, new string) capture {
	t.Helper()
	if n := strings.Count(c.Frame, old); n != 1 {
		t.Fatalf("%s: %q is there %d times, want once", c.ID, old, n)
	}
	return c.with(slug, strings.Replace(c.Frame, old, new, 1))
}

// options gives the frame other options.
func (c capture) options(t testing.TB, slug, options string) capture {
	t.Helper()
	return c.replace(t, slug, c.rawOptions(t), options)
}

func (c capture) rawOptions(t testing.TB) string {
	t.Helper()
	var params struct {
		Options json.RawMessage `json:"options"`
	}
	if err := json.Unmarshal([]byte(c.Frame), &params); err != nil {
		t.Fatal(err)
	}
	return string(params.Options)
}

// reversed is the frame with its options the other way round.
func (c capture) reversed(t testing.TB) capture {
	t.Helper()
	var options []json.RawMessage
	if err := json.Unmarshal([]byte(c.rawOptions(t)), &options); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(options)
	raw, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	return c.options(t, "reversed", string(raw))
}
