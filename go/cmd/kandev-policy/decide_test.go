package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCaptures decides each recorded request with --json, and compares all bytes.
func TestCaptures(t *testing.T) {
	for _, v := range readVectors(t, "*-capture-*.jsonl") {
		folder := write(t, map[string]string{"c.json": string(v.Config), "f.json": string(v.Input)})
		kandev(t, folder, "", "decide", "--config", "c.json", "--json", "f.json").want(t, 0, string(v.Expect)+"\n", "")
	}
}

// TestStandardInput takes either file from standard input.
func TestStandardInput(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "f.json": goodFrame})
	kandev(t, folder, goodFrame, "decide", "--json", "-c", "c.json", "-").want(t, 0, selected+"\n", "")
	kandev(t, folder, injectedConfig, "decide", "--json", "-c", "-", "f.json").want(t, 0, selected+"\n", "")
}

// TestDecisionForPeople shows each kind of decision. All of them are decisions, so the status is 0.
func TestDecisionForPeople(t *testing.T) {
	for name, test := range map[string]struct{ config, frame string }{
		"decide-select.txt": {injectedConfig, goodFrame},
		"decide-ask.txt":    {injectedConfig, `{"toolCall":{"name":"mcp__other__search"},"options":[{"optionId":"yes","kind":"allow_once"}]}`},
		"decide-cancel.txt": {injectedConfig, `{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[]}`},
		"decide-allow.txt":  {reviewerConfig, `{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}`},
		"decide-deny.txt":   {reviewerConfig, `{"session_id":"s","tool_name":"Bash"}`},
		// The id is the agent's own text, and must not reach the terminal as it is.
		"decide-option-id.txt": {injectedConfig, `{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"\u001b[2Jyes\u202e","kind":"allow_once"}]}`},
	} {
		folder := write(t, map[string]string{"c.json": test.config, "f.json": test.frame})
		r := kandev(t, folder, "", "decide", "--config", "c.json", "f.json")
		golden(t, name, r.out)
		r.want(t, 0, r.out, "")
	}
}

// TestUnusableDepthAndBOM: depth is no excuse for what is no JSON, and a BOM none but in a hook payload.
func TestUnusableDepthAndBOM(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 10001)
	folder := write(t, map[string]string{"c.json": injectedConfig, "reviewer.json": reviewerConfig,
		"deep.json": deep + "garbage", "bom.json": "\ufeff" + goodFrame,
		"hook.json": "\ufeff" + `{"session_id":"","tool_name":"x"}`, "cut.json": "\ufeff" + `{"a":,`})
	refused := `{"decision":"deny","reason":"malformed_request","status":400}`
	for _, test := range []struct {
		config, file, json, errs string
		status                   int
	}{
		{"c.json", "deep.json", malformed, "deep.json:1:10007: not JSON: unexpected character looking for beginning of value", 2},
		{"reviewer.json", "deep.json", refused, "deep.json:1:10007: not JSON: unexpected character looking for beginning of value", 2},
		{"c.json", "bom.json", malformed, "bom.json:1:1: not JSON: unexpected character looking for beginning of value", 2},
		{"reviewer.json", "cut.json", refused, "cut.json:1:9: not JSON: unexpected character looking for beginning of value", 2},
		{"reviewer.json", "hook.json", refused, "", 0},
	} {
		errs := ""
		if test.errs != "" {
			errs = "kandev-policy: " + test.errs + "\n"
		}
		kandev(t, folder, "", "decide", "--json", "-c", test.config, test.file).want(t, test.status, test.json+"\n", errs)
	}
}

// TestUnusable wants status 2, and the file and the position on standard error. With --json the library's answer is on
// standard output as well, once the files could be read.
func TestUnusable(t *testing.T) {
	missing := "no such file or directory"
	folder := write(t, map[string]string{
		"c.json":        injectedConfig,
		"f.json":        goodFrame,
		"broken.json":   "{\n  \"toolCall\": {,}\n}",
		"cut.json":      "{\"a\":\n",
		"two.json":      "{}\n{}",
		"list.json":     "\n [1]",
		"empty.json":    "",
		"type.json":     "{\n \"agent_type\":\"claude-acp\",\n \"port\":\"41000\"}",
		"unknown.json":  "{\n  \"ports\": 1}",
		"twice.json":    "{\"port\":1,\n\"port\":2}",
		"entry.json":    "{\"mcp_servers\":[{},\n  7]}",
		"policy.json":   "{\"policy\":\n\"other\"}",
		"reviewer.json": "{\"policy\":\"unattended_review\",\"vendor\":\"codex\",\"token\":\"shared\",\n\"servers\":[\"kcap-review\",\n\"*\"]}",
		"vendor.json":   "{\"policy\":\"unattended_review\",\"token\":\"shared\"}",
	})
	if err := os.Mkdir(filepath.Join(folder, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	const help = "Try 'kandev-policy decide --help'.\n"
	denied := `{"decision":"deny","reason":"malformed_config","status":500}`
	for _, test := range []struct{ config, frame, json, errs string }{
		{"none.json", "f.json", "", "none.json: " + missing},
		{"c.json", "none.json", "", "none.json: " + missing},
		{"folder", "f.json", "", "folder: is a directory"},
		{"c.json", "folder", "", "folder: is a directory"},
		{"c.json", "broken.json", malformed, "broken.json:2:16: not JSON: unexpected character looking for beginning of object key string"},
		{"broken.json", "f.json", badConfig, "broken.json:2:16: not JSON: unexpected character looking for beginning of object key string"},
		{"c.json", "cut.json", malformed, "cut.json:2:1: the JSON ends too early"},
		{"c.json", "two.json", malformed, "two.json:2:1: more text behind the JSON"},
		{"c.json", "list.json", malformed, "list.json:2:2: expected a JSON object"},
		{"c.json", "empty.json", malformed, "empty.json:1:1: empty, expected a JSON object"},
		{"type.json", "f.json", badConfig, "type.json:3:2: port: found string, expected integer"},
		{"unknown.json", "f.json", badConfig, "unknown.json:2:3: ports: unknown key"},
		{"twice.json", "f.json", badConfig, "twice.json:2:1: port: duplicate key"},
		{"entry.json", "f.json", badConfig, "entry.json:2:3: mcp_servers[1]: found integer, expected object"},
		{"policy.json", "f.json", badConfig, `policy.json:1:2: policy: expected "injected_mcp" or "unattended_review"`},
		{"reviewer.json", "f.json", denied, "reviewer.json:3:1: servers[1]: is no server of the catalog"},
		{"vendor.json", "f.json", denied, "vendor.json: vendor: missing, expected string"},
	} {
		errs := "kandev-policy: " + test.errs + "\n"
		for _, subcommand := range []string{"decide", "explain"} {
			kandev(t, folder, "", subcommand, "-c", test.config, test.frame).want(t, 2, "", errs)
		}
		out := test.json
		if out != "" {
			out += "\n"
		}
		kandev(t, folder, "", "decide", "--json", "-c", test.config, test.frame).want(t, 2, out, errs)
	}
	for args, errs := range map[string]string{
		"decide f.json":              `required flag(s) "config" not set`,
		"decide c.json f.json":       "two files but no --config: the config is given as --config FILE, and FRAME alone as an argument",
		"decide -c c.json":           "accepts 1 arg(s), received 0",
		"decide -c c.json f.json f":  "accepts 1 arg(s), received 2",
		"decide -c c.json --x f":     "unknown flag: --x",
		"decide -c - -":              "only one of the config and the request can come from standard input (-)",
		"decide -c c.json --json= f": `invalid argument "" for "--json" flag: strconv.ParseBool: parsing "": invalid syntax`,
	} {
		kandev(t, folder, "", strings.Fields(args)...).want(t, 2, "", "kandev-policy: "+errs+"\n"+help)
	}
	kandev(t, folder, "", "explain", "c.json", "f.json").want(t, 2, "", "kandev-policy: two files but no --config: "+
		"the config is given as --config FILE, and FRAME alone as an argument\nTry 'kandev-policy explain --help'.\n")
	kandev(t, folder, "", "decode").want(t, 2, "", "kandev-policy: unknown command \"decode\" for \"kandev-policy\"\nTry 'kandev-policy --help'.\n")
	// A frame that is JSON and yet malformed is a decision.
	kandev(t, folder, `{"toolCall":7}`, "decide", "--json", "-c", "c.json", "-").want(t, 0, malformed+"\n", "")
	// A legal frame that is deeper than other readers go is no error.
	deep := `{"rawInput":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "," + goodFrame[1:]
	kandev(t, folder, deep, "decide", "--json", "-c", "c.json", "-").want(t, 0, selected+"\n", "")
}

// TestFullDevice wants a failure to write to be no decision.
func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full on this system")
	}
	folder := write(t, map[string]string{"c.json": injectedConfig, "f.json": goodFrame, "r.ndjson": goodFrame})
	for _, args := range []string{"decide -c c.json f.json", "decide --json -c c.json f.json", "explain -c c.json f.json",
		"replay -c c.json r.ndjson", "replay --json -c c.json r.ndjson", "version"} {
		r := kandevTo(t, folder, "/dev/full", strings.Fields(args)...)
		if r.status != 1 || !strings.Contains(r.err, "no space left on device") {
			t.Errorf("%s: status %d, %q", args, r.status, r.err)
		}
	}
}
