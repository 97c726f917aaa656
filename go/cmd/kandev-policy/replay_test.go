package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/vectors"
)

// summary is the JSON of a replay's summary.
type summary struct {
	Files, Lines, Requests, Other, Bad int
	Changed                            *int
	Decisions, Reasons, Tools, Changes map[string]int
}

// traffic writes the captured requests as a tee on an agent's streams would record them: plain params and messages,
// among other messages in both directions.
func traffic(list []vectors.Vector) string {
	var b strings.Builder
	for i, v := range list {
		input := string(bytes.TrimSpace(v.Input))
		if i%3 == 0 {
			fmt.Fprintf(&b, "%s\n", input)
		} else {
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":%s}`+"\r\n\n", i, input)
		}
		b.WriteString(`{"jsonrpc":"2.0","method":"session/update","params":{"options":[],"toolCall":{}}}` + "\n")
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`+"\n", i)
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":"%d","error":{"code":-32601,"message":"no"}}`+"\n", i)
	}
	return b.String()
}

// captures gives the recorded frames that were decided under the first one's config, and what a replay must count.
func captures(t *testing.T, pattern string) (list []vectors.Vector, want summary) {
	all := readVectors(t, pattern)
	want = summary{Decisions: map[string]int{}, Reasons: map[string]int{}, Tools: map[string]int{}}
	for _, v := range all {
		if !bytes.Equal(v.Config, all[0].Config) {
			continue
		}
		list = append(list, v)
		var expect struct{ Server, Tool string }
		decode(t, string(v.Expect), &expect)
		tool := expect.Server + "/" + expect.Tool
		if expect.Server == "" {
			tool = "(no qualified name)"
		}
		want.Requests++
		want.Decisions[v.Decision]++
		want.Reasons[v.Decision+":"+v.Reason]++
		want.Tools[tool]++
	}
	return list, want
}

func (got summary) want(t *testing.T, want summary) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// lines splits JSON lines into the rows and the summary.
func lines(t *testing.T, out string) (rows []string, sum summary) {
	t.Helper()
	rows = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var last struct{ Summary summary }
	decode(t, rows[len(rows)-1], &last)
	return rows[:len(rows)-1], last.Summary
}

func compress(t *testing.T, text string, to func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := to(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gz(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zst(w io.Writer) io.WriteCloser {
	stream, err := zstd.NewWriter(w)
	if err != nil {
		panic(err)
	}
	return stream
}

// TestReplayCounts replays the captured frames, plain, compressed and from standard input.
func TestReplayCounts(t *testing.T) {
	list, want := captures(t, "acp-capture-*.jsonl")
	if len(list) < 100 {
		t.Fatalf("only %d captures", len(list))
	}
	want.Files, want.Other, want.Lines = 1, 3*len(list), 4*len(list)
	text := traffic(list)
	folder := write(t, map[string]string{
		"c.json": string(list[0].Config), "plain": text, "a.gz": compress(t, text, gz), "a.zst": compress(t, text, zst),
		"members.gz": compress(t, text[:1000], gz) + compress(t, text[1000:], gz), // as log rotation appends them
	})
	for _, file := range []string{"plain", "a.gz", "a.zst", "members.gz"} {
		r := kandev(t, folder, "", "replay", "-c", "c.json", "--json", "--summary", file)
		rows, sum := lines(t, r.out)
		if len(rows) > 0 || r.status != 0 || r.err != "" {
			t.Errorf("%s: status %d, %d rows, %q", file, r.status, len(rows), r.err)
		}
		sum.want(t, want)
	}
	_, sum := lines(t, kandev(t, folder, compress(t, text, zst), "replay", "-c", "c.json", "--json", "-").out)
	sum.want(t, want)

	r := kandev(t, folder, "", "replay", "-c", "c.json", "plain", "a.gz")
	if count := strings.Count(r.out, "\nplain:"); count != len(list) {
		t.Errorf("the table has %d rows, want %d", count, len(list))
	}
	if first := fmt.Sprintf("%d lines in 2 files: %d requests, %d other messages, 0 bad lines\n", 8*len(list), 2*len(list), 6*len(list)); !strings.Contains(r.out, first) {
		t.Errorf("no %q in %q", first, r.out)
	}
}

// TestReplayRows wants each row's decision to be the library's bytes.
func TestReplayRows(t *testing.T) {
	list, _ := captures(t, "acp-capture-*.jsonl")
	folder := write(t, map[string]string{"c.json": string(list[0].Config), "r.ndjson": traffic(list)})
	rows, _ := lines(t, kandev(t, folder, "", "replay", "-c", "c.json", "--json", "r.ndjson").out)
	if len(rows) != len(list) {
		t.Fatalf("%d rows, want %d", len(rows), len(list))
	}
	number := 1
	for i, v := range list {
		if want := fmt.Sprintf(`{"file":"r.ndjson","line":%d,"decision":%s}`, number, v.Expect); rows[i] != want {
			t.Errorf("got  %s\nwant %s", rows[i], want)
		}
		number += 4
		if i%3 != 0 {
			number++ // the blank line
		}
	}
}

// TestReplayHooks replays hook payloads. The policy comes from the config or from --policy.
func TestReplayHooks(t *testing.T) {
	list, want := captures(t, "hooks-capture-codex-*.jsonl")
	want.Files, want.Other, want.Lines = 1, 1, len(list)+1
	var payloads strings.Builder
	for _, v := range list {
		fmt.Fprintf(&payloads, "%s\n", bytes.TrimSpace(v.Input))
	}
	payloads.WriteString(`{"session_id":"s","tool_name":"Bash","hook_event_name":"PreToolUse"}` + "\n")
	config := string(list[0].Config)
	folder := write(t, map[string]string{
		"c.json": config, "bare.json": strings.Replace(config, `"policy":"unattended_review",`, "", 1),
		"injected.json": `{"policy":"injected_mcp"}`, "r.ndjson": payloads.String(),
	})
	for _, args := range []string{"-c c.json", "-c c.json --policy unattended_review", "-c bare.json --policy unattended_review"} {
		r := kandev(t, folder, "", append([]string{"replay", "--json", "r.ndjson"}, strings.Fields(args)...)...)
		_, sum := lines(t, r.out)
		sum.want(t, want)
	}
	kandev(t, folder, "", "replay", "-c", "injected.json", "--policy", "unattended_review", "r.ndjson").want(t, 2, "",
		"kandev-policy: injected.json:1:2: policy: the config is of another policy than --policy unattended_review\n")
	kandev(t, folder, "", "replay", "-c", "c.json", "--policy", "none", "r.ndjson").want(t, 2, "",
		"kandev-policy: --policy: \"none\" is no policy; expected injected_mcp or unattended_review\nTry 'kandev-policy replay --help'.\n")
}

// TestReplayBadLines wants bad lines to be counted and named, and to stop nothing.
func TestReplayBadLines(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "r.ndjson": strings.Join([]string{
		goodFrame,
		"",
		"[agent] starting",
		goodFrame[:40],
		`{"level":"info"}`,
		`[{"jsonrpc":"2.0"}]`,
		`{"method":"session/request_permission","params":{"toolCall":7}}`,               // a request, if a malformed one
		`{"toolCall":{"name":"mcp__kandev__x"},"toolcall":{},"options":[]}`,             // so is this
		`{"method":"session/request_permission","method":"session/request_permission"}`, // and this
		`{"method":"session/update","params":{},"method":"session/update"}`,             // another message
		strings.Repeat("x", 17<<20),
		`{"pad":"` + strings.Repeat("x", 1<<20) + `",` + goodFrame[1:],
		goodFrame, // without a line feed
	}, "\n")})
	r := kandev(t, folder, "", "replay", "--json", "-c", "c.json", "r.ndjson")
	rows, sum := lines(t, r.out)
	row := func(line int, decision string) string {
		return fmt.Sprintf(`{"file":"r.ndjson","line":%d,"decision":%s}`, line, decision)
	}
	if got, want := strings.Join(rows, "\n"), strings.Join([]string{
		row(1, selected), row(7, malformed), row(8, malformed), row(9, malformed), row(12, selected), row(13, selected),
	}, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	sum.want(t, summary{Files: 1, Lines: 12, Requests: 6, Other: 1, Bad: 5,
		Decisions: map[string]int{"ask": 3, "select": 3},
		Reasons:   map[string]int{"ask:malformed_frame": 3, "select:injected_mcp": 3},
		Tools:     map[string]int{"(no qualified name)": 3, "kandev/list_tasks": 3}})
	kandev(t, folder, "", "replay", "--json", "-c", "c.json", "r.ndjson").want(t, 0, r.out, `kandev-policy: r.ndjson:3: not JSON: unexpected character looking for beginning of value
kandev-policy: r.ndjson:4: the JSON ends too early
kandev-policy: r.ndjson:5: neither a JSON-RPC message nor the params of a permission request
kandev-policy: r.ndjson:6: expected a JSON object
kandev-policy: r.ndjson:11: longer than any frame may be (16 MiB)
`)
}

// TestReplayDeepGarbage: encoding/json gives up on what is nested more than 10,000 deep, and is no judge of it.
func TestReplayDeepGarbage(t *testing.T) {
	deep := `{"toolCall":` + strings.Repeat("[", 10001)
	folder := write(t, map[string]string{"c.json": injectedConfig, "bad.ndjson": deep + "garbage\n",
		"good.ndjson": deep + strings.Repeat("]", 10001) + "}\n"})
	r := kandev(t, folder, "", "replay", "--summary", "-c", "c.json", "--fail-on", "bad_line", "bad.ndjson")
	r.want(t, 1, r.out, "kandev-policy: bad.ndjson:1: not JSON: unexpected character looking for beginning of value\n"+
		"kandev-policy: --fail-on: bad_line (1)\n")
	r = kandev(t, folder, "", "replay", "--json", "-c", "c.json", "--fail-on", "bad_line", "good.ndjson")
	r.want(t, 0, r.out, "")
	if rows, _ := lines(t, r.out); len(rows) != 1 || rows[0] != `{"file":"good.ndjson","line":1,"decision":`+malformed+`}` {
		t.Errorf("rows %q", rows)
	}
}

// TestReplayAmbiguousMessages: what may be a request is decided, and a message is no bad line.
func TestReplayAmbiguousMessages(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "reviewer.json": reviewerConfig,
		"r.ndjson": `{"METHOD":"session/request_permission","params":{}}` + "\n" + `{"params":{},"Params":{}}` + "\n",
		"h.ndjson": "\ufeff" + `{"session_id":"","tool_name":"mcp__kcap_review__x"}` + "\n"})
	r := kandev(t, folder, "", "replay", "--json", "-c", "c.json", "--fail-on", "bad_line", "r.ndjson")
	r.want(t, 0, r.out, "")
	if rows, sum := lines(t, r.out); len(rows) != 1 || rows[0] != `{"file":"r.ndjson","line":1,"decision":`+malformed+`}` || sum.Other != 1 {
		t.Errorf("rows %q, %d other", rows, sum.Other)
	}
	r = kandev(t, folder, "", "replay", "--json", "-c", "reviewer.json", "--fail-on", "bad_line", "h.ndjson")
	r.want(t, 0, r.out, "")
	if rows, _ := lines(t, r.out); len(rows) != 1 || !strings.Contains(rows[0], `{"decision":"deny","reason":"malformed_request"`) {
		t.Errorf("rows %q", rows)
	}
}

// TestReplayAgainst shows what another config would change, and nothing else.
func TestReplayAgainst(t *testing.T) {
	other := `{"toolCall":{"name":"mcp__other__search"},"options":[{"optionId":"yes","kind":"allow_once"}]}`
	folder := write(t, map[string]string{
		"c.json": injectedConfig, "stricter.json": strings.Replace(injectedConfig, "41000", "41001", 1),
		"blanket.json": `{"auto_approve_permissions":true}`, "r.ndjson": goodFrame + "\n" + other + "\n" + goodFrame,
		"reviewer.json": reviewerConfig,
	})
	r := kandev(t, folder, "", "replay", "--json", "-c", "c.json", "--against", "stricter.json", "r.ndjson")
	rows, sum := lines(t, r.out)
	against := `,"against":{"decision":"ask","reason":"server_not_injected","server":"kandev","tool":"list_tasks"}}`
	if got, want := strings.Join(rows, "\n"), `{"file":"r.ndjson","line":1,"decision":`+selected+against+"\n"+
		`{"file":"r.ndjson","line":3,"decision":`+selected+against; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if sum.Changed == nil || *sum.Changed != 2 || sum.Changes["select:injected_mcp → ask:server_not_injected"] != 2 || sum.Requests != 3 {
		t.Errorf("summary %+v", sum)
	}
	golden(t, "replay-against.txt", kandev(t, folder, "", "replay", "-c", "c.json", "--against", "blanket.json", "r.ndjson").out)
	golden(t, "replay.txt", kandev(t, folder, "", "replay", "-c", "c.json", "r.ndjson").out)
	if r := kandev(t, folder, "", "replay", "-c", "c.json", "--against", "c.json", "--fail-on", "changed", "r.ndjson"); r.status != 0 {
		t.Errorf("the same config changes something: %q", r.err)
	}
	if r := kandev(t, folder, "", "replay", "-c", "c.json", "--against", "reviewer.json", "r.ndjson"); r.status != 2 {
		t.Errorf("two policies are compared: status %d", r.status)
	}
}

// TestReplayFailOn wants status 1 exactly when a condition is met.
func TestReplayFailOn(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "other.json": "{}", "r.ndjson": goodFrame + "\n{}\n"})
	for _, test := range []struct {
		args, errs string
		status     int
	}{
		{"--fail-on ask,deny,cancel", "", 0},
		{"--fail-on select:blanket_approval,ask:untrusted_server_source", "", 0},
		{"--fail-on select", "select (1)", 1},
		{"--fail-on ask:other_server,select:injected_mcp --fail-on bad_line", "select:injected_mcp (1), bad_line (1)", 1},
		{"--fail-on changed --against other.json", "changed (1)", 1},
	} {
		args := append([]string{"replay", "--summary", "-c", "c.json", "r.ndjson"}, strings.Fields(test.args)...)
		r := kandev(t, folder, "", args...)
		errs := "kandev-policy: r.ndjson:2: neither a JSON-RPC message nor the params of a permission request\n"
		if test.errs != "" {
			errs += "kandev-policy: --fail-on: " + test.errs + "\n"
		}
		r.want(t, test.status, r.out, errs)
	}
	for _, conditions := range []string{"asks", "ask:other", "ask:", "changed", ""} {
		r := kandev(t, folder, "", "replay", "-c", "c.json", "--fail-on="+conditions, "r.ndjson")
		if wantStatus := map[bool]int{true: 0, false: 2}[conditions == ""]; r.status != wantStatus {
			t.Errorf("%q: status %d, %q", conditions, r.status, r.err)
		}
	}
}

// TestReplayUnusableFiles wants a missing file to be told before any work, and a damaged one not to stop the others.
func TestReplayUnusableFiles(t *testing.T) {
	archive := compress(t, strings.Repeat(goodFrame+"\n", 5000), gz)
	folder := write(t, map[string]string{"c.json": injectedConfig, "r.ndjson": goodFrame,
		"cut.gz": archive[:len(archive)-20], "bad.zst": "\x28\xb5\x2f\xfdxxxxxxxx"})
	kandev(t, folder, "", "replay", "-c", "c.json", "r.ndjson", "none").want(t, 2, "", "kandev-policy: none: no such file or directory\n")
	kandev(t, folder, "", "replay", "-c", "c.json", "r.ndjson", ".").want(t, 2, "", "kandev-policy: .: is a directory\n")
	kandev(t, folder, "", "replay", "-c", "-", "-").want(t, 2, "",
		"kandev-policy: only one of the config and the recordings can come from standard input (-)\nTry 'kandev-policy replay --help'.\n")
	r := kandev(t, folder, "", "replay", "--json", "-c", "c.json", "cut.gz", "bad.zst", "r.ndjson")
	told := regexp.MustCompile(`^kandev-policy: cut\.gz:\d{4}: unexpected EOF\nkandev-policy: bad\.zst:1: [^\n]+\n$`)
	if r.status != 2 || !told.MatchString(r.err) ||
		!strings.Contains(r.out, `{"file":"r.ndjson","line":1,`) {
		t.Errorf("status %d, %q", r.status, r.err)
	}
}

// TestReplayMemory replays 192 MB, once in short lines and once in one line, through a pipe, and looks at the memory used.
func TestReplayMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel must say how much was used")
	}
	program := filepath.Join(t.TempDir(), "kandev-policy") // the race detector takes memory of its own
	if output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	folder := write(t, map[string]string{"c.json": injectedConfig})
	message := `{"jsonrpc":"2.0","method":"session/request_permission","params":` + goodFrame + `,"pad":"` + strings.Repeat("x", 2000) + `"}`
	for _, line := range []string{message + "\n", message} {
		program := exec.Command(program, "replay", "--summary", "--json", "-c", filepath.Join(folder, "c.json"), "-")
		stdin, err := program.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		program.Stdout, program.Stderr = &out, io.Discard
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		block := []byte(strings.Repeat(line, 500))
		for range 192 << 20 / len(block) {
			if _, err := stdin.Write(block); err != nil {
				t.Fatal(err)
			}
		}
		used := maxMemory(t, program.Process.Pid)
		stdin.Close()
		if err := program.Wait(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d MiB used for %s", used>>10, out.String())
		if used > 100<<10 {
			t.Errorf("%d MiB used", used>>10)
		}
	}
}

// maxMemory is the largest resident size that a running process has had, in KiB. (What wait tells counts the memory of
// this process too, which was there before the exec.)
func maxMemory(t *testing.T, pid int) int {
	match := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(read(t, fmt.Sprintf("/proc/%d/status", pid)))
	size, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatal(err)
	}
	return size
}
