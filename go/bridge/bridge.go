package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

// The limits that are used where [Options] says nothing. A body has at most 1 MiB, the engine's own limit.
const (
	DefaultMaxConnections = 1024
	DefaultMaxPrompts     = 1024
	DefaultHeaderTimeout  = 5 * time.Second
	DefaultBodyTimeout    = 10 * time.Second
	DefaultAnswerTimeout  = 10 * time.Second
	DefaultIdleTimeout    = 15 * time.Second
	DefaultGrace          = 5 * time.Second
)

const (
	maxBodyBytes   = 1 << 20
	maxHeaderBytes = 8 << 10
)

// ErrClosed is returned for a bridge that has been closed.
var ErrClosed = errors.New("bridge: closed")

// Options are what a bridge is started with. The zero value is a bridge for reviewers of Codex alone.
type Options struct {
	// Prompt asks a person about a request of an interactive session. nil denies each of them.
	Prompt Prompt
	// Logger gets one record for each answer: what was decided, why and for whom (a reviewer's number, 0 for the shared
	// token), the MCP server and tool, and the status; at debug level for a 404, which anybody on the machine can cause, and
	// at info level else. It never holds a token, a URL, or anything else of a request. nil logs nothing.
	//
	// A record is written when its answer has been sent, so a handler that is slow or panics delays and spoils none; a slow
	// one keeps the connection's place meanwhile. A panic is reported on standard error, by its type alone.
	Logger *slog.Logger
	// Decisions counts each decision by its reason, so neither a 404 nor a 408; nil counts nothing.
	Decisions *policy.Counters
	// EnabledVendors are the vendors that reviewers may be registered for; nil is "codex" alone. Enable "claude" for
	// launches with a strict MCP config (--strict-mcp-config).
	EnabledVendors []string
	// ResultChannelScope says on which tokens a reviewer's result may be delivered: "any" (also when empty) or "reviewer".
	ResultChannelScope string
	// Catalog is the JSON of the servers and tools that reviewers may be granted; nil is the built-in one.
	Catalog json.RawMessage

	// MaxConnections is how many connections are served at once; more of them wait to be accepted. One whose request waits
	// for a person is not among them.
	MaxConnections int
	// MaxPrompts is how many requests wait for a person at once; more of them are denied. So those who wait take no place
	// from reviewers.
	MaxPrompts int
	// HeaderTimeout and BodyTimeout are how long a client may take to send a request's header and its body.
	HeaderTimeout, BodyTimeout time.Duration
	// AnswerTimeout is how long a client may take to receive the answer.
	AnswerTimeout time.Duration
	// IdleTimeout is how long a kept-alive connection may stay without a request.
	IdleTimeout time.Duration
	// Grace is how long Close waits for requests that are being answered.
	Grace time.Duration
}

func (o Options) withDefaults() Options {
	o.MaxConnections = cmp.Or(o.MaxConnections, DefaultMaxConnections)
	o.MaxPrompts = cmp.Or(o.MaxPrompts, DefaultMaxPrompts)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, DefaultHeaderTimeout)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, DefaultBodyTimeout)
	o.AnswerTimeout = cmp.Or(o.AnswerTimeout, DefaultAnswerTimeout)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, DefaultIdleTimeout)
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Bridge is a running bridge. It prints without its tokens.
type Bridge struct {
	options  Options
	registry *policy.Registry
	shared   policy.Token
	host     string // the one Host that requests may have
	server   *http.Server

	// waiting has the places of those who wait for a person.
	waiting chan struct{}
	// cancel ends what waits for a person.
	cancel context.CancelFunc
	// stopWatching ends the watch over the context of Start.
	stopWatching func() bool
	served       chan struct{} // closed when the server has stopped accepting
	closed       chan struct{} // closed when Close is through

	mu        sync.Mutex
	closing   bool
	reviewers map[uint64]*Reviewer
}

// Start starts a bridge on a free port of 127.0.0.1. It runs until Close, or until ctx is done.
//
// The error wraps [policy.ErrBadConfig] for a catalog or vendors that can't be used, and [policy.ErrNoEngine] in a build
// without an engine, which can't answer anybody.
func Start(ctx context.Context, opts Options) (*Bridge, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	if opts.MaxConnections < 0 || opts.MaxPrompts < 0 {
		return nil, errors.New("bridge: MaxConnections or MaxPrompts is negative")
	}
	registry, shared, err := policy.NewRegistry(policy.RegistryConfig{
		EnabledVendors:     opts.EnabledVendors,
		ResultChannelScope: opts.ResultChannelScope,
		Catalog:            opts.Catalog,
	})
	if err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		registry.Close()
		return nil, fmt.Errorf("bridge: %w", err)
	}

	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &Bridge{
		options:   opts,
		registry:  registry,
		shared:    shared,
		host:      listener.Addr().String(),
		waiting:   make(chan struct{}, opts.MaxPrompts),
		cancel:    cancel,
		served:    make(chan struct{}),
		closed:    make(chan struct{}),
		reviewers: map[uint64]*Reviewer{},
	}
	b.server = &http.Server{
		Handler:           http.HandlerFunc(b.serve),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnContext:       withConnection,
		ReadHeaderTimeout: opts.HeaderTimeout,
		IdleTimeout:       opts.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// Its messages may quote a request.
		ErrorLog:                     log.New(io.Discard, "", 0),
		DisableGeneralOptionsHandler: true,
	}
	go func() {
		defer close(b.served)
		_ = b.server.Serve(limit(listener, opts.MaxConnections)) // it ends with http.ErrServerClosed
	}()
	b.stopWatching = context.AfterFunc(ctx, func() { _ = b.Close() })
	return b, nil
}

// BaseURL is where interactive sessions ask: the value of [EnvURL] for an agent that a person watches. It holds the shared
// token.
func (b *Bridge) BaseURL() string { return b.url(b.shared) }

func (b *Bridge) url(token policy.Token) string { return "http://" + b.host + "/" + token.Expose() }

// Close revokes every reviewer, ends what waits for a person with an answer that denies, waits up to the grace period for
// requests that are being answered, and frees the port. It is idempotent, and returns when the bridge is down. The error
// is always nil.
func (b *Bridge) Close() error {
	b.mu.Lock()
	first := !b.closing
	b.closing = true
	reviewers := b.reviewers
	b.reviewers = map[uint64]*Reviewer{}
	b.mu.Unlock()
	if !first {
		<-b.closed
		return nil
	}
	defer close(b.closed)

	b.stopWatching()
	// All at once: each may wait for a client of its own.
	var revocations sync.WaitGroup
	for _, reviewer := range reviewers {
		revocations.Go(reviewer.Revoke)
	}
	revocations.Wait()
	b.cancel()
	grace, done := context.WithTimeout(context.Background(), b.options.Grace)
	defer done()
	if b.server.Shutdown(grace) != nil {
		_ = b.server.Close()
	}
	<-b.served
	return b.registry.Close()
}

// Reviewers is how many reviewers are registered and not revoked.
func (b *Bridge) Reviewers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.reviewers)
}

// String gives the address alone.
func (b *Bridge) String() string {
	if b == nil {
		return "bridge"
	}
	return "bridge on " + b.host
}

// Format writes what String gives, for every verb.
func (b *Bridge) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, b.String()) }

// LogValue gives what String gives.
func (b *Bridge) LogValue() slog.Value { return slog.StringValue(b.String()) }
