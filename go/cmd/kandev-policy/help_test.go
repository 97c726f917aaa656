package main_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestHelp wants examples and an exit status of 0 from each subcommand.
func TestHelp(t *testing.T) {
	root := kandev(t, t.TempDir(), "")
	if root.status != 0 {
		t.Errorf("without arguments: status %d", root.status)
	}
	for _, subcommand := range []string{"decide", "explain", "replay", "watch", "version"} {
		r := kandev(t, t.TempDir(), "", subcommand, "--help")
		if r.status != 0 || r.err != "" || !strings.Contains(r.out, "Examples:\n  kandev-policy "+subcommand) {
			t.Errorf("%s: status %d, %q, %q", subcommand, r.status, r.out, r.err)
		}
		if !strings.Contains(root.out, "\n  "+subcommand+" ") {
			t.Errorf("%s isn't listed in %q", subcommand, root.out)
		}
	}
}

// TestVersion wants a line for each of what a report of a defect has to say.
func TestVersion(t *testing.T) {
	r := kandev(t, t.TempDir(), "", "version")
	pattern := `^kandev-policy \S+\nlibrary \d+\.\d+\.\d+\nabi 1\nengine (cgo|wasm)\ngo go\S+ \w+/\w+\n$`
	if r.status != 0 || r.err != "" || !regexp.MustCompile(pattern).MatchString(r.out) {
		t.Errorf("status %d, %q, %q", r.status, r.out, r.err)
	}
	r = kandev(t, t.TempDir(), "", "version", "--json")
	pattern = `^\{"command":"[^"]+","library":"\d+\.\d+\.\d+","abi":1,"engine":"(cgo|wasm)","go":"go[^"]+","platform":"\w+/\w+"\}\n$`
	if r.status != 0 || r.err != "" || !regexp.MustCompile(pattern).MatchString(r.out) {
		t.Errorf("status %d, %q, %q", r.status, r.out, r.err)
	}
}

// TestCompletion asks for the shells' scripts, and for what they ask for.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := kandev(t, t.TempDir(), "", "completion", shell); r.status != 0 || !strings.Contains(r.out, "kandev-policy") {
			t.Errorf("%s: status %d", shell, r.status)
		}
	}
	for args, want := range map[string]string{
		"replay --fail-on ask:unt": "ask:untrusted_server_source\n",
		"replay --policy ":         "unattended_review\n",
		"exp":                      "explain\t",
	} {
		words := strings.Split(args, " ")
		if r := kandev(t, t.TempDir(), "", append([]string{"__complete"}, words...)...); !strings.Contains(r.out, want) {
			t.Errorf("%q completes to %q", args, r.out)
		}
	}
}

// TestWithoutEngine builds the command without one: everything runs, and says so.
func TestWithoutEngine(t *testing.T) {
	program := t.TempDir() + "/kandev-policy"
	if output, err := exec.Command("go", "build", "-tags", "kandev_policy_none", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	with := command
	command = program
	defer func() { command = with }()
	folder := write(t, map[string]string{"c.json": injectedConfig, "r.json": reviewerConfig, "f.json": goodFrame})
	const warning = "kandev-policy: this build has no engine, so nothing is decided; see 'kandev-policy version'\n"
	kandev(t, folder, "", "decide", "--json", "-c", "c.json", "f.json").want(t, 0, `{"decision":"ask","reason":"engine_unavailable"}`+"\n", warning)
	kandev(t, folder, "", "explain", "--json", "-c", "r.json", "f.json").want(t, 0, `{"decision":"deny","reason":"engine_unavailable","status":500}`+"\n", warning)
	r := kandev(t, folder, "", "replay", "--summary", "--json", "-c", "c.json", "f.json")
	_, sum := lines(t, r.out)
	sum.want(t, summary{Files: 1, Lines: 1, Requests: 1, Decisions: map[string]int{"ask": 1},
		Reasons: map[string]int{"ask:engine_unavailable": 1}, Tools: map[string]int{"(no qualified name)": 1}})
	if r := kandev(t, folder, "", "version"); !strings.Contains(r.out, "library none\nabi none\nengine none\n") {
		t.Errorf("%q", r.out)
	}
}
