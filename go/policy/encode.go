package policy

import "encoding/binary"

// The flat encoding of a request, as kandev_policy.h describes it at kandev_policy_evaluate_request: a head of eight 32-bit
// little-endian integers, two lengths per option, and the texts.
const (
	flagHasName uint32 = 1 << iota
	flagMetaMalformed
	flagMetaAmbiguous
	flagHasMetaToolName
	flagHasMetaServer
)

const (
	encodedHead   = 8 * 4
	encodedOption = 2 * 4
)

// encodedSize is the length of the request's encoding. In 64 bits it can't overflow: a Go string is shorter than 1<<47
// bytes, and the options have to be in memory.
func encodedSize(req *Request, meta *metadata) uint64 {
	size := encodedHead + encodedOption*uint64(len(req.Options))
	if req.ToolName != nil {
		size += uint64(len(*req.ToolName))
	}
	size += uint64(len(req.Title)) + uint64(len(req.Kind))
	size += uint64(len(meta.toolName)) + uint64(len(meta.serverName)) + uint64(len(meta.serverFrom))
	for i := range req.Options {
		size += uint64(len(req.Options[i].OptionID)) + uint64(len(req.Options[i].Kind))
	}
	return size
}

// encode fills b, which has the encodedSize, with the request's encoding.
func encode(b []byte, req *Request, meta *metadata) {
	flags, name := meta.flags, ""
	if req.ToolName != nil {
		flags, name = flags|flagHasName, *req.ToolName
	}
	head, table, texts := b[:encodedHead], b[encodedHead:], b[encodedHead+encodedOption*len(req.Options):]
	binary.LittleEndian.PutUint32(head[0:], flags)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(name)))
	binary.LittleEndian.PutUint32(head[8:], uint32(len(req.Title)))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(req.Kind)))
	binary.LittleEndian.PutUint32(head[16:], uint32(len(meta.toolName)))
	binary.LittleEndian.PutUint32(head[20:], uint32(len(meta.serverName)))
	binary.LittleEndian.PutUint32(head[24:], uint32(len(meta.serverFrom)))
	binary.LittleEndian.PutUint32(head[28:], uint32(len(req.Options)))
	texts = texts[copy(texts, name):]
	texts = texts[copy(texts, req.Title):]
	texts = texts[copy(texts, req.Kind):]
	texts = texts[copy(texts, meta.toolName):]
	texts = texts[copy(texts, meta.serverName):]
	texts = texts[copy(texts, meta.serverFrom):]
	for i := range req.Options {
		option := &req.Options[i]
		binary.LittleEndian.PutUint32(table[0:], uint32(len(option.OptionID)))
		binary.LittleEndian.PutUint32(table[4:], uint32(len(option.Kind)))
		table = table[encodedOption:]
		texts = texts[copy(texts, option.OptionID):]
		texts = texts[copy(texts, option.Kind):]
	}
}
