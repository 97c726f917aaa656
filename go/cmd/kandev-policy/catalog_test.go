package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCatalogCheck asks a real MCP server, whose list of tools comes in pages.
func TestCatalogCheck(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if output, err := exec.Command("go", "build", "-o", server, "./testdata/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	folder := write(t, map[string]string{
		"own.json": `{"servers":[{"id":"own","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["look"]}],"result_channel":{"server":"out","tools":["send"]}}`,
		"bad.json": `{"servers":[{"id":"own","auto_approvable":true,"starts_flows":true,"unattended_safe_tools":["look"]}],"result_channel":{"server":"out","tools":["send"]}}`,
		"cut.json": `{"servers":`,
	})
	for _, c := range []struct {
		args     string
		status   int
		out, err string
	}{
		{"--server kcap-review -- SERVER kcap-review get_pr_summary list_pr_files get_transcript", 0,
			"✓ kcap-review: 3 tools, all of them classified\n", ""},
		{"--server kcap-review SERVER kcap-review get_pr_summary", 0, "✓ kcap-review: 1 tool, all of them classified\n", ""},
		{"--server kcap-review -- SERVER kcap-review get_pr_summary merge_pr list_pr_files get_transcript close_pr", 1,
			"✗ kcap-review: close_pr is not classified\n✗ kcap-review: merge_pr is not classified\n",
			"kandev-policy: kcap-review offers 5 tools; 2 not classified as safe with nobody watching\n"},
		{"--server kcap-memory -- SERVER kcap-memory remember", 1,
			"✗ kcap-memory: remember is not classified\n", "kandev-policy: kcap-memory offers 1 tool; 1 not classified as safe with nobody watching\n"},
		{"--server own --catalog own.json -- SERVER own look", 0, "✓ own: 1 tool, all of them classified\n", ""},
		{"--server own --catalog own.json -- SERVER own look change", 1, "✗ own: change is not classified\n",
			"kandev-policy: own offers 2 tools; 1 not classified as safe with nobody watching\n"},
		{"--server own --catalog bad.json -- SERVER own look", 2, "",
			"kandev-policy: bad.json: policy: bad config: an auto-approvable server must not start flows\n"},
		{"--server own -- SERVER own look", 2, "", "kandev-policy: policy: refused: \"own\" is no server of the catalog\n"},
		{"--server own --catalog none.json -- SERVER own", 2, "", "kandev-policy: none.json: no such file or directory\n"},
		{"--server kcap-review -- ./missing", 1, "", "kandev-policy: ./missing: no such file or directory\n"},
	} {
		args := append([]string{"catalog", "check"}, strings.Fields(strings.Replace(c.args, "SERVER", server, 1))...)
		kandev(t, folder, "", args...).want(t, c.status, c.out, c.err)
	}
	for _, args := range []string{
		"catalog check -- true", "catalog check --server kcap-review", "catalog check --server own --catalog cut.json -- true", "catalog what",
	} {
		if r := kandev(t, folder, "", strings.Fields(args)...); r.status != 2 || r.out != "" {
			t.Errorf("%s: status %d, %q", args, r.status, r.out)
		}
	}
	r := kandev(t, folder, "", "catalog", "check", "--server", "kcap-review", "--timeout", "200ms", "--", "sleep", "5")
	r.want(t, 1, "", "kandev-policy: sleep: no answer within 200ms\n")
}
