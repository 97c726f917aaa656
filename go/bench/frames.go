package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kandev/kandev-policy/go/bench/baseline"
	"github.com/kandev/kandev-policy/go/policy"
)

// distinct is how many frames of one size are decided in turn, so that none is decided twice in a row.
const distinct = 8

// A size of frames, and how much prose makes it: frames of 0.6, 4.8 and 66 KB.
type size struct {
	name, text string
	prose      int
}

var sizes = []size{{"small", "0.6 KB", 0}, {"medium", "4.8 KB", 4 << 10}, {"large", "66 KB", 64 << 10}}

// A filler is what the raw input of a frame may hold; what skipping it costs per byte is the slope between frames with
// fillerShort and fillerLong bytes of it.
type filler struct {
	name, text string
	most       float64 // nanoseconds per byte
	value      func(number, n int) string
}

const fillerShort, fillerLong = 4 << 10, 64 << 10

var fillers = []filler{
	{"text", "long text", 0.25, func(number, n int) string { return `"` + turned(prose, number, n) + `"` }},
	{"code", "escaped source code", 0.7, func(number, n int) string { return `"` + turned(code(), number, n) + `"` }},
	{"tokens", "small tokens", 3, func(number, n int) string { return "[" + turned(tokens, number, n-1) + "0]" }},
	{"japanese", "Japanese prose", 0.8, func(number, n int) string { return `"` + turned(japanese, number, n) + `"` }},
}

var (
	prose = []string{"Rewrite the plan so that step three comes before step two. "}
	tools = []string{"update", "create", "delete", "review", "reopen", "assign", "export", "import"}

	tokens   = []string{`{"a":1},`, `[true,null],`, `-0.5e3,`, `{"key":"v","k":[]},`, `17,`, `"x",`, `false,`, `[[2],{}],`}
	japanese = []string{"計画", "を", "書き", "直して", "、", "三番目", "の", "手順", "が", "二番目", "より", "先", "に", "来る", "ように", "して", "ください", "。"}
)

//go:embed baseline/baseline.go
var source string

// code is Go source code line by line, escaped as agents escape it.
func code() []string {
	var lines []string
	for line := range strings.Lines(source) {
		var escaped bytes.Buffer
		encoder := json.NewEncoder(&escaped)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(line); err != nil {
			panic(err)
		}
		lines = append(lines, strings.Trim(strings.TrimSpace(escaped.String()), `"`))
	}
	return lines
}

// turned is n bytes (filled up with spaces) of the parts over and over, beginning at another one for each number.
func turned(parts []string, number, n int) string {
	var b strings.Builder
	for i := number; ; i++ {
		part := parts[i%len(parts)]
		if b.Len()+len(part) > n {
			return b.String() + strings.Repeat(" ", n-b.Len())
		}
		b.WriteString(part)
	}
}

// frame is a real frame's shape with about n bytes of prose in the raw input: number 0 is the one of the baseline's own
// benchmarks, the others are as long and name another call, tool and session.
func frame(number, n int) []byte {
	text := strings.Repeat(prose[0], n/58+2)[number : number+n]
	return frameWith(number, `"`+text+`"`)
}

func frameWith(number int, content string) []byte {
	f := `{"toolCall":{"toolCallId":"toolu_00_508mz85meo","name":"mcp__kandev__update_task_plan_kandev","status":"pending","rawInput":{"task_id":"t-1","content":` + content + `},"title":"mcp__kandev__update_task_plan_kandev","kind":"other","content":[],"_meta":{"claudeCode":{"toolName":"mcp__kandev__update_task_plan_kandev","mcpServer":{"name":"kandev","source":"dynamic"}}}},"options":[{"optionId":"allow-once","name":"Yes","kind":"allow_once"},{"optionId":"allow-with-updates","name":"Yes, and don't ask again","kind":"allow_always"},{"optionId":"reject","name":"No","kind":"reject_once"}],"sessionId":"c5c5d657-911e-468d-89d4-a2461e1c0b12"}`
	digit := fmt.Sprint(number)
	return []byte(strings.NewReplacer(
		"__update_", "__"+tools[number]+"_",
		"toolu_00_", "toolu_0"+digit+"_",
		`"t-1"`, `"t-`+fmt.Sprint((number+1)%10)+`"`,
		"1c0b12", "1c0b1"+fmt.Sprint((number+2)%10),
	).Replace(f))
}

// frames are the distinct ones of a size.
func frames(s size) [][]byte {
	all := make([][]byte, distinct)
	for number := range all {
		all[number] = frame(number, s.prose)
	}
	return all
}

// refused are frames that nobody may approve: an edit each of one that is approved.
func refused() [][]byte {
	var all [][]byte
	for _, edit := range [][2]string{
		{"mcp__kandev__update_task_plan_kandev", "Bash"},
		{"mcp__kandev__", "mcp__other__"},
		{"mcp__kandev__update", "mcp__kandev__up__date"},
		{`"toolName":"mcp__kandev__update_`, `"toolName":"mcp__kandev__delete_`},
		{`"source":"dynamic"`, `"source":"project"`},
		{`"mcpServer":{"name":"kandev"`, `"mcpServer":{"name":"Kandev"`},
		{`"kind":"allow_`, `"kind":"reject_`},
		{`"allow-with-updates"`, `"allow-once"`},
		{`"optionId":"allow-once"`, `"optionId":" "`},
	} {
		f := strings.ReplaceAll(string(frame(0, 0)), edit[0], edit[1])
		all = append(all, []byte(f))
	}
	return all
}

// The same session for both sides: three servers, two of them the injected one.
var (
	baselineHost = &baseline.Config{AgentType: "claude-acp", Port: 43210, InjectedKandevMCP: true, MCPServers: []baseline.Server{
		{Name: "kandev", Type: "http", URL: "http://localhost:43210/mcp"},
		{Name: "kandev", Type: "sse", URL: "http://localhost:43210/sse"},
		{Name: "third-party", Type: "http", URL: "https://mcp.example.test/mcp"},
	}}
	policyHost = policy.Config{AgentType: "claude-acp", Port: 43210, InjectedKandevMCP: true, MCPServers: []policy.MCPServer{
		{Name: "kandev", Type: "http", URL: "http://localhost:43210/mcp"},
		{Name: "kandev", Type: "sse", URL: "http://localhost:43210/sse"},
		{Name: "third-party", Type: "http", URL: "https://mcp.example.test/mcp"},
	}}
	hostConfig = config(`{"name":"kandev","type":"sse","url":"http://localhost:43210/sse"}`,
		`{"name":"third-party","type":"http","url":"https://mcp.example.test/mcp"}`)
)

func config(others ...string) []byte {
	servers := append([]string{`{"name":"kandev","type":"http","url":"http://localhost:43210/mcp"}`}, others...)
	return []byte(`{"agent_type":"claude-acp","port":43210,"injected_kandev_mcp":true,"mcp_servers":[` + strings.Join(servers, ",") + `]}`)
}

func manyServers(n int) []byte {
	others := make([]string, n-1)
	for i := range others {
		others[i] = fmt.Sprintf(`{"name":"server-%d","type":"http","url":"https://mcp-%d.example.test/mcp","headers":{"Authorization":"x"}}`, i, i)
	}
	return config(others...)
}

// decoded gives both sides the same frame decoded, as a host holds it.
func decoded(frame []byte) (*baseline.Frame, policy.Request, error) {
	var f baseline.Frame
	if err := json.Unmarshal(frame, &f); err != nil {
		return nil, policy.Request{}, err
	}
	r := policy.Request{ToolName: f.ToolCall.Name, ToolMeta: f.ToolCall.Meta, Title: *f.ToolCall.Title, Kind: *f.ToolCall.Kind}
	for _, o := range f.Options {
		r.Options = append(r.Options, policy.Option{OptionID: o.OptionID, Name: o.Name, Kind: o.Kind})
	}
	return &f, r, nil
}

// writeFrames writes what the programs in other languages decide: NAME-NUMBER.json, and the configs.
func writeFrames(folder string) error {
	files := map[string][]byte{
		"config.json":       hostConfig,
		"config-one.json":   manyServers(1),
		"config-many.json":  manyServers(10_000),
		"config-hooks.json": []byte(`{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}`),
	}
	add := func(name string, all ...[]byte) {
		for number, f := range all {
			files[fmt.Sprintf("%s-%d.json", name, number)] = f
		}
	}
	for _, s := range sizes {
		add(s.name, frames(s)...)
	}
	for number := range distinct {
		for _, f := range fillers {
			files[fmt.Sprintf("%s-short-%d.json", f.name, number)] = frameWith(number, f.value(number, fillerShort))
			files[fmt.Sprintf("%s-long-%d.json", f.name, number)] = frameWith(number, f.value(number, fillerLong))
		}
		files[fmt.Sprintf("hook-%d.json", number)] = hook(number)
	}
	add("refused", refused()...)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// hook is a hook payload as Codex sends it.
func hook(number int) []byte {
	return fmt.Appendf(nil, `{"session_id":"019b2f4e-6a1c-7d31-9a5e-0c4d1f7a8b%d2","turn_id":"%d","cwd":"/project","hook_event_name":"PermissionRequest","model":"gpt-5","permission_mode":"default","tool_name":"mcp__kcap_review__get_pr_summary","tool_input":{"pr":4%d}}`, number, number, number)
}
