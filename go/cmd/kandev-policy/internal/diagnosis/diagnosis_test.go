package diagnosis

import (
	"testing"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/judge"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/vectors"
)

func usable(config []byte) bool {
	_, ok := judge.New(config)
	return ok
}

// TestEveryFaultIsFound takes all configs of the vectors: the unusable ones must get a text, and those that are one
// object must get a key with it, unless the fault is the whole's.
func TestEveryFaultIsFound(t *testing.T) {
	list, err := vectors.Read("../../../../../tests/vectors", "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, v := range list {
		if v.Reason != "malformed_config" {
			continue
		}
		if _, problem := document.SyntaxError(v.Config); problem != "" {
			continue
		}
		found++
		problem := Find(v.Config, usable)
		switch {
		case problem.Text == "":
			t.Errorf("%s (%s): nothing found", v.ID, v.Why)
		case problem.Path == "" && problem.Text != "not UTF-8":
			t.Errorf("%s (%s): no key for %q", v.ID, v.Why, problem.Text)
		}
	}
	if found < 100 {
		t.Errorf("only %d configs with a fault", found)
	}
}

func TestProblems(t *testing.T) {
	const reviewer = `"policy":"unattended_review","vendor":"codex","token":"shared",`
	const catalog = `"catalog":{"servers":[{"id":"mine","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["t"]}],` +
		`"result_channel":{"server":"r","tools":["x"]}}`
	for config, want := range map[string]Problem{
		`{}`: {},
		`{"port":1,"mcp_servers":[{},{"name":"kandev","type":7}]}`: {},
		`{"port":1.5}`:                  {"port", false, rules["port"]},
		`{"port":true}`:                 {"port", false, "found boolean, expected integer"},
		`{"port":99999999999999999999}`: {"port", false, rules["port"]},
		`{"mcp_servers":[{"name":"x"},{"name":"x","name":"y"}]}`: {"mcp_servers[1]", false, rules["mcp_servers"]},
		`{"mcp_servers":[{"name":"x"},[]]}`:                      {"mcp_servers[1]", false, "found array, expected object"},
		`{"agent_type":"\ud800"}`:                                {"agent_type", false, "found a string with half a surrogate pair, expected string"},
		`{"a":1,"a":2}`:                                          {"a", true, "duplicate key"},
		`{"a b":1}`:                                              {"(a key that is no plain word)", false, "unknown key"},
		`{"vendor":"codex"}`:                                     {"vendor", false, "unknown key"},
		`{` + reviewer + `"port":1}`:                             {"port", false, "unknown key"},
		`{` + reviewer + `"servers":["kcap-review",null]}`:       {"servers[1]", false, "found null, expected string"},
		`{` + reviewer + `"servers":["mine"]}`:                   {"servers[0]", false, rules["servers"]},
		`{` + reviewer + `"servers":["mine"],` + catalog + `}`:   {},
		`{` + reviewer + catalog + `,"servers":["kcap-review"]}`: {"servers[0]", false, rules["servers"]},
		`{` + reviewer + `"catalog":{}}`:                         {"catalog", false, rules["catalog"]},
		`{"policy":"unattended_review","vendor":"codex"}`:        {"token", false, "found null, expected string"},
		`{"policy":"other"}`:                                     {"policy", false, rules["policy"]},
		`{"policy":7}`:                                           {"policy", false, "found integer, expected string"},
	} {
		if got := Find([]byte(config), usable); got != want {
			t.Errorf("%s: got %+v, want %+v", config, got, want)
		}
		if (want == Problem{}) != usable([]byte(config)) {
			t.Errorf("%s: the engine disagrees", config)
		}
	}
	if got := Find([]byte("{\"a\":\"\xff\"}"), usable); got.Text != "not UTF-8" {
		t.Errorf("got %+v", got)
	}
}
