//go:build (!cgo || !(linux || darwin) || !(amd64 || arm64) || kandev_policy_wasm) && !kandev_policy_none

package policy

import (
	"encoding/binary"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kandev/kandev-policy/go/policy/internal/wasm"
)

// The engine as WebAssembly, for programs without cgo. It is compiled to machine code at start, beside the program's own
// work; what comes before it is ready waits for it.

const engineName = "wasm"

var instances = sync.OnceValue(startEngine)

func startEngine() *wasm.Pool {
	module, err := wasm.Load()
	if err != nil {
		return nil // as if no library were linked
	}
	return wasm.NewPool(module)
}

func init() { go instances() }

func engineABIVersion() uint32 {
	if pool := instances(); pool != nil {
		return pool.Module().ABIVersion()
	}
	return 0
}

func engineVersion() string {
	if pool := instances(); pool != nil {
		return pool.Module().Version()
	}
	return ""
}

// handle owns a policy of the pool.
type handle struct {
	policy *wasm.Policy
}

// liveHandles counts the policies and registries that are not yet freed, for the tests.
var liveHandles atomic.Int64

func compile(config []byte) (*handle, status, string) {
	pool := instances()
	i, err := pool.Get()
	if err != nil {
		return nil, statusInternalError, ""
	}
	defer pool.Put(i)
	policy, s, problem, err := i.NewPolicy(config, problemBytes)
	if err != nil {
		return nil, statusInternalError, ""
	}
	if status(s) != statusOK {
		return nil, status(s), strings.ToValidUTF8(string(problem), "")
	}
	liveHandles.Add(1)
	h := &handle{policy}
	runtime.AddCleanup(h, forget, policy)
	return h, statusOK, ""
}

func forget(policy *wasm.Policy) {
	instances().Forget(policy)
	liveHandles.Add(-1)
}

func (h *handle) evaluateRequest(request []byte, v *verdict) status {
	_, s := h.evaluate(wasm.EvaluateRequest, request, nil, v)
	return s
}

func (h *handle) evaluateFrame(frame, buffer []byte, v *verdict) (int, status) {
	return h.evaluate(wasm.EvaluateFrame, frame, buffer, v)
}

// evaluate calls one of the two functions, which differ only in that the first has no buffer.
func (h *handle) evaluate(function wasm.Function, input, buffer []byte, v *verdict) (int, status) {
	pool := instances()
	i, err := pool.Get()
	if err != nil {
		return 0, statusInternalError
	}
	defer pool.Put(i)
	native, err := i.Handle(h.policy)
	if err != nil {
		return 0, statusInternalError
	}
	w, err := i.Writer(verdictBytes + len(input) + len(buffer) + 32)
	if err != nil {
		return 0, statusInternalError
	}
	text, length := w.Put(input)
	numbers, size := w.Leave(verdictBytes), w.Leave(4)
	strings := w.Leave(len(buffer))
	var s uint32
	if function == wasm.EvaluateRequest {
		s, err = i.Call(function, native, text, length, numbers)
	} else {
		s, err = i.Call(function, native, text, length, numbers, strings, uint32(len(buffer)), size)
	}
	runtime.KeepAlive(h)
	if err != nil {
		return 0, statusInternalError
	}
	n := i.Uint32(size)
	if status(s) == statusOK {
		v.read(i.Bytes(numbers, verdictBytes))
		copy(buffer, i.Bytes(strings, min(n, uint32(len(buffer)))))
	}
	return int(n), status(s)
}

// verdictBytes is the size of kandev_policy_verdict.
const verdictBytes = 28

// read takes the verdict from the memory of an instance, where it is laid out as C's and little-endian.
func (v *verdict) read(b []byte) {
	_ = b[verdictBytes-1]
	v.kind, v.optionKind = b[0], b[1]
	v.reason = binary.LittleEndian.Uint16(b[2:])
	v.status = binary.LittleEndian.Uint16(b[4:])
	v.optionIndex = binary.LittleEndian.Uint32(b[8:])
	v.optionIDLen = binary.LittleEndian.Uint32(b[12:])
	v.serverLen = binary.LittleEndian.Uint32(b[16:])
	v.toolLen = binary.LittleEndian.Uint32(b[20:])
	v.responseLen = binary.LittleEndian.Uint32(b[24:])
}

func oneShot(frame, config []byte, explain bool) []byte {
	pool := instances()
	i, err := pool.Get()
	if err != nil {
		return nil
	}
	defer pool.Put(i)
	w, err := i.Writer(len(frame) + len(config) + 32)
	if err != nil {
		return nil
	}
	function := wasm.Decide
	if explain {
		function = wasm.Explain
	}
	// The library wants a NUL behind each.
	f := w.PutString(frame)
	c := w.PutString(config)
	text, err := i.Call(function, f, c)
	if err != nil || text == 0 {
		return nil
	}
	result := append([]byte(nil), i.CString(text)...)
	// What a trap here would leave behind is an instance that is not used again.
	_, _ = i.Call(wasm.StringFree, text)
	return result
}
