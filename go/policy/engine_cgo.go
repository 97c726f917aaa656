//go:build cgo && (linux || darwin) && (amd64 || arm64) && !kandev_policy_wasm && !kandev_policy_none

package policy

/*
#include "kandev_policy.h"

#cgo noescape kandev_policy_evaluate_request
#cgo nocallback kandev_policy_evaluate_request
#cgo noescape kandev_policy_evaluate_frame
#cgo nocallback kandev_policy_evaluate_frame
#cgo noescape kandev_policy_new
#cgo nocallback kandev_policy_new
#cgo noescape kandev_policy_decide
#cgo nocallback kandev_policy_decide
#cgo noescape kandev_policy_explain
#cgo nocallback kandev_policy_explain
#cgo nocallback kandev_policy_free
#cgo nocallback kandev_policy_string_free

// The lock: this package links with no library of another ABI version than its header has. The reference is a call which
// is not made when another library is found at run time, so that there the version can be asked for, and refused.
#define LOCK_(version) kandev_policy_abi_##version
#define LOCK(version) LOCK_(version)
static uint32_t linked_abi_version(void) {
	uint32_t version = kandev_policy_abi_version();
	if (version == KANDEV_POLICY_ABI_VERSION) {
		LOCK(KANDEV_POLICY_ABI_VERSION)();
	}
	return version;
}
*/
import "C"

import (
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"
)

// The engine behind the C ABI. This is the only file of the package that knows of C or of unsafe pointers into it. Slices
// cross as pointer and length; the library borrows them for the call and calls nothing back.

const engineName = "cgo"

// linkedABIVersion is asked for once, at start.
var linkedABIVersion = uint32(C.linked_abi_version())

func engineABIVersion() uint32 { return linkedABIVersion }

func engineVersion() string { return C.GoString(C.kandev_policy_version()) }

// handle owns a native handle. It holds it as an unsafe.Pointer since a pointer to C's incomplete type is none to the
// garbage collector: an object without pointers may share its slot with others, and then its cleanup may never run.
type handle struct {
	native unsafe.Pointer
}

// liveHandles counts the native handles that are not yet freed, for the tests.
var liveHandles atomic.Int64

// maxProblemBytes bounds the text about a bad config. It names a key and two types, so it is short.
const maxProblemBytes = 1024

func compile(config []byte) (*handle, status, string) {
	var (
		native  *C.kandev_policy
		problem [maxProblemBytes]byte
		size    C.size_t
	)
	s := status(C.kandev_policy_new(chars(config), C.size_t(len(config)), &native, chars(problem[:]), maxProblemBytes, &size))
	if s != statusOK {
		return nil, s, strings.ToValidUTF8(string(problem[:min(int(size), maxProblemBytes)]), "")
	}
	liveHandles.Add(1)
	h := &handle{unsafe.Pointer(native)}
	runtime.AddCleanup(h, free, h.native)
	return h, statusOK, ""
}

// free runs once no call can be using the handle: each keeps its *handle alive.
func free(native unsafe.Pointer) {
	C.kandev_policy_free((*C.kandev_policy)(native))
	liveHandles.Add(-1)
}

func (h *handle) evaluateRequest(request []byte, v *verdict) status {
	s := C.kandev_policy_evaluate_request((*C.kandev_policy)(h.native), chars(request), C.size_t(len(request)), v.native())
	runtime.KeepAlive(h)
	return status(s)
}

func (h *handle) evaluateFrame(frame, buffer []byte, v *verdict) (int, status) {
	var size C.size_t
	s := C.kandev_policy_evaluate_frame((*C.kandev_policy)(h.native), chars(frame), C.size_t(len(frame)), v.native(),
		chars(buffer), C.size_t(len(buffer)), &size)
	runtime.KeepAlive(h)
	return int(size), status(s)
}

func oneShot(frame, config []byte, explain bool) []byte {
	// The one copy: the library wants a NUL behind each.
	buffer := borrowBuffer(len(frame) + 1 + len(config) + 1)
	defer returnBuffer(buffer)
	text := *buffer
	text[copy(text, frame)] = 0
	text[len(frame)+1+copy(text[len(frame)+1:], config)] = 0
	f, c := chars(text), chars(text[len(frame)+1:])
	var result *C.char
	if explain {
		result = C.kandev_policy_explain(f, c)
	} else {
		result = C.kandev_policy_decide(f, c)
	}
	if result == nil {
		return nil
	}
	defer C.kandev_policy_string_free(result)
	return []byte(C.GoString(result))
}

// A verdict is laid out as C's: a difference would be a negative unsigned constant,
// which doesn't compile.
const (
	_ = -(unsafe.Sizeof(verdict{}) ^ unsafe.Sizeof(C.kandev_policy_verdict{}))
	_ = -(unsafe.Offsetof(verdict{}.kind) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.kind))
	_ = -(unsafe.Offsetof(verdict{}.optionKind) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.option_kind))
	_ = -(unsafe.Offsetof(verdict{}.reason) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.reason))
	_ = -(unsafe.Offsetof(verdict{}.status) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.status))
	_ = -(unsafe.Offsetof(verdict{}.optionIndex) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.option_index))
	_ = -(unsafe.Offsetof(verdict{}.optionIDLen) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.option_id_len))
	_ = -(unsafe.Offsetof(verdict{}.serverLen) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.server_len))
	_ = -(unsafe.Offsetof(verdict{}.toolLen) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.tool_len))
	_ = -(unsafe.Offsetof(verdict{}.responseLen) ^ unsafe.Offsetof(C.kandev_policy_verdict{}.response_len))
)

// native gives the verdict as C has it.
func (v *verdict) native() *C.kandev_policy_verdict {
	return (*C.kandev_policy_verdict)(unsafe.Pointer(v))
}

// chars gives the bytes to C; NULL if there are none, since an empty slice may point past the end of its memory.
func chars(b []byte) *C.char {
	if len(b) == 0 {
		return nil
	}
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b)))
}
