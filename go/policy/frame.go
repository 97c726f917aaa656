package policy

import "unsafe"

// stackStrings is the size up to which a decision's strings are first written to the stack. A decision seldom has more
// than 256 bytes of them.
const stackStrings = 512

// DecideFrame decides a frame: the params of an ACP session/request_permission (v1 or v2), or the whole JSON-RPC request
// around them. It allocates at most once. It never panics, and what goes wrong is an Ask with its reason. The decision is
// memory of its own: nothing of frame is kept, and frame may be reused as soon as DecideFrame returns.
func (p *Policy) DecideFrame(frame []byte) (d Decision) {
	h := p.load()
	if h == nil {
		return p.refuse(ReasonEngineUnavailable)
	}
	var v verdict
	var buffer [stackStrings]byte
	size, s := h.evaluateFrame(frame, buffer[:], &v)
	var strings []byte
	switch {
	case s == statusOK && size <= len(buffer):
		if size > 0 {
			strings = make([]byte, size)
			copy(strings, buffer[:size])
		}
	case s == statusBufferTooSmall:
		strings = make([]byte, size)
		if size, s = h.evaluateFrame(frame, strings, &v); s != statusOK || size != len(strings) {
			return p.refuse(ReasonInternalError)
		}
	default:
		return p.refuse(ReasonInternalError)
	}
	if !v.answerWith(&d, strings) {
		return p.refuse(ReasonInternalError)
	}
	return d
}

// answerWith makes the verdict the decision, with its strings, which stand in b one behind the other; false if they don't
// fit it. The decision takes b over.
func (v *verdict) answerWith(d *Decision, b []byte) bool {
	if !v.answer(d) {
		return false
	}
	optionID, server, tool, response := uint64(v.optionIDLen), uint64(v.serverLen), uint64(v.toolLen), uint64(v.responseLen)
	if optionID+server+tool+response != uint64(len(b)) {
		return false
	}
	// The strings share the one allocation. Nobody writes to it from here on but to the response, and that is a slice of
	// its own bytes alone.
	text := unsafe.String(unsafe.SliceData(b), len(b)-int(response))
	if response > 0 {
		d.Response = b[len(text):]
	}
	d.OptionID, text = text[:optionID], text[optionID:]
	d.Server, d.Tool = text[:server], text[server:]
	return true
}
