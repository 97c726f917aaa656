// Package bridge answers the PermissionRequest hooks of agents over HTTP on loopback: those of unattended reviewers by
// itself, those of interactive sessions through the host's prompt.
//
//	b, err := bridge.Start(ctx, bridge.Options{Prompt: askThePerson, Logger: logger})
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//
//	// An unattended reviewer: what it may do is what its launch grants, until it has exited.
//	reviewer, err := b.RegisterReviewer("codex", []string{"kcap-review"})
//	if err != nil {
//		return err // the launch fails; BaseURL is no substitute
//	}
//	err = reviewer.Run(exec.CommandContext(ctx, "codex", "exec", prompt))
//
// An agent learns where to ask from the environment variable [EnvURL]. What its hook runs posts the payload to
//
//	POST <URL>/<vendor>/permission-request
//
// and hands the answer on; [Hook] does both, and so does `kandev-policy hook`.
//
// # Who may do what
//
// A URL holds a secret token. The one of [Bridge.BaseURL] is shared by all interactive sessions: each request on it is put
// to [Options.Prompt], but for the delivery of a reviewer's result. The one of a [Reviewer] is bound to a vendor and to
// the servers of its launch; requests on it are allowed or denied at once, and nobody is ever asked. A token proves which
// launch a request belongs to, so it goes to that launch's process and nowhere else: not into a log, a file, or an
// argument list, which other processes can read. Remove it from recorded environments with [ScrubEnv].
//
// # Answers
//
//   - 200 with the answer for the agent. Whatever goes wrong behind the token (the prompt fails, panics or is missing, an
//     internal error) is an answer that denies.
//   - 400 for a body that is not one complete permission request. Nothing is approved or asked.
//   - 404 for an unknown or revoked token, another vendor, path or method, a foreign Host, or an Origin header. They can't
//     be told apart, and the connection is closed.
//
// An agent takes what is not 200 for no decision; [Hook] turns it into an answer that denies.
//
// # Revocation
//
// Once [Reviewer.Revoke] has returned, no answer that allows is begun on that token, even for a request that was under way.
// What is answered before is with the operating system by then. It is logged afterwards, so a slow logger delays nobody's
// answer.
//
// # Threads
//
// Everything may be used by any number of goroutines at once. No lock is held while a body is read, a person is asked or
// an answer travels.
package bridge
