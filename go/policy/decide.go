package policy

// stackRequest is the size up to which an encoded request lives on the stack. It is enough for the options that agents
// offer, and small enough that clearing it costs nothing to speak of.
const stackRequest = 1024

// Decide decides a request that the host has decoded. It allocates nothing: the decision's strings are the request's. It
// never panics, and what goes wrong is an Ask with its reason.
func (p *Policy) Decide(req Request) (d Decision) {
	h := p.load()
	if h == nil {
		return p.refuse(ReasonEngineUnavailable)
	}
	meta := readMetadata(req.ToolMeta)
	size := encodedSize(&req, &meta)
	if size > maxDocumentBytes {
		return p.refuse(ReasonMalformedFrame)
	}
	var v verdict
	var s status
	if size <= stackRequest {
		var buffer [stackRequest]byte
		s = h.evaluateEncoded(buffer[:size], &req, &meta, &v)
	} else {
		buffer := borrowBuffer(int(size))
		s = h.evaluateEncoded(*buffer, &req, &meta, &v)
		returnBuffer(buffer)
	}
	if s != statusOK || !req.answer(&d, &v, &meta) {
		return p.refuse(ReasonInternalError)
	}
	return d
}

func (h *handle) evaluateEncoded(buffer []byte, req *Request, meta *metadata, v *verdict) status {
	encode(buffer, req, meta)
	return h.evaluateRequest(buffer, v)
}

// answer makes a verdict about the request the decision, with the request's own strings; false if the two don't fit
// together.
func (r *Request) answer(d *Decision, v *verdict, meta *metadata) (ok bool) {
	if !v.answer(d) {
		return false
	}
	if d.Kind == Select {
		if uint64(v.optionIndex) >= uint64(len(r.Options)) {
			return false
		}
		d.OptionID = r.Options[v.optionIndex].OptionID
	}
	if v.serverLen == 0 {
		return true
	}
	d.Server, d.Tool, ok = cutName(r.identity(meta), int(v.serverLen), int(v.toolLen))
	return ok
}

// identity is the statement that the engine took the tool's name from, where it has found a qualified one.
func (r *Request) identity(meta *metadata) string {
	switch {
	case r.ToolName != nil:
		return *r.ToolName
	case meta.flags&flagHasMetaToolName != 0:
		return meta.toolName
	default:
		return r.Title
	}
}

// cutName cuts a qualified name, mcp__<server>__<tool>, at the lengths that the engine has found.
func cutName(name string, serverLen, toolLen int) (server, tool string, ok bool) {
	const prefix, boundary = len("mcp__"), len("__")
	if len(name) != prefix+serverLen+boundary+toolLen {
		return "", "", false
	}
	return name[prefix : prefix+serverLen], name[len(name)-toolLen:], true
}
