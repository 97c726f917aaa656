// Package provenance shows that only host code can say that the host injected its server: no document of any format, no
// profile, override or environment that is decoded into the policy's config or the host's can.
package provenance

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"strings"
	"testing"

	burnt "github.com/BurntSushi/toml"
	env "github.com/caarlos0/env/v11"
	"github.com/go-viper/mapstructure/v2"
	goccy "github.com/goccy/go-yaml"
	pelletier "github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/policy"
)

// spellings are the ways in which a document might try to name the marker. "-" is what the tags say.
var spellings = []string{
	"InjectedKandevMCP", "injectedKandevMCP", "injectedkandevmcp", "INJECTEDKANDEVMCP", "injected_kandev_mcp",
	"Injected_Kandev_MCP", "INJECTED_KANDEV_MCP", "injected-kandev-mcp", "injectedKandevMcp", "InjectedKandevMcp",
	"InjectedKandevMCP,string", "injected kandev mcp", dash, "-,", "",
}

// dash is what the marker's tags say. mapstructure skips a field with that tag when it encodes, but takes it for the
// field's name when it decodes; see TestMapstructureTakesTheDashForAName.
const dash = "-"

// documents writes the marker, in each spelling and with each truthy value, into a document that is otherwise fine.
func documents(format func(key, value string) string) []string {
	var out []string
	for _, key := range spellings {
		for _, value := range []string{"true", `"true"`, "1", `"1"`, `"yes"`} {
			out = append(out, format(key, value))
		}
	}
	return out
}

func jsonDocuments() []string {
	return documents(func(key, value string) string {
		return fmt.Sprintf(`{"agent_type":"claude-acp","port":43210,%q:%s}`, key, value)
	})
}

func yamlDocuments() []string {
	return documents(func(key, value string) string {
		return fmt.Sprintf("agent_type: claude-acp\nport: 43210\n%q: %s\n", key, value)
	})
}

func tomlDocuments() []string {
	return documents(func(key, value string) string {
		return fmt.Sprintf("agent_type = \"claude-acp\"\nport = 43210\n%q = %s\n", key, value)
	})
}

// decoders are the libraries that hosts read documents with, lenient as they are by default.
var decoders = []struct {
	name      string
	documents []string
	decode    func(document string, into any) error
}{
	{"encoding/json", jsonDocuments(), func(d string, into any) error { return json.Unmarshal([]byte(d), into) }},
	{"go.yaml.in/yaml/v3", yamlDocuments(), func(d string, into any) error { return yaml.Unmarshal([]byte(d), into) }},
	{"goccy/go-yaml", yamlDocuments(), func(d string, into any) error { return goccy.Unmarshal([]byte(d), into) }},
	{"BurntSushi/toml", tomlDocuments(), func(d string, into any) error { _, err := burnt.Decode(d, into); return err }},
	{"pelletier/go-toml", tomlDocuments(), func(d string, into any) error { return pelletier.Unmarshal([]byte(d), into) }},
	{"mapstructure", jsonDocuments(), func(d string, into any) error {
		return mapped(d, into, "mapstructure", dash)
	}},
	{"mapstructure with JSON tags", jsonDocuments(), func(d string, into any) error {
		return mapped(d, into, "json", dash)
	}},
	{"JSON in YAML", jsonDocuments(), func(d string, into any) error { return yaml.Unmarshal([]byte(d), into) }},
}

// mapped is how viper decodes: into a map first, then by mapstructure, weakly typed.
func mapped(document string, into any, tag string, without ...string) error {
	var values map[string]any
	if err := json.Unmarshal([]byte(document), &values); err != nil {
		return err
	}
	for _, key := range without {
		delete(values, key)
	}
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: into, TagName: tag, WeaklyTypedInput: true,
		MatchName: func(key, field string) bool { return fold(key) == fold(field) },
	})
	if err != nil {
		return err
	}
	return decoder.Decode(values)
}

// fold makes the match as generous as it gets: any case, with and without separators.
func fold(name string) string {
	if short := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)); short != "" {
		return short
	}
	return name
}

func TestNoDocumentSetsTheMarker(t *testing.T) {
	for _, decoder := range decoders {
		t.Run(decoder.name, func(t *testing.T) {
			decoded := 0
			for _, document := range decoder.documents {
				var cfg policy.Config
				if decoder.decode(document, &cfg) == nil && cfg.Port == 43210 {
					decoded++
				}
				if cfg.InjectedKandevMCP {
					t.Errorf("policy.Config: set by %s", document)
				}
				var instance config.InstanceConfig
				if decoder.decode(document, &instance) == nil && instance.Port == 43210 {
					decoded++
				}
				if instance.InjectedKandevMCP {
					t.Errorf("InstanceConfig: set by %s", document)
				}
			}
			// A decoder that takes nothing would prove nothing.
			if decoded < len(decoder.documents) {
				t.Errorf("only %d of %d documents were decoded", decoded, 2*len(decoder.documents))
			}
		})
	}
}

// A profile or an override that says it, in whatever spelling, does not get it into the instance either.
func TestNoProfileOrOverrideSetsTheMarker(t *testing.T) {
	for _, decoder := range decoders {
		for _, document := range decoder.documents {
			var profile config.Config
			var overrides config.InstanceOverrides
			_ = decoder.decode(document, &profile)
			_ = decoder.decode(document, &overrides)
			if cfg := profile.NewInstanceConfig(0, overrides); cfg.InjectedKandevMCP {
				t.Errorf("%s: set by %s", decoder.name, document)
			}
		}
	}
	// What sets it is the injection.
	profile := config.Config{}
	if cfg := profile.NewInstanceConfig(43210, config.InstanceOverrides{}); !cfg.InjectedKandevMCP {
		t.Error("injection doesn't set the marker")
	}
	profile.DisableInjection = true
	if cfg := profile.NewInstanceConfig(43210, config.InstanceOverrides{}); cfg.InjectedKandevMCP {
		t.Error("the marker is set without injection")
	}
	for _, kind := range []reflect.Type{reflect.TypeFor[config.Config](), reflect.TypeFor[config.InstanceOverrides]()} {
		for i := range kind.NumField() {
			if strings.Contains(fold(kind.Field(i).Name), "injected") {
				t.Errorf("%s has a field %s", kind, kind.Field(i).Name)
			}
		}
	}
}

func TestNoEnvironmentSetsTheMarker(t *testing.T) {
	variables := map[string]string{"PORT": "43210"}
	for _, key := range spellings {
		variables[key] = "true"
		variables[strings.ToUpper(key)] = "true"
		variables[strings.ToUpper(strings.ReplaceAll(key, "-", "_"))] = "true"
	}
	var cfg policy.Config
	if err := env.ParseWithOptions(&cfg, env.Options{Environment: variables, TagName: "json", UseFieldNameByDefault: false}); err != nil {
		t.Fatal(err)
	}
	if cfg.InjectedKandevMCP {
		t.Error("policy.Config: set by the environment")
	}
	for key, value := range variables {
		if key == "" || strings.ContainsAny(key, "=,") {
			continue
		}
		t.Setenv(key, value)
	}
	if d := policy.DecideJSON([]byte(frame), []byte(`{"agent_type":"claude-acp","port":43210,"mcp_servers":[`+entry+`]}`)); d.Kind != policy.Ask || d.Reason != policy.ReasonProvenanceMissing {
		t.Errorf("the environment reached the engine: %v", d)
	}
}

const (
	entry = `{"name":"kandev","type":"http","url":"http://localhost:43210/mcp"}`
	frame = `{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`
)

// A document with the key "-" does set a marker whose tag is a dash alone: mapstructure (2.5.0 and before) knows no excluded
// fields. So a host decodes documents into types that have no marker, as this one does, and as the adoption guide asks for;
// policy.Config decodes itself. When the canary fails, mapstructure has learned it, and the guide may drop the warning.
func TestMapstructureTakesTheDashForAName(t *testing.T) {
	var canary struct {
		Marker bool `mapstructure:"-"`
	}
	if err := mapped(`{"-":true}`, &canary, "mapstructure"); err != nil || !canary.Marker {
		t.Errorf("mapstructure no longer takes the dash for a name (%v)", err)
	}
	const document = `{"-":true,"disable_injection":true}`
	var profile config.Config
	var overrides config.InstanceOverrides
	for _, into := range []any{&profile, &overrides} {
		if err := mapped(document, into, "mapstructure"); err != nil {
			t.Fatal(err)
		}
	}
	if !profile.DisableInjection {
		t.Fatal("nothing was decoded")
	}
	for _, port := range []int{0, 43210} {
		if cfg := profile.NewInstanceConfig(port, overrides); cfg.InjectedKandevMCP {
			t.Errorf("port %d: the marker is set", port)
		}
	}
	var own policy.Config
	if err := mapped(`{"-":true,"agent_type":"claude-acp","port":43210}`, &own, "mapstructure"); err != nil {
		t.Fatal(err)
	}
	if own.InjectedKandevMCP || own.AgentType != "claude-acp" || own.Port != 43210 {
		t.Errorf("decoded %+v", own)
	}
}

// Where mapstructure looks at the fields itself, decoding is an error, with and without the dash: for the host's own
// InstanceConfig, for a policy.Config squashed into another struct, and for every policy.Config before 2.5, which is what
// DisableUnmarshaler makes of it. A host that does so finds out on its first start, not from an attacker.
func TestMapstructureCannotReachTheMarker(t *testing.T) {
	type squashed struct {
		Name   string
		Policy policy.Config `mapstructure:",squash"`
	}
	type squashedPointer struct {
		Policy *policy.Config `mapstructure:",squash"`
	}
	type named struct {
		Name   string
		Policy policy.Config
	}
	type embedded struct {
		policy.Config `mapstructure:",squash"`
	}
	var (
		plain    policy.Config
		instance config.InstanceConfig
		inner    squashed
		pointer  squashedPointer
		field    named
		promoted embedded
	)
	pointer.Policy = new(policy.Config)
	for _, c := range []struct {
		name       string
		into       any
		marker     *bool
		asBefore25 bool
		fails      string // the field that the error is about
	}{
		{"instance", &instance, &instance.InjectedKandevMCP, false, "InjectedKandevMCP"},
		{"squashed", &inner, &inner.Policy.InjectedKandevMCP, false, "markerIsSetInCode"},
		{"squashed, before 2.5", &inner, &inner.Policy.InjectedKandevMCP, true, "markerIsSetInCode"},
		{"squashed pointer", &pointer, &pointer.Policy.InjectedKandevMCP, false, "markerIsSetInCode"},
		{"before 2.5", &plain, &plain.InjectedKandevMCP, true, "markerIsSetInCode"},
		{"embedded, before 2.5", &promoted, &promoted.InjectedKandevMCP, true, "markerIsSetInCode"},
		{"embedded", &promoted, &promoted.InjectedKandevMCP, false, ""},
		{"named", &field, &field.Policy.InjectedKandevMCP, false, ""},
	} {
		for _, key := range append(spellings, "-,squash", "squash") {
			document := map[string]any{"Name": "x", key: true, "port": 5, "Policy": map[string]any{key: true, "port": 6}}
			decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
				Result: c.into, WeaklyTypedInput: true, DisableUnmarshaler: c.asBefore25,
				MatchName: func(key, field string) bool { return fold(key) == fold(field) },
			})
			if err != nil {
				t.Fatal(err)
			}
			*c.marker = false // what an error has left there is nobody's config
			switch err := decoder.Decode(document); {
			case c.fails == "" && err != nil:
				t.Errorf("%s: %q: %v", c.name, key, err)
			case c.fails == "" && *c.marker:
				t.Fatalf("%s: set by %q", c.name, key)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("%s: %q: error %v, want one that names %s", c.name, key, err, c.fails)
			}
		}
	}
	if field.Name != "x" || field.Policy.Port != 6 {
		t.Errorf("a named field is decoded into %+v", field)
	}
}

// What the tag can't prevent, as the adoption guide says: mapstructure reads other tags, and looks at the fields itself. When
// this test fails, the guide may drop the warning.
func TestMapstructureWithOtherTagsReachesASquashedMarker(t *testing.T) {
	for tag, key := range map[string]string{"json": dash, "yaml": dash, "koanf": "injectedkandevmcp"} {
		var host struct {
			Policy policy.Config `json:",squash" yaml:",squash" koanf:",squash"`
		}
		if err := mapped(fmt.Sprintf(`{%q:true}`, key), &host, tag); err != nil || !host.Policy.InjectedKandevMCP {
			t.Errorf("%s: no longer set by %q (%v)", tag, key, err)
		}
		// A field with a name decodes itself, whatever the tag.
		var safe struct{ Policy policy.Config }
		if err := mapped(fmt.Sprintf(`{"Policy":{%q:true,"port":5}}`, key), &safe, tag); err != nil || safe.Policy.InjectedKandevMCP || safe.Policy.Port != 5 {
			t.Errorf("%s: a named field is decoded into %+v (%v)", tag, safe.Policy, err)
		}
	}
}

// Writing a config and reading it back loses the marker; copying it in host code keeps it.
func TestRoundTripsLoseTheMarker(t *testing.T) {
	set := policy.Config{
		AgentType: "claude-acp", Port: 43210, InjectedKandevMCP: true,
		MCPServers: []policy.MCPServer{{Name: "kandev", Type: "http", URL: "http://localhost:43210/mcp"}},
	}
	trips := map[string]func(policy.Config, *policy.Config) error{
		"json": func(in policy.Config, out *policy.Config) error {
			raw, err := json.Marshal(in)
			if err != nil {
				return err
			}
			if strings.Contains(fold(string(raw)), "injected") {
				t.Errorf("the JSON names the marker: %s", raw)
			}
			return json.Unmarshal(raw, out)
		},
		"yaml": func(in policy.Config, out *policy.Config) error {
			raw, err := yaml.Marshal(in)
			if err != nil {
				return err
			}
			return yaml.Unmarshal(raw, out)
		},
		"goccy yaml": func(in policy.Config, out *policy.Config) error {
			raw, err := goccy.Marshal(in)
			if err != nil {
				return err
			}
			return goccy.Unmarshal(raw, out)
		},
		"toml": func(in policy.Config, out *policy.Config) error {
			var raw bytes.Buffer
			if err := burnt.NewEncoder(&raw).Encode(in); err != nil {
				return err
			}
			_, err := burnt.Decode(raw.String(), out)
			return err
		},
		"pelletier toml": func(in policy.Config, out *policy.Config) error {
			raw, err := pelletier.Marshal(in)
			if err != nil {
				return err
			}
			return pelletier.Unmarshal(raw, out)
		},
		"gob": func(in policy.Config, out *policy.Config) error {
			var raw bytes.Buffer
			if err := gob.NewEncoder(&raw).Encode(in); err != nil {
				return err
			}
			return gob.NewDecoder(&raw).Decode(out)
		},
		"mapstructure": func(in policy.Config, out *policy.Config) error {
			var values map[string]any
			if err := mapstructure.Decode(in, &values); err != nil {
				return err
			}
			return mapstructure.Decode(values, out)
		},
	}
	for name, trip := range trips {
		var got policy.Config
		if err := trip(set, &got); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.InjectedKandevMCP {
			t.Errorf("%s: the marker survives", name)
		}
		want := set
		want.InjectedKandevMCP = false
		if got.Port != want.Port || got.AgentType != want.AgentType || len(got.MCPServers) != 1 || got.MCPServers[0].URL != want.MCPServers[0].URL {
			t.Errorf("%s: more than the marker is lost: %v", name, got)
		}
		expect(t, name, got, policy.Ask, policy.ReasonProvenanceMissing)
	}
	copied := set
	expect(t, "copy", copied, policy.Select, policy.ReasonInjectedMCP)
}

func expect(t *testing.T, what string, cfg policy.Config, kind policy.Kind, reason policy.Reason) {
	t.Helper()
	p, err := policy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if d := p.DecideFrame([]byte(frame)); d.Kind != kind || d.Reason != reason {
		t.Errorf("%s: %v, want %v %v", what, d, kind, reason)
	}
}

// Every format's tag excludes the marker, so that a decoder that reads tags finds none.
func TestMarkerIsExcludedByTag(t *testing.T) {
	for _, kind := range []reflect.Type{reflect.TypeFor[policy.Config](), reflect.TypeFor[config.InstanceConfig]()} {
		field, ok := kind.FieldByName("InjectedKandevMCP")
		if !ok {
			t.Fatalf("%s has no marker", kind)
		}
		for _, tag := range []string{"json", "yaml", "toml", "mapstructure", "xml"} {
			if got, _, _ := strings.Cut(field.Tag.Get(tag), ","); got != "-" {
				t.Errorf("%s: tag %s is %q, want -", kind, tag, got)
			}
		}
	}
	var cfg policy.Config
	if err := xml.Unmarshal([]byte(`<Config><InjectedKandevMCP>true</InjectedKandevMCP><Port>1</Port></Config>`), &cfg); err != nil || cfg.InjectedKandevMCP {
		t.Errorf("xml: %v, marker %t", err, cfg.InjectedKandevMCP)
	}
}
