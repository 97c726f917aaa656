package policy

// Option is a choice that the agent offers.
type Option struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"` // for people; never read here
	Kind     string `json:"kind"`
}

// Request is a permission request as a host holds it after decoding a frame: of ACP v1 the toolCall and the options, of
// v2 the subject's toolCall and the options. The decision is the one that [Policy.DecideFrame] gives for the frame,
// apart from what the host's decoder has already hidden, such as duplicate keys.
//
// A host that decodes v2 has to look at the subject's type. A subject that is null, or of any type but exactly "tool_call",
// has no identity, whatever its toolCall holds: set Options alone. A frame with both toolCall and subject (even if one is
// null), with neither, or without an object where a toolCall has to be, is malformed: a Request can't express it, so don't
// call [Policy.Decide], but leave the request to the user, as for [ReasonMalformedFrame].
//
// A string that is not UTF-8, and more than 16 MiB in all, is [ReasonMalformedFrame].
//
// A Request prints, and is encoded, without title and metadata; [Config] says where package fmt gets past that.
type Request struct {
	// ToolName is toolCall.name; nil: the agent sent none, or null.
	ToolName *string
	// ToolMeta is toolCall._meta; nil: the agent sent none, or null. Only what the decision needs is read, and understood
	// as nil, string and map[string]any; anything else there is [ReasonIdentityMalformed]. A nil map, slice or pointer is
	// nil, as it is in JSON. The map must not be written to during the call.
	ToolMeta map[string]any
	// Title is toolCall.title, Kind is toolCall.kind; empty: the agent sent none.
	Title string
	Kind  string
	// Options are the offered options, in their order. Without one the decision is a [Cancel].
	Options []Option
}
