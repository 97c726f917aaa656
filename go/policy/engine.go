package policy

import (
	"errors"
	"fmt"
)

// An engine is one file, chosen by build tags, that defines:
//
//	const engineName                                                             // what Engine says
//	func engineABIVersion() uint32                                               // 0: there is none
//	func engineVersion() string
//	type handle struct                                                           // a compiled config
//	func compile(config []byte) (h *handle, s status, problem string)            // problem: for statusBadConfig
//	func (h *handle) evaluateRequest(request []byte, v *verdict) status          // request: see encode
//	func (h *handle) evaluateFrame(frame, strings []byte, v *verdict) (int, status)
//	func oneShot(frame, config []byte, explain bool) []byte                      // a decision's JSON; nil: there is none
//
// The two evaluations hold on to none of their arguments, so that these can live on the caller's stack; evaluateFrame
// gives the number of bytes in strings, or the number needed with statusBufferTooSmall. A handle frees what it holds
// once nothing refers to it.

// abiVersion is the version of the ABI that this package is written for.
const abiVersion = 1

// maxDocumentBytes is the engine's limit for a frame, a config, and an encoded request.
const maxDocumentBytes = 16 << 20

// engineUsable: an engine with another ABI is asked for its versions, and for nothing else.
func engineUsable() bool { return engineABIVersion() == neededABIVersion }

// neededABIVersion is abiVersion, but in tests.
var neededABIVersion uint32 = abiVersion

var (
	// ErrNoEngine says that this build has no usable engine; see the package's documentation.
	ErrNoEngine = errors.New("policy: no engine")
	// ErrBadConfig is wrapped by the error of [New] for a config that can't be used.
	ErrBadConfig = errors.New("policy: bad config")
	// ErrInternal is wrapped by errors for what should not happen, such as a caught panic in the engine.
	ErrInternal = errors.New("policy: internal error")
)

// Engine says what decides: "cgo", "wasm", or "none", which answers every request with [ReasonEngineUnavailable]. It is
// "none" too when a library is linked whose [ABIVersion] is not this package's.
func Engine() string {
	if !engineUsable() {
		return "none"
	}
	return engineName
}

// Version is the engine's own version, such as "0.1.0", or empty if there is none.
func Version() string { return engineVersion() }

// ABIVersion is the version of the engine's ABI, or 0 if there is no engine. This package needs version 1.
func ABIVersion() int { return int(engineABIVersion()) }

// CheckEngine says why there is no usable engine, for a host that logs it at start; nil if there is one. The error wraps
// [ErrNoEngine], and names both versions when the library has another ABI than this package.
func CheckEngine() error {
	switch abi := engineABIVersion(); abi {
	case neededABIVersion:
		return nil
	case 0:
		return ErrNoEngine
	default:
		return fmt.Errorf("%w: library %s has ABI version %d, this package needs %d", ErrNoEngine, engineVersion(), abi, neededABIVersion)
	}
}

// status is kandev_policy_status.
type status int32

const (
	statusOK status = iota
	statusBufferTooSmall
	statusInvalidArgument
	statusBadConfig
	statusInternalError
)

// verdict is kandev_policy_verdict: a decision as numbers.
type verdict struct {
	kind        uint8
	optionKind  uint8
	reason      uint16
	status      uint16
	_           uint16
	optionIndex uint32
	optionIDLen uint32
	serverLen   uint32
	toolLen     uint32
	responseLen uint32
}

// answer makes the verdict the decision, without the strings. A number that this package doesn't know makes the verdict
// one that it doesn't understand: false.
func (v *verdict) answer(d *Decision) bool {
	if int(v.kind) >= len(kinds) || int(v.optionKind) >= len(optionKinds) || int(v.reason) >= len(reasons) {
		return false
	}
	d.Kind = Kind(v.kind)
	d.Reason = reasons[v.reason]
	d.OptionKind = optionKinds[v.optionKind]
	d.Status = int(v.status)
	return true
}
