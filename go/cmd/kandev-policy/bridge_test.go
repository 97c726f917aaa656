package main_test

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// TestBridge types into a bridge: mint, ask, answer, revoke.
func TestBridge(t *testing.T) {
	program := exec.Command(command, "bridge", "--enable", "codex")
	in, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var records strings.Builder
	program.Stderr = &records
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	line := func(typed string) string {
		t.Helper()
		if typed != "" {
			if _, err := io.WriteString(in, typed+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if !lines.Scan() {
			t.Fatal("no more output")
		}
		return lines.Text()
	}
	shared := strings.TrimPrefix(line(""), "shared ")
	words := strings.Fields(line("mint codex KCAP-Review kcap-review"))
	if len(words) != 5 || words[0] != "reviewer" || words[1] != "1" || words[2] != "codex" || words[4] != "kcap-review" {
		t.Fatalf("%q", words)
	}
	reviewer := words[3]
	post := func(url, body string) (int, string) {
		t.Helper()
		response, err := http.Post(url+"/codex/permission-request", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(text) + "\n"
	}
	if status, answer := post(reviewer, hookPayload); status != 200 || answer != hookAllowed {
		t.Error(status, answer)
	}
	if got := line("n"); got != "nobody asks" {
		t.Error(got)
	}
	for typed, want := range map[string]string{"y": hookAllowed, "n": strings.Replace(hookDenied, "The permission bridge gave no answer, so the request was denied.", "The person denied the request.", 1)} {
		answered := make(chan string)
		go func() {
			_, answer := post(shared, `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"a\u001b[2J"}}`)
			answered <- answer
		}()
		if got := line(""); got != `codex asks about Bash {"command":"a\u001b[2J"}  y or n?` {
			t.Errorf("%q", got)
		}
		if _, err := io.WriteString(in, typed+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-answered; got != want {
			t.Error(got)
		}
	}
	for typed, want := range map[string]string{
		"mint codex kcap-flows": `bridge: policy: refused: allowlist[0]: "kcap-flows" starts flows, so no reviewer may be bound to it`,
		"mint claude":           `bridge: policy: refused: the vendor "claude" is not enabled`,
		"revoke 7":              "there is no reviewer 7",
		"what":                  "mint VENDOR [SERVER…], revoke NUMBER, list, y, n, quit",
	} {
		if got := line(typed); got != want {
			t.Errorf("%s: %q", typed, got)
		}
	}
	if first, second := line("list"), line(""); first != strings.Join(words, " ") || second != "1 reviewer" {
		t.Errorf("%q, %q", first, second)
	}
	if got := line("revoke 1"); got != "revoked 1" {
		t.Error(got)
	}
	if status, answer := post(reviewer, hookPayload); status != 404 {
		t.Error(status, answer)
	}
	if _, err := io.WriteString(in, "quit\n"); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	for _, url := range []string{shared, reviewer} {
		if strings.Contains(records.String(), url[strings.LastIndexByte(url, '/')+1:]) {
			t.Error("a token is among the records")
		}
	}
	if got := strings.Count(records.String(), `msg="permission request"`); got != 3 {
		t.Errorf("%d records:\n%s", got, records.String())
	}
}

func TestBridgeRefusesWhatItCantUse(t *testing.T) {
	folder := write(t, map[string]string{"bad.json": `{"servers":[],"result_channel":{"server":"","tools":[]}}`, "cut.json": `{"servers":`})
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"--enable", "gemini"}, "kandev-policy: bridge: policy: bad config: enabled_vendors[0]: expected \"codex\" or \"claude\"\n"},
		{[]string{"--catalog", "bad.json"}, "kandev-policy: bridge: policy: bad config: catalog"},
		{[]string{"--catalog", "cut.json"}, "kandev-policy: cut.json:1:12: "},
		{[]string{"--catalog", "none.json"}, "kandev-policy: none.json: no such file or directory\n"},
	} {
		r := kandev(t, folder, "", append([]string{"bridge"}, c.args...)...)
		if r.status != 2 || r.out != "" || !strings.HasPrefix(r.err, c.err) {
			t.Errorf("%q: status %d, %q, %q", c.args, r.status, r.out, r.err)
		}
	}
	// The end of input ends it.
	if r := kandev(t, folder, "", "bridge"); r.status != 0 || !strings.HasPrefix(r.out, "shared http://127.0.0.1:") {
		t.Errorf("status %d, %q", r.status, r.err)
	}
}
