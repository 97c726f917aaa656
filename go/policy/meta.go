package policy

import (
	"reflect"
	"strings"
)

// metadata is what a request's ToolMeta says about the call, as far as it is on the decision path.
type metadata struct {
	flags                            uint32
	toolName, serverName, serverFrom string
}

// readMetadata reads _meta.claudeCode: toolName, and mcpServer with its name and source. Whether any of it counts for the
// session's agent is the engine's to say; here it is only told what is there, and what is wrong with it.
func readMetadata(meta map[string]any) (m metadata) {
	if len(meta) == 0 {
		return m
	}
	code, found := meta["claudeCode"]
	if len(meta) > count(found) && hasRival(meta, "claudeCode", "") {
		m.flags |= flagMetaAmbiguous
	}
	if found {
		// Unlike in Go, null is no object; a nil map is what becomes null.
		if object, ok := code.(map[string]any); ok && object != nil {
			m.readClaudeCode(object)
		} else {
			m.flags |= flagMetaMalformed
		}
	}
	return m
}

func (m *metadata) readClaudeCode(code map[string]any) {
	name, hasName := code["toolName"]
	server, hasServer := code["mcpServer"]
	if len(code) > count(hasName)+count(hasServer) && hasRival(code, "toolName", "mcpServer") {
		m.flags |= flagMetaAmbiguous
	}
	if hasName {
		text, ok := name.(string)
		m.toolName = text
		m.flags |= flagIf(ok, flagHasMetaToolName, flagMetaMalformed)
	}
	if object, ok := server.(map[string]any); !isNull(server) {
		m.readMCPServer(object) // which finds no name in what is no object
		m.flags |= flagIf(ok, 0, flagMetaMalformed)
	}
}

// isNull reports whether a value is nil, or a nil map, slice or pointer: what becomes null in JSON.
func isNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return value == nil
	case string:
		return false
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return v.IsNil()
	}
	return false
}

func (m *metadata) readMCPServer(server map[string]any) {
	name, hasName := server["name"]
	source, hasSource := server["source"]
	if len(server) > count(hasName)+count(hasSource) && hasRival(server, "name", "source") {
		m.flags |= flagMetaAmbiguous
	}
	var nameOK, sourceOK bool
	m.serverName, nameOK = name.(string)
	m.serverFrom, sourceOK = source.(string)
	m.flags |= flagIf(nameOK && sourceOK, flagHasMetaServer, flagMetaMalformed)
}

// hasRival reports whether a key is another spelling of one of the names, which a decoder that folds keys, such as
// encoding/json, would have taken for it. For names in ASCII, EqualFold is that folding: ASCII case, U+017F for s and
// U+212A for k.
func hasRival(object map[string]any, name, other string) bool {
	for key := range object {
		if key != name && strings.EqualFold(key, name) || key != other && strings.EqualFold(key, other) {
			return true
		}
	}
	return false
}

func count(found bool) int {
	if found {
		return 1
	}
	return 0
}

func flagIf(ok bool, yes, no uint32) uint32 {
	if ok {
		return yes
	}
	return no
}
