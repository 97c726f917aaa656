// Package acceptance drives the example host through the SDK's agent side with frames that released agents sent, and
// holds it to the acceptance criteria 001.1 to 001.8 of the injected-server approval.
package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
)

const (
	allowOnce = "allow-once" // the option ids of Claude ACP
	reject    = "reject"
)

// each runs a test for every capture and, side by side, for both ways in which a host can hold a frame.
func each(t *testing.T, list []capture, s setup, run func(*testing.T, capture, setup)) {
	t.Helper()
	for _, c := range list {
		for _, decoded := range []bool{false, true} {
			s := s
			s.decoded = decoded
			t.Run(c.ID+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				run(t, c, s)
			})
		}
	}
}

// With blanket approval disabled, identifiable calls to the injected server proceed without permission prompts: in every
// release that was recorded, over HTTP and SSE, in fresh and resumed sessions, for tasks and quick chats; and they run.
func TestAC001_1_InjectedCallsProceedWithoutPrompt(t *testing.T) {
	plans := captures(t, func(c capture) bool { return c.Scenario == "1_update_task_plan" })
	for _, sse := range []bool{false, true} {
		for _, resumed := range []bool{false, true} {
			for _, quickChat := range []bool{false, true} {
				each(t, plans, setup{sse: sse, resumed: resumed, quickChat: quickChat}, proceeds)
			}
		}
	}
}

func proceeds(t *testing.T, c capture, s setup) {
	x := open(t, c, s)
	got := x.approved(c, c.Expect.OptionID)
	if !got.Ran || got.Failed {
		t.Fatalf("the call did not run: %+v", got)
	}
	if calls := x.host.Injected().Calls(); len(calls) != 1 || calls[0].Tool != c.Expect.Tool {
		t.Fatalf("the server saw %+v, want %s", calls, c.Expect.Tool)
	}
	if task, _ := x.tasks.Get("t-1"); task.Plan != "the plan" {
		t.Fatalf("the plan is %q", task.Plan)
	}
}

// The same for every other recorded call to the injected server: other permission modes, subagents, a server of the same
// name in a user's or a repository's files beside the injected one, spoofed inputs.
func TestAC001_1_EveryRecordedInjectedCall(t *testing.T) {
	list := captures(t, func(c capture) bool {
		return c.Expect.Decision == "select" && scenario("1_", "6d_", "6e_", "8_", "A_")(c)
	})
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) {
		x := open(t, c, s)
		if got := x.approved(c, c.Expect.OptionID); !got.Ran {
			t.Fatalf("the call did not reach the server: %+v", got)
		}
	})
}

// The policy applies to every tool of the server, creation and deletion included.
func TestAC001_2_CreateAndDeleteProceed(t *testing.T) {
	each(t, captures(t, scenario("2_")), setup{}, func(t *testing.T, c capture, s setup) {
		x := open(t, c, s)
		if got := x.approved(c, allowOnce); !got.Ran || got.Failed {
			t.Fatalf("the call did not run: %+v", got)
		}
		_, first := x.tasks.Get("t-1")
		switch c.Expect.Tool {
		case "create_task_kandev":
			if n := len(x.tasks.List("w-1")); n != 2 {
				t.Fatalf("%d tasks, want 2", n)
			}
		case "delete_task_kandev":
			if first {
				t.Fatal("the task is still there")
			}
		default:
			t.Fatalf("unexpected tool %q", c.Expect.Tool)
		}
	})
}

// Tool authorization remains enforced: what is approved here is still refused by the server.
func TestAC001_2_ServerAuthorizationStillRefuses(t *testing.T) {
	list := captures(t, func(c capture) bool { return c.Scenario == "2_delete_task" || c.Scenario == "1_update_task_plan" })
	each(t, list, setup{foreign: true}, func(t *testing.T, c capture, s setup) {
		x := open(t, c, s)
		got := x.approved(c, c.Expect.OptionID)
		if !got.Ran || !got.Failed || !strings.Contains(got.Text, "not authorized") {
			t.Fatalf("another workspace's task: %+v", got)
		}
		if task, ok := x.tasks.Get("t-1"); !ok || task.Plan != "" {
			t.Fatalf("the task was touched: %+v", task)
		}
	})
	// A tool that no agent's session may use.
	plan := one(t, "0.101.0-v1", "1_update_task_plan")
	archive := plan.with("archive", strings.ReplaceAll(plan.Frame, "update_task_plan_kandev", "archive_workspace_kandev"))
	archive = archive.replace(t, "input", `{"task_id":"t-1","content":"the plan"}`, `{}`)
	t.Run("archive_workspace", func(t *testing.T) {
		x := open(t, archive, setup{})
		if got := x.approved(archive, allowOnce); !got.Ran || !got.Failed || !strings.Contains(got.Text, "not authorized") {
			t.Fatalf("an administrator's tool: %+v", got)
		}
	})
}

// Shell commands, file operations, third-party tools, colliding, ambiguous and look-alike names keep waiting for the
// user, who resolves them.
func TestAC001_3_EverythingElseStaysPending(t *testing.T) {
	list := captures(t, func(c capture) bool {
		return c.Expect.Decision == "ask" && scenario("3_", "4_", "5_", "7_", "8_", "D_")(c)
	})
	each(t, list, setup{servers: []config.McpServerConfig{{Name: "other", Type: "http", URL: "http://127.0.0.1:9/mcp"}}},
		func(t *testing.T, c capture, s setup) {
			x := open(t, c, s)
			x.pending(c, reject)
			if calls := x.host.Injected().Calls(); len(calls) != 0 {
				t.Fatalf("the injected server was called: %+v", calls)
			}
		})
}

// What the user allows is allowed: the pending path answers with the user's option.
func TestAC001_3_UserCanAllow(t *testing.T) {
	list := captures(t, func(c capture) bool { return c.Scenario == "5_bash_rm" })
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) {
		open(t, c, s).pending(c, "allow-with-updates")
	})
}

// Names that only look like one of the injected server's, and frames in which two readers could see two calls.
func TestAC001_3_LookAlikesAndAmbiguousFrames(t *testing.T) {
	const name = `"name":"mcp__kandev__update_task_plan_kandev"`
	plan := one(t, "0.75.1-v1", "1_update_task_plan")
	rename := func(slug, to string) capture { return plan.replace(t, slug, name, `"name":`+to) }
	list := []capture{
		rename("upper-server", `"mcp__Kandev__update_task_plan_kandev"`),
		rename("upper-prefix", `"MCP__kandev__update_task_plan_kandev"`),
		rename("cyrillic", `"mcp__k\u0430ndev__update_task_plan_kandev"`),
		rename("three-underscores", `"mcp__kandev___update_task_plan_kandev"`),
		rename("second-boundary", `"mcp__kandev__external__execute"`),
		rename("longer-server", `"mcp__kandev_dev__update_task_plan_kandev"`),
		rename("suffix-alone", `"update_task_plan_kandev"`),
		rename("no-tool", `"mcp__kandev__"`),
		rename("space", `"mcp__kandev__update_task_plan_kandev "`),
		rename("empty", `""`),
		rename("number", `5`),
		rename("object", `{"name":"mcp__kandev__update_task_plan_kandev"}`),
	}
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) { open(t, c, s).pending(c, reject) })

	// Decoding hides these; a host that keeps the frame does not fall for them.
	for _, c := range []capture{
		rename("duplicate-name", `"Bash",`+name),
		rename("rival-name", `"Bash","Name":"mcp__kandev__update_task_plan_kandev"`),
		plan.replace(t, "rival-options", `"options":`, `"Options":[],"options":`),
	} {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			open(t, c, setup{}).pending(c, reject)
		})
	}
}

// Only a subject of type tool_call, alone, says which call a frame of ACP v2 is about. All else stays with the user, for
// the same reason whether the host keeps the frame or decodes it; and nothing is announced that the policy didn't judge.
func TestAC001_3_FramesThatNameNoCall(t *testing.T) {
	const toolCall = `{"toolCallId":"call-1","name":"mcp__kandev__list_tasks_kandev","title":"mcp__kandev__list_tasks_kandev","kind":"other"}`
	const subject = `{"type":"tool_call","toolCall":` + toolCall + `}`
	const missing, malformed = "identity_missing", "malformed_frame"
	plan := one(t, "0.101.0-v2", "1_update_task_plan")
	frame := func(slug, members string) capture {
		if members != "" {
			members += ","
		}
		return plan.with(slug, `{"sessionId":"`+plan.sessionID(t)+`",`+members+`"options":`+plan.rawOptions(t)+`}`)
	}
	for _, c := range []struct {
		slug, members, reason string
	}{
		{"other-type", `"subject":{"type":"other","toolCall":` + toolCall + `}`, missing},
		{"folded-type", `"subject":{"type":"TOOL_CALL","toolCall":` + toolCall + `}`, missing},
		{"padded-type", `"subject":{"type":"tool_call ","toolCall":` + toolCall + `}`, missing},
		{"empty-type", `"subject":{"type":"","toolCall":` + toolCall + `}`, missing},
		{"null-type", `"subject":{"type":null,"toolCall":` + toolCall + `}`, missing},
		{"number-type", `"subject":{"type":5,"toolCall":` + toolCall + `}`, missing},
		{"no-type", `"subject":{"toolCall":` + toolCall + `}`, missing},
		{"other-type-odd-call", `"subject":{"type":"other","toolCall":"x"}`, missing},
		{"null-subject", `"subject":null`, missing},
		{"both", `"toolCall":` + toolCall + `,"subject":` + subject, malformed},
		{"both-subject-null", `"toolCall":` + toolCall + `,"subject":null`, malformed},
		{"both-subject-other", `"subject":{"type":"other"},"toolCall":` + toolCall, malformed},
		{"both-call-null", `"toolCall":null,"subject":` + subject, malformed},
		{"both-null", `"toolCall":null,"subject":null`, malformed},
		{"neither", ``, malformed},
		{"call-null", `"toolCall":null`, malformed},
		{"call-string", `"toolCall":"x"`, malformed},
		{"subject-string", `"subject":"tool_call"`, malformed},
		{"subject-array", `"subject":[` + subject + `]`, malformed},
		{"subject-without-call", `"subject":{"type":"tool_call"}`, malformed},
		{"subject-null-call", `"subject":{"type":"tool_call","toolCall":null}`, malformed},
	} {
		each(t, []capture{frame(c.slug, c.members)}, setup{}, func(t *testing.T, frame capture, s setup) {
			x := open(t, frame, s)
			x.pending(frame, reject)
			if event := x.seen("permission_request")[0]; event.Title != "" || event.ToolCallID != "" || event.RawInput != nil {
				t.Errorf("announced %+v", event)
			}
			if want := `"reason":"` + c.reason + `"`; !strings.Contains(x.logs.String(), want) {
				t.Errorf("no %s in the log:\n%s", want, x.logs)
			}
			if calls := x.host.Injected().Calls(); len(calls) != 0 {
				t.Errorf("the injected server was called: %+v", calls)
			}
		})
	}
	// The same call, said as it should be, proceeds.
	each(t, []capture{frame("v1", `"toolCall":`+toolCall), frame("v2", `"subject":`+subject)}, setup{},
		func(t *testing.T, c capture, s setup) { open(t, c, s).approved(c, allowOnce) })
}

// A server that a user configured under the same name has no place beside the injected one.
func TestAC001_4_UsersEntryIsReplaced(t *testing.T) {
	own := []config.McpServerConfig{
		{Name: "kandev", Type: "http", URL: "http://127.0.0.1:9/mcp"},
		{Name: "kandev", Command: "/usr/bin/evil", Args: []string{"serve"}},
		{Name: "other", Type: "http", URL: "http://127.0.0.1:9/mcp"},
	}
	list := captures(t, func(c capture) bool { return c.Scenario == "1_update_task_plan" })
	each(t, list, setup{servers: own}, func(t *testing.T, c capture, s setup) {
		x := open(t, c, s)
		var names []string
		for _, server := range x.agent.servers {
			switch {
			case server.Http != nil:
				names = append(names, server.Http.Name+" "+server.Http.Url)
			default:
				names = append(names, "something else")
			}
		}
		want := []string{"kandev " + x.host.Config().McpServers[0].URL, "other http://127.0.0.1:9/mcp"}
		if !slices.Equal(names, want) {
			t.Fatalf("the agent was told about %q, want %q", names, want)
		}
		x.approved(c, c.Expect.OptionID)
	})
}

// A user's own server of that name, where the host injected none, gets nothing: not even one with the very address that
// would have been injected, which answers, and which the agent has reached. Only the host's own word is missing.
func TestAC001_4_UsersEntryWithoutInjection(t *testing.T) {
	list := captures(t, func(c capture) bool { return c.Scenario == "1_update_task_plan" })
	for slug, own := range map[string]config.McpServerConfig{
		"same-http": {Name: "kandev", Type: "http", URL: "http://localhost:PORT/mcp"},
		"same-sse":  {Name: "kandev", Type: "sse", URL: "http://localhost:PORT/sse"},
		"other":     {Name: "kandev", Type: "http", URL: "http://localhost:9/mcp"},
		"stdio":     {Name: "kandev", Command: "kandev-mcp"},
		"case":      {Name: "Kandev", Type: "http", URL: "http://localhost:PORT/mcp"},
	} {
		t.Run(slug, func(t *testing.T) {
			s := setup{noInject: true, samePlace: true, servers: []config.McpServerConfig{own}}
			each(t, list, s, func(t *testing.T, c capture, s setup) {
				x := open(t, c, s)
				if strings.HasPrefix(slug, "same") && !x.host.Injected().Reached() {
					t.Fatal("the agent has not reached the server; this case would show nothing")
				}
				x.pending(c, lastOption(t, c))
			})
		})
	}
}

// Where the agent says that the name is served from a user's or a repository's files, the request waits for the user,
// although the host did inject its server and the agent did reach it.
func TestAC001_4_AgentsEvidenceVetoes(t *testing.T) {
	list := captures(t, func(c capture) bool { return c.Expect.Reason == "untrusted_server_source" })
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) { open(t, c, s).pending(c, reject) })
}

// Releases before 0.80 say nothing about it. But then the injected server can't be reached, or it would have been the
// one; and the host knows that the agent never did.
func TestAC001_4_InjectedServerNeverReached(t *testing.T) {
	list := captures(t, func(c capture) bool { return c.release() == "0.75.1-v1" && scenario("6b_", "6c_")(c) })
	each(t, list, setup{dead: true}, func(t *testing.T, c capture, s setup) {
		open(t, c, s).pending(c, reject)
	})
}

// The narrowest allow choice is taken, wherever it stands, by its exact id.
func TestAC001_5_AllowOnceWhereverItStands(t *testing.T) {
	var list []capture
	for _, c := range captures(t, func(c capture) bool { return c.Scenario == "1_update_task_plan" }) {
		list = append(list, c, c.reversed(t))
	}
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) {
		got := open(t, c, s).approved(c, c.Expect.OptionID)
		want, err := json.Marshal(c.Expect.OptionID)
		if err != nil {
			t.Fatal(err)
		}
		// ACP's answer, on the wire.
		sameJSON(t, got.Response, `{"outcome":{"outcome":"selected","optionId":`+string(want)+`}}`)
	})
}

func TestAC001_5_OnlyAllowAlways(t *testing.T) {
	var list []capture
	for _, release := range []string{"0.75.1-v1", "0.101.0-v1", "0.101.0-v2"} {
		plan := one(t, release, "1_update_task_plan")
		list = append(list, plan.options(t, "only-always",
			`[{"optionId":"reject","name":"No","kind":"reject_once"},{"optionId":"al<w>&ys \u00e9/1","name":"Yes","kind":"allow_always"}]`))
	}
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) { open(t, c, s).approved(c, "al<w>&ys é/1") })
}

// Without an allow choice the request keeps its normal behaviour: it waits, and no reject option is chosen for the user.
func TestAC001_6_OnlyRejectsStaysPending(t *testing.T) {
	var list []capture
	for _, release := range []string{"0.75.1-v1", "0.101.0-v1", "0.101.0-v2"} {
		plan := one(t, release, "1_update_task_plan")
		list = append(list, plan.options(t, "only-rejects",
			`[{"optionId":"never","name":"Never","kind":"reject_always"},{"optionId":"reject","name":"No","kind":"reject_once"}]`))
	}
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) { open(t, c, s).pending(c, "reject") })
}

// A request without choices cancels, whatever it is about.
func TestAC001_6_NoOptionsCancels(t *testing.T) {
	var list []capture
	for _, release := range []string{"0.75.1-v1", "0.101.0-v1", "0.101.0-v2"} {
		for _, name := range []string{"1_update_task_plan", "5_bash"} {
			c := one(t, release, name)
			list = append(list, c.options(t, "empty", `[]`), c.options(t, "null", `null`))
		}
	}
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) {
		x := open(t, c, s)
		got := x.approved(c, "")
		sameJSON(t, got.Response, `{"outcome":{"outcome":"cancelled"}}`)
		if calls := x.host.Injected().Calls(); len(calls) != 0 {
			t.Fatalf("the call ran: %+v", calls)
		}
	})
}

// Nothing is saved: what one instance approved, or a user allowed for ever, counts for nothing in the next one, and an
// instance that injects again approves again.
func TestAC001_7_NothingIsSavedBetweenInstances(t *testing.T) {
	plan, bash := one(t, "0.101.0-v1", "1_update_task_plan"), one(t, "0.101.0-v1", "5_bash_rm")
	dir := t.TempDir()
	open(t, plan, setup{workDir: dir}).approved(plan, allowOnce)
	open(t, bash, setup{workDir: dir}).pending(bash, "allow-with-updates")

	open(t, plan, setup{workDir: dir, resumed: true, noInject: true}).pending(plan, reject)
	open(t, bash, setup{workDir: dir, resumed: true}).pending(bash, reject)
	open(t, plan, setup{workDir: dir, resumed: true}).approved(plan, allowOnce)

	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The call's own events flow as ever on the automatic path: it starts, it ends, its result is there.
func TestAC001_7_ToolEventsFlowOnTheAutomaticPath(t *testing.T) {
	list := captures(t, func(c capture) bool { return c.Scenario == "1_update_task_plan" })
	each(t, list, setup{}, func(t *testing.T, c capture, s setup) {
		x := open(t, c, s)
		x.approved(c, c.Expect.OptionID)
		started, ended := x.wait("tool_call", 1), x.wait("tool_call_update", 1)
		if started.ToolCallID == "" || started.ToolCallID != ended.ToolCallID || started.Status != "pending" || ended.Status != "completed" {
			t.Fatalf("the call's events: %+v, %+v", started, ended)
		}
		if !strings.Contains(string(ended.Update), "the plan") {
			t.Fatalf("the result is not in the event: %s", ended.Update)
		}
	})
}

// One structured record for each automatic decision, and none for the others.
func TestAC001_7_OneRecordPerAutomaticDecision(t *testing.T) {
	plan, bash := one(t, "0.101.0-v1", "1_update_task_plan"), one(t, "0.101.0-v1", "5_bash_rm")
	x := open(t, plan, setup{})
	x.approved(plan, allowOnce)
	x.approved(plan, allowOnce)
	x.pending(bash.with("here", strings.Replace(bash.Frame, bash.sessionID(t), plan.sessionID(t), 1)), reject)
	var records []map[string]any
	for line := range strings.Lines(x.logs.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record["level"] == "INFO" && record["reason"] != nil {
			delete(record, "time")
			records = append(records, record)
		}
	}
	want := `{"level":"INFO","msg":"permission approved automatically","option_kind":"allow_once","reason":"injected_mcp","tool":"update_task_plan_kandev"}`
	if len(records) != 2 {
		t.Fatalf("%d records, want 2:\n%s", len(records), x.logs)
	}
	for _, record := range records {
		if got, _ := json.Marshal(record); string(got) != want {
			t.Errorf("record %s, want %s", got, want)
		}
	}
}

// Blanket approval is as it was: the first allow choice, else the first choice, for everything, also for frames that the
// policy would call malformed; and the policy has no part in it.
func TestAC001_8_BlanketApprovalUnchanged(t *testing.T) {
	const name = `"name":"mcp__kandev__update_task_plan_kandev"`
	plan := one(t, "0.101.0-v1", "1_update_task_plan")
	bash := one(t, "0.101.0-v2", "5_bash_rm")
	old := one(t, "0.60.0-v1", "1_update_task_plan")
	cases := []struct {
		capture
		want string
	}{
		{plan, "allow-once"},
		{plan.reversed(t), "allow-with-updates"},
		{bash, "allow-once"},
		{old, "allow_always"},
		{one(t, "0.101.0-v1", "6b_project"), "allow-once"},
		{plan.options(t, "only-rejects", `[{"optionId":"never","name":"Never","kind":"reject_always"},{"optionId":"reject","name":"No","kind":"reject_once"}]`), "never"},
		{plan.replace(t, "duplicate-name", name, `"name":"Bash",`+name), "allow-once"},
		{plan.replace(t, "rival-name", name, name+`,"NAME":"Bash"`), "allow-once"},
		{plan.replace(t, "lone-surrogate", name, `"name":"\ud83c"`), "allow-once"},
		{plan.options(t, "blank-id", `[{"optionId":" ","name":"Yes","kind":"allow_once"}]`), " "},
		{plan.options(t, "twice", `[{"optionId":"x","name":"Yes","kind":"allow_once"},{"optionId":"x","name":"No","kind":"reject_once"}]`), "x"},
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			x := open(t, c.capture, setup{blanket: true})
			x.approved(c.capture, c.want)
			if strings.Contains(x.logs.String(), `"reason"`) {
				t.Errorf("the policy was asked:\n%s", x.logs)
			}
		})
	}
}

// Agents with other naming formats, and Claude's frames without a name under another agent's dialect, prompt as before.
func TestAC001_8_OtherNamingFormatsUnchanged(t *testing.T) {
	const name = `"name":"mcp__kandev__update_task_plan_kandev"`
	plan := one(t, "0.75.1-v1", "1_update_task_plan")
	var list []capture
	for slug, other := range map[string]string{
		"flat":     "kandev_update_task_plan_kandev",
		"dotted":   "kandev.update_task_plan_kandev",
		"slash":    "kandev/update_task_plan_kandev",
		"double":   "kandev__update_task_plan_kandev",
		"colon":    "mcp:kandev:update_task_plan_kandev",
		"function": "functions.mcp__kandev__update_task_plan_kandev",
		"words":    "kandev - update_task_plan_kandev (MCP)",
	} {
		list = append(list, plan.replace(t, slug, name, `"name":"`+other+`"`))
	}
	for _, agentType := range []string{"codex-acp", "opencode-acp", "gemini", "claude-acp"} {
		each(t, list, setup{agentType: agentType}, func(t *testing.T, c capture, s setup) { open(t, c, s).pending(c, reject) })
	}
	for _, agentType := range []string{"codex-acp", "Claude-ACP", "claude", "unknown"} {
		each(t, []capture{one(t, "0.60.0-v1", "1_update_task_plan")}, setup{agentType: agentType},
			func(t *testing.T, c capture, s setup) { open(t, c, s).pending(c, reject) })
	}
}

func lastOption(t *testing.T, c capture) string {
	t.Helper()
	var options []struct{ OptionID string }
	if err := json.Unmarshal([]byte(c.rawOptions(t)), &options); err != nil {
		t.Fatal(err)
	}
	return options[len(options)-1].OptionID
}

func sameJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	if string(left) != string(right) {
		t.Fatalf("on the wire: %s, want %s", left, right)
	}
}
