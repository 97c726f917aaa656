package main_test

import (
	"bufio"
	"context"
	"fmt"
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
	number := 1
	for typed, want := range map[string]string{"y": hookAllowed, "n": strings.Replace(hookDenied, "The permission bridge gave no answer, so the request was denied.", "The person denied the request.", 1)} {
		answered := make(chan string)
		go func() {
			_, answer := post(shared, `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"a\u001b[2J"}}`)
			answered <- answer
		}()
		if got := line(""); got != fmt.Sprintf(`%d: codex asks about Bash {"command":"a\u001b[2J"}  y %[1]d or n %[1]d?`, number) {
			t.Errorf("%q", got)
		}
		if _, err := io.WriteString(in, typed+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-answered; got != want {
			t.Error(got)
		}
		if got := line(""); got != fmt.Sprintf("%s %d", map[string]string{"y": "allowed", "n": "denied"}[typed], number) {
			t.Error(got)
		}
		number++
	}
	for typed, want := range map[string]string{
		"mint codex kcap-flows": `bridge: policy: refused: allowlist[0]: "kcap-flows" starts flows, so no reviewer may be bound to it`,
		"mint claude":           `bridge: policy: refused: the vendor "claude" is not enabled`,
		"revoke 7":              "there is no reviewer 7",
		"y 1":                   "there is no open request 1",
		"y \x1b[2J":             `there is no open request "\x1b[2J"`,
		"what":                  "mint VENDOR [SERVER…], revoke NUMBER, list, y NUMBER, n NUMBER, show NUMBER, quit",
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
	if text := records.String(); strings.Count(text, "level=INFO ") != 3 ||
		strings.Count(text, `level=DEBUG msg="permission request" decision=deny reason=not_found status=404 `) != 1 {
		t.Error(text)
	}
	for _, url := range []string{shared, reviewer} {
		if strings.Contains(records.String(), url[strings.LastIndexByte(url, '/')+1:]) {
			t.Error("a token is among the records")
		}
	}
	if got := strings.Count(records.String(), `msg="permission request"`); got != 4 {
		t.Errorf("%d records:\n%s", got, records.String())
	}
}

// TestBridgeAnswersWhatThePersonRead: an answer goes to the question that it is meant for, or to none.
func TestBridgeAnswersWhatThePersonRead(t *testing.T) {
	program := exec.CommandContext(t.Context(), command, "bridge")
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
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	read := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("no more output")
		}
		return lines.Text()
	}
	expect := func(typed string, want ...string) {
		t.Helper()
		if typed != "" {
			if _, err := io.WriteString(in, typed+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range want {
			if got := read(); got != want {
				t.Fatalf("%s: %q, want %q", typed, got, want)
			}
		}
	}
	shared := strings.TrimPrefix(read(), "shared ")
	post := func(ctx context.Context, input string) <-chan string {
		answer := make(chan string, 1)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, shared+"/codex/permission-request",
			strings.NewReader(`{"session_id":"s","tool_name":"Bash","tool_input":`+input+`}`))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				answer <- "none"
				return
			}
			defer response.Body.Close()
			text, _ := io.ReadAll(response.Body)
			answer <- string(text) + "\n"
		}()
		return answer
	}
	answered := func(answer <-chan string, want string) {
		t.Helper()
		if got := <-answer; !strings.Contains(got, want) {
			t.Fatalf("%s, want %s", got, want)
		}
	}

	// The older of two expires: a bare answer may be meant for it.
	impatient, leave := context.WithCancel(t.Context())
	first := post(impatient, `"ls"`)
	expect("", `1: codex asks about Bash "ls"  y 1 or n 1?`)
	second := post(t.Context(), `"rm"`)
	expect("", `2: codex asks about Bash "rm"  y 2 or n 2?`)
	expect("y", "which one? Say y and its number")
	leave()
	answered(first, "none")
	expect("", "1 has expired: the agent no longer waits")
	expect("y", "which one? Say y and its number")
	expect("y 1", "there is no open request 1")
	// Two others come, and the newest is answered: the one that is left was not shown last.
	third := post(t.Context(), `"id"`)
	expect("", `3: codex asks about Bash "id"  y 3 or n 3?`)
	expect("n 3", "denied 3")
	answered(third, `"behavior":"deny"`)
	expect("y", "which one? Say y and its number")
	expect("y 2", "allowed 2")
	answered(second, `"behavior":"allow"`)
	expect("y", "nobody asks")
	// An input that is cut says so, and is shown whole.
	long := `"` + strings.Repeat("x", 3000) + `; rm"`
	fourth := post(t.Context(), long)
	expect("", `4: codex asks about Bash `+long[:2000]+`…  y 4 or n 4?`, "4: these are the first 2000 of 3006 bytes; show 4 shows all")
	expect("show 4", long)
	expect("n", "denied 4")
	answered(fourth, `"behavior":"deny"`)
	expect("show 4", "there is no open request 4")
	in.Close()
	if err := program.Wait(); err != nil {
		t.Error(err)
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
