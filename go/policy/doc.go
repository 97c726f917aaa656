// Package policy decides permission requests of AI coding agents for the host that runs them.
//
// An agent asks its host before it runs a tool. A host that injects an MCP server of its own into every session can
// answer the requests for that server itself, but only where it is proven that the call goes there. This package gives
// that answer: it is a thin wrapper around the library of the same project, which does all of the deciding.
//
//	p, err := policy.New(policy.Config{
//		AgentType:         "claude-acp",
//		Port:              port,
//		MCPServers:        servers,
//		InjectedKandevMCP: true, // this host has put its server into the list
//	})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//
//	switch d := p.Decide(request); d.Kind {
//	case policy.Select:
//		return answer(d.OptionID)
//	case policy.Cancel:
//		return cancelled()
//	default:
//		return prompt() // as before
//	}
//
// # Which function
//
//   - [Policy.Decide] for a host that has decoded the frame, as most have. It allocates nothing.
//   - [Policy.DecideFrame] for the frame's bytes. It allocates at most once, and never keeps or aliases the frame.
//   - [DecideJSON] for one decision under a config given as JSON, which may also be a reviewer's; [ExplainJSON] adds why.
//   - [NewJSON] for many decisions under such a config.
//   - [Registry] for the hooks of unattended reviewers, each with a secret token; package bridge serves it over HTTP.
//
// # Fail closed
//
// What can't be proven is an [Ask]: let the request go the way it went before. That holds for whatever is malformed,
// ambiguous, conflicting, unknown or too large, for an internal error, and for a host without an engine; no decision
// comes with an error that a caller could forget, and none panics. The zero [Decision] is an Ask, and a nil *[Policy]
// gives one. Under a config with "policy":"unattended_review", where nobody is there to ask, each of these is a [Deny].
//
// # Counting
//
// [Counters] counts decisions by reason and is an expvar.Var: one line behind the decision, in whatever place the host
// wants to count.
//
// # Provenance
//
// [Config.InjectedKandevMCP] is the host's word that it injected its server. It is no part of any document format, so
// that a document which a user can write never turns it on: set it in code, right where the server is injected.
//
// # Ownership
//
// A call borrows its arguments and keeps none of them. The strings of a decision by [Policy.Decide] are those of the
// request, which share their memory as Go strings do; all other results are memory of their own. [New] holds a little
// native memory, which [Policy.Close] gives up, or the garbage collector when the Policy is forgotten.
//
// # Threads
//
// Everything may be used by any number of goroutines at once, Close included. Through cgo, decisions take no lock and
// share no counter, so they scale with the processors. Without it each takes one of as many instances as there are
// processors, and the decisions of a [Registry] come one after the other.
//
// # Limits
//
// A frame, a config, and the parts of a [Request] that are read together, have at most 16 MiB; a hook payload has 1 MiB; a
// qualified tool name has 256 bytes. What is longer is malformed.
//
// # Secrets
//
// A decision says decision, reason, option id and kind, server and tool, and nothing else of a request or a config.
// [Config], [MCPServer], [Request], [Option] and [Decision] print with every verb of package fmt, and in log/slog, without
// headers, environment, arguments, URLs, titles and metadata. An encoder such as encoding/json still writes a config, its
// servers, and options, and fmt prints all of what is in an unexported field; see [Config].
//
// # Engines
//
// On linux and darwin, amd64 and arm64, the library is linked through cgo: as a shared library, or with the build tag
// kandev_policy_static as an archive, for a program that needs no other file. With CGO_ENABLED=0, on other systems, or with
// the tag kandev_policy_wasm, the same library runs as WebAssembly, with the same answers: it is compiled in the background
// as the program starts, and what comes before it is ready waits some hundredths of a second. [Engine] says which it is;
// docs/linking.md in the repository compares the ways.
//
// With the tag kandev_policy_none, or when the library has another ABI version than this package, there is no engine:
// everything builds, [Engine] says "none", [CheckEngine] why, New succeeds, and every decision is
// [ReasonEngineUnavailable].
package policy
