package bridge

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

// pathEnd is the last segment of the one path that is served, behind a token and a vendor.
const pathEnd = "permission-request"

// strangerPatience is how long a body is waited for that comes without a known token.
const strangerPatience = time.Second

// What a record says in place of a reason where nothing was decided.
const (
	notFound = "not_found"
	tooSlow  = "too_slow"
)

// lastResort says that a host's logger has panicked. It isn't the default logger, which may end in the same handler.
var lastResort = log.New(os.Stderr, "", log.LstdFlags)

// serve answers one request: who asks, what, and may they?
func (b *Bridge) serve(w http.ResponseWriter, r *http.Request) {
	e := &exchange{options: &b.options, waiting: b.waiting, w: w, control: http.NewResponseController(w), start: time.Now()}
	// A panic is a fault of ours: the agent must neither wait nor take it for an approval.
	defer func() {
		if recover() != nil {
			e.answer(internalError())
		}
		e.record(r.Context())
	}()

	// The server itself reads what we leave unread of a small body, also before it closes a connection.
	_ = e.control.SetReadDeadline(e.start.Add(min(strangerPatience, b.options.BodyTimeout)))
	token, vendor, ok := b.address(r)
	if !ok {
		e.notFound()
		return
	}
	if e.reviewer, ok = b.registry.Find(token, vendor); !ok {
		e.notFound()
		return
	}
	e.vendor = vendor
	body, ok := e.read(r)
	if !ok {
		e.tooSlow()
		return
	}
	decision, _, ok := b.registry.Decide(token, vendor, body)
	switch {
	case !ok:
		e.notFound()
	case decision.Reason == policy.ReasonInternalError:
		e.answer(internalError())
	case decision.Kind == policy.Ask:
		e.answer(e.ask(r.Context(), decision, body))
	default:
		b.whileLive(e, func() { e.answer(decision) })
	}
}

// address takes a request's target apart. It is compared as it was sent: neither an encoding, nor a query, nor an empty
// segment leads to the same place. A page in a browser can't reach the bridge: its requests have an Origin, or another
// name for the Host.
func (b *Bridge) address(r *http.Request) (token, vendor string, ok bool) {
	if r.Method != http.MethodPost || r.Host != b.host || len(r.Header["Origin"]) > 0 {
		return "", "", false
	}
	segments := strings.Split(r.RequestURI, "/")
	if len(segments) != 4 || segments[0] != "" || segments[3] != pathEnd {
		return "", "", false
	}
	return segments[1], segments[2], true
}

// whileLive sends an answer to a reviewer, who may have been revoked since the decision. A revocation waits for it, so it
// is sent to the operating system: what is left in a buffer of ours would travel after the revocation.
func (b *Bridge) whileLive(e *exchange, send func()) {
	if e.reviewer == 0 {
		send()
		return
	}
	e.limitSending() // before a revocation may cut it short
	b.mu.Lock()
	reviewer := b.reviewers[e.reviewer]
	b.mu.Unlock()
	if reviewer == nil || !reviewer.whileLive(e.control, send) {
		e.notFound()
	}
}

// exchange is one request and its answer.
type exchange struct {
	options  *Options
	waiting  chan struct{} // places of those who wait for a person
	w        http.ResponseWriter
	control  *http.ResponseController
	start    time.Time
	vendor   string // once the token is known
	reviewer uint64

	limited  bool // sending has its deadline
	status   int  // 0: no answer has begun
	word     string
	decision policy.Decision
}

// read reads the body to its cap and no further. It is not ok if the client doesn't send it in time; a body that ends too
// early is one that can't be decided.
func (e *exchange) read(r *http.Request) (body []byte, ok bool) {
	if r.ContentLength > maxBodyBytes {
		e.abandon()
		return nil, true
	}
	_ = e.control.SetReadDeadline(e.start.Add(e.options.BodyTimeout))
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.abandon()
		return nil, false
	case err != nil || len(body) > maxBodyBytes:
		e.abandon()
		return nil, true
	}
	_ = e.control.SetReadDeadline(time.Time{})
	return body, true
}

// abandon gives up on the rest of the body, and with it on the connection.
func (e *exchange) abandon() {
	e.w.Header()["Connection"] = []string{"close"}
	_ = e.control.SetReadDeadline(e.start)
}

// answer answers with a decision: the agent's answer where there is one, else the decision itself.
func (e *exchange) answer(d policy.Decision) {
	body := []byte(d.Response)
	if d.Status != http.StatusOK {
		body, _ = d.MarshalJSON() // which never fails
	}
	e.send(d.Status, body, string(d.Reason), d)
}

// notFound also closes the connection, so that those without a token can't keep the places of those with one.
func (e *exchange) notFound() {
	e.w.Header()["Connection"] = []string{"close"}
	e.send(http.StatusNotFound, []byte(`{"error":"not_found"}`), notFound, policy.Decision{Kind: policy.Deny})
}

func (e *exchange) tooSlow() {
	e.send(http.StatusRequestTimeout, []byte(`{"error":"too_slow"}`), tooSlow, policy.Decision{Kind: policy.Deny})
}

// limitSending sets the deadline for the whole answer, once.
func (e *exchange) limitSending() {
	if !e.limited {
		e.limited = true
		_ = e.control.SetWriteDeadline(time.Now().Add(e.options.AnswerTimeout))
	}
}

// send counts and sends the one answer, down to the operating system: a revocation that returns later finds none of it
// left here, and nothing that a host's logger does afterwards spoils it. A later answer changes nothing.
func (e *exchange) send(status int, body []byte, word string, d policy.Decision) {
	if e.status != 0 {
		return
	}
	e.status, e.word, e.decision = status, word, d
	header := e.w.Header()
	header["Content-Type"] = []string{"application/json"}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	header["Cache-Control"] = []string{"no-store"}
	e.limitSending()
	if d.Reason != "" {
		e.options.Decisions.Count(d)
	}
	e.w.WriteHeader(status)
	_, _ = e.w.Write(body)
	_ = e.control.Flush()
}

// record writes the log record. Server and tool are the parts of a name that has been parsed, so they hold letters,
// digits, _ and - only; all else is words and numbers of ours.
//
// The answer has been sent, so a handler that panics costs the record alone, and not the connection. What it panics with is
// the host's and may hold anything: its type says enough.
func (e *exchange) record(ctx context.Context) {
	defer func() {
		if value := recover(); value != nil {
			lastResort.Printf("bridge: the logger panicked with a %T, so a record is lost", value)
		}
	}()
	level := slog.LevelInfo
	if e.status == http.StatusNotFound {
		level = slog.LevelDebug // anybody on the machine can cause these
	}
	attrs := append(make([]slog.Attr, 0, 8),
		slog.String("decision", e.decision.Kind.String()),
		slog.String("reason", e.word),
		slog.Int("status", e.status))
	if e.vendor != "" {
		attrs = append(attrs, slog.String("vendor", e.vendor), slog.Uint64("reviewer", e.reviewer))
	}
	if e.decision.Tool != "" {
		attrs = append(attrs, slog.String("server", e.decision.Server), slog.String("tool", e.decision.Tool))
	}
	attrs = append(attrs, slog.Duration("took", time.Since(e.start)))
	// The request's context may be done, and a handler of the host's may care.
	e.options.Logger.LogAttrs(context.WithoutCancel(ctx), level, "permission request", attrs...)
}
