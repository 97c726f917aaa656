package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// The engine's part of a [Registry], in the same file or beside the engine's own:
//
//	type registryHandle struct                                                    // tokens; it frees itself as a handle does
//	func newRegistry(config, out []byte) (h *registryHandle, n int, s status)     // out: the shared token, or why not
//	func (h *registryHandle) mint(vendor, allowlist, out []byte) (int, status)    // out: the reviewer's JSON, or why not
//	func (h *registryHandle) revoke(token []byte) status                          // the token, or a URL that begins with it
//	func (h *registryHandle) find(token, vendor []byte) (reviewer uint64, s status)
//	func (h *registryHandle) decide(token, vendor, body, out []byte) (reviewer uint64, n int, s status)
//	func unclassifiedTools(catalog, server, toolsList, out []byte) (int, status)  // out: a JSON array, or why not
//
// An int is the length of what is in out, or the length needed with statusBufferTooSmall; of an error's text that is too
// long for out, only the beginning is there. The functions hold on to none of their arguments. An engine without an
// operating system of its own gets a token's randomness from crypto/rand.

const (
	statusRefused status = iota + statusInternalError + 1
	statusNoEntropy
	statusUnknownToken
)

// ErrRefused is wrapped by errors that say what of a call's arguments is refused.
var ErrRefused = errors.New("policy: refused")

// Room for what the engine answers: a decision on a hook payload is never longer than decisionBytes, an error's text is
// cut at problemBytes, and beside its servers a reviewer's JSON is shorter than that.
const (
	decisionBytes = 1024
	problemBytes  = 1024
	tokenBytes    = 43
)

// RegistryConfig is what a [Registry] is made with. The zero value is a good one.
type RegistryConfig struct {
	// EnabledVendors are the vendors that reviewers may be minted for, "codex" and "claude". nil is codex alone: Claude Code
	// is to be enabled only for launches with a strict MCP config.
	EnabledVendors []string
	// ResultChannelScope says on which tokens a reviewer's result may be delivered: "any" (also when empty) or "reviewer".
	ResultChannelScope string
	// Catalog is the catalog's JSON; nil is the built-in one.
	Catalog json.RawMessage
}

// appendJSON appends the config as the engine reads it.
func (c RegistryConfig) appendJSON(b []byte) []byte {
	b = append(b, `{"enabled_vendors":`...)
	if c.EnabledVendors == nil {
		b = append(b, "null"...)
	} else {
		b = appendJSONStrings(b, c.EnabledVendors)
	}
	if c.ResultChannelScope != "" {
		b = appendJSONMember(b, "result_channel_scope", c.ResultChannelScope)
	}
	if c.Catalog != nil {
		b = append(b, `,"catalog":`...)
		b = append(b, c.Catalog...)
	}
	return append(b, '}')
}

func appendJSONStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, s)
	}
	return append(b, ']')
}

// Registry holds the live tokens of one bridge: the shared one, and one for each unattended reviewer. It keeps digests of
// them only. It is safe for concurrent use, and decides without holding a lock. A nil Registry and a closed one know no
// token and mint none.
//
// Package bridge serves one over HTTP; a host with a server of its own can do so itself.
type Registry struct {
	handle atomic.Pointer[registryHandle]
}

// Minted is a reviewer that was registered.
type Minted struct {
	// Token is the reviewer's secret. It can't be asked for again.
	Token Token
	// Reviewer is a number from 1 on that is never used again: what a log may say in place of the token.
	Reviewer uint64
	// Servers are the ids of the servers that the reviewer is bound to, as the catalog spells them, each once.
	Servers []string
}

// NewRegistry makes a registry with no reviewer yet, and its shared token, which can't be asked for again. The error
// wraps [ErrBadConfig], and says which key or which rule of the catalog; or [ErrNoEngine]: unlike a [Policy], nothing
// works without an engine, since a reviewer that can't be answered must not be launched.
func NewRegistry(cfg RegistryConfig) (*Registry, Token, error) {
	if err := CheckEngine(); err != nil {
		return nil, Token{}, err
	}
	if c := cfg.Catalog; c != nil && !json.Valid(c) {
		// Only a whole value may be put between braces that are ours.
		return nil, Token{}, fmt.Errorf("%w: catalog: not one strict JSON object", ErrBadConfig)
	}
	var out [problemBytes]byte
	h, n, s := newRegistry(cfg.appendJSON(nil), out[:])
	if s != statusOK {
		return nil, Token{}, problem(s, out[:], n)
	}
	r := new(Registry)
	r.handle.Store(h)
	secret := string(out[:n])
	return r, Token{&secret}, nil
}

// Mint registers a reviewer and makes its token. The vendor must be enabled, and the token is good for it only; each entry
// of the allowlist must be the id of an auto-approvable server of the catalog (white space around it and ASCII case don't
// matter; the result channel's own is allowed and binds nothing). An empty allowlist binds nothing.
//
// The error wraps [ErrRefused] and names the vendor or the entry. Then the launch must fail: the shared token is no
// substitute.
func (r *Registry) Mint(vendor string, allowlist []string) (Minted, error) {
	h := r.load()
	if h == nil {
		return Minted{}, ErrNoEngine
	}
	list := appendJSONStrings(nil, allowlist)
	out := make([]byte, problemBytes+len(list))
	n, s := h.mint([]byte(vendor), list, out)
	if s != statusOK {
		return Minted{}, problem(s, out, n)
	}
	var minted struct {
		Token    string
		Reviewer uint64
		Servers  []string
	}
	err := json.Unmarshal(out[:n], &minted)
	if err != nil || len(minted.Token) != tokenBytes || minted.Reviewer == 0 {
		return Minted{}, fmt.Errorf("%w: no usable result", ErrInternal)
	}
	clear(out)
	return Minted{Token{&minted.Token}, minted.Reviewer, minted.Servers}, nil
}

// Revoke ends a reviewer's token, given as such or as a URL whose path begins with it. Once it has returned, no decision
// on that token is made any more, not even for a request that was under way. It is idempotent, and ignores what is no live
// reviewer's token; the shared one lives as long as the registry. Should the engine fail, the registry is closed: rather
// no token at all than one that should be gone.
func (r *Registry) Revoke(tokenOrURL string) {
	if h := r.load(); h != nil && h.revoke([]byte(tokenOrURL)) != statusOK {
		r.Close()
	}
}

// Find says whose token it is: a reviewer's number, or 0 for the shared token, which is good for every vendor. It is not
// ok for one that is unknown or revoked, or that is another vendor's: answer with status 404.
func (r *Registry) Find(token, vendor string) (reviewer uint64, ok bool) {
	h := r.load()
	if h == nil {
		return 0, false
	}
	reviewer, s := h.find([]byte(token), []byte(vendor))
	return reviewer, s == statusOK
}

// Decide decides a hook payload that came on a token for a vendor. It is not ok as for [Registry.Find], and the decision
// is a Deny then; otherwise Status and Response of the decision say what to answer, but for an Ask, which is for a person.
func (r *Registry) Decide(token, vendor string, body []byte) (d Decision, reviewer uint64, ok bool) {
	h := r.load()
	if h == nil {
		return refusal(true, ReasonEngineUnavailable), 0, false
	}
	var out [decisionBytes]byte
	reviewer, n, s := h.decide([]byte(token), []byte(vendor), body, out[:])
	if s == statusUnknownToken || r.load() != h {
		return refusal(true, ReasonEngineUnavailable), 0, false
	}
	var answer result
	if s == statusOK && json.Unmarshal(out[:n], &answer) == nil {
		if d, known := answer.decision(); known {
			return d, reviewer, true
		}
	}
	return refusal(true, ReasonInternalError), 0, true
}

// Close ends every token. It is idempotent, and never waits; no decision is made once it has returned. The native
// memory is freed by the garbage collector. The error is always nil.
func (r *Registry) Close() error {
	if r != nil {
		r.handle.Store(nil)
	}
	return nil
}

func (r *Registry) load() *registryHandle {
	if r == nil {
		return nil
	}
	return r.handle.Load()
}

// UnclassifiedTools is the live guard: it names each tool that an MCP server really offers and that the catalog doesn't
// classify as unattended-safe there, in the order of the list, each once. None are good news. Of a server that no reviewer
// may be bound to, every tool is unclassified.
//
// catalog is JSON, or nil for the built-in one; server is the id of one of its servers, or of its result channel's;
// toolsList is the result of MCP's tools/list, an object with "tools", all pages put together. The error wraps
// [ErrBadConfig] for a catalog that breaks a rule, [ErrRefused] for a server that it doesn't have or a list that is none,
// or [ErrNoEngine]. An error is no pass.
func UnclassifiedTools(catalog json.RawMessage, server string, toolsList []byte) ([]string, error) {
	if err := CheckEngine(); err != nil {
		return nil, err
	}
	if catalog != nil && len(catalog) == 0 {
		catalog = json.RawMessage(" ") // to the engine an empty one is the built-in one
	}
	out := make([]byte, problemBytes)
	n, s := unclassifiedTools(catalog, []byte(server), toolsList, out)
	if s == statusBufferTooSmall {
		out = make([]byte, n)
		n, s = unclassifiedTools(catalog, []byte(server), toolsList, out)
	}
	if s != statusOK {
		return nil, problem(s, out, n)
	}
	var names []string
	if json.Unmarshal(out[:n], &names) != nil {
		return nil, fmt.Errorf("%w: no usable result", ErrInternal)
	}
	return names, nil
}

// problem makes an error of a status and of the text that came with it.
func problem(s status, out []byte, n int) error {
	text := strings.ToValidUTF8(string(out[:min(n, len(out))]), "")
	switch s {
	case statusBadConfig:
		return fmt.Errorf("%w: %s", ErrBadConfig, text)
	case statusRefused:
		return fmt.Errorf("%w: %s", ErrRefused, text)
	case statusNoEntropy:
		return fmt.Errorf("%w: no randomness to make a token from", ErrInternal)
	default:
		return fmt.Errorf("%w: status %d", ErrInternal, s)
	}
}
