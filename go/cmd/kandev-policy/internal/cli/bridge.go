package cli

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/bridge"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
)

func newBridge(streams Streams) *cobra.Command {
	var vendors []string
	var catalogPath, scope string
	command := &cobra.Command{
		Use:   "bridge",
		Short: "Run a bridge for trying hooks out, with you as the person to ask",
		Long: `Run a bridge for trying hooks out. It prints the shared URL; requests on it are shown, and you answer them.

The lines that you type:

  mint VENDOR [SERVER…]   make a reviewer, and print its URL
  revoke NUMBER           end a reviewer's token
  list                    show the reviewers
  y, n                    answer the oldest open request
  quit                    end the bridge, as the end of input does

A URL is the value of ` + bridge.EnvURL + ` for an agent; it holds a secret, which is why a host puts it into the agent's
environment and nowhere else. Records of what was decided go to standard error.`,
		Example: `  kandev-policy bridge
  kandev-policy bridge --enable codex,claude --catalog catalog.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			catalog, err := readCatalog(streams, catalogPath)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			desk := &desk{out: screen.New(streams.Out), questions: make(chan question)}
			b, err := bridge.Start(ctx, bridge.Options{
				Prompt:             desk.ask,
				Logger:             slog.New(slog.NewTextHandler(streams.Err, nil)),
				EnabledVendors:     vendors,
				ResultChannelScope: scope,
				Catalog:            catalog,
			})
			if err != nil {
				return unusable(err)
			}
			defer b.Close()
			desk.bridge = b
			return failed(desk.run(ctx, streams.In))
		},
	}
	flags := command.Flags()
	flags.StringSliceVar(&vendors, "enable", []string{"codex"}, "`vendors` that reviewers may be made for: codex, claude")
	flags.StringVar(&scope, "result-channel-scope", "any", "tokens that a result may come on: `any or reviewer`")
	catalogFlag(command, &catalogPath)
	return command
}

// desk is where a person sits.
type desk struct {
	out       *screen.Screen
	bridge    *bridge.Bridge
	questions chan question
	open      []question
	reviewers []*bridge.Reviewer
}

type question struct {
	ctx     context.Context
	request bridge.PromptRequest
	answer  chan bridge.Answer
}

// ask waits until the person has answered, or the agent is gone.
func (d *desk) ask(ctx context.Context, request bridge.PromptRequest) (bridge.Answer, error) {
	q := question{ctx, request, make(chan bridge.Answer, 1)}
	select {
	case d.questions <- q:
	case <-ctx.Done():
		return bridge.Answer{}, ctx.Err()
	}
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		return bridge.Answer{}, ctx.Err()
	}
}

func (d *desk) run(ctx context.Context, in io.Reader) error {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	d.out.Printf("shared %s\n", d.bridge.BaseURL())
	for d.out.Err() == nil {
		select {
		case q := <-d.questions:
			d.open = append(d.open, q)
			d.out.Printf("%s asks about %s %s  %s\n", q.request.Vendor, screen.Strong(document.Printable(q.request.ToolName)),
				document.Printable(shortened(string(q.request.ToolInput))), screen.Faint("y or n?"))
		case line, ok := <-lines:
			if !ok || !d.do(strings.Fields(line)) {
				return d.out.Err()
			}
		case <-ctx.Done():
			return d.out.Err()
		}
	}
	return d.out.Err()
}

const maxShown = 2000

func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// do carries out a line; it is false for the last one.
func (d *desk) do(words []string) bool {
	if len(words) == 0 {
		return true
	}
	switch command, args := words[0], words[1:]; {
	case command == "quit" && len(args) == 0:
		return false
	case command == "y" && len(args) == 0, command == "n" && len(args) == 0:
		d.decide(command == "y")
	case command == "mint" && len(args) > 0:
		d.mint(args[0], args[1:])
	case command == "revoke" && len(args) == 1:
		d.revoke(args[0])
	case command == "list" && len(args) == 0:
		for _, r := range d.reviewers {
			d.show(r)
		}
		d.out.Printf("%s\n", count(len(d.reviewers), "reviewer"))
	default:
		d.out.Printf("mint VENDOR [SERVER…], revoke NUMBER, list, y, n, quit\n")
	}
	return true
}

// decide answers the oldest question that somebody still waits for.
func (d *desk) decide(allow bool) {
	d.open = slices.DeleteFunc(d.open, func(q question) bool { return q.ctx.Err() != nil })
	if len(d.open) == 0 {
		d.out.Printf("nobody asks\n")
		return
	}
	d.open[0].answer <- bridge.Answer{Allow: allow, Message: map[bool]string{false: "The person denied the request."}[allow]}
	d.open = d.open[1:]
}

func (d *desk) mint(vendor string, servers []string) {
	r, err := d.bridge.RegisterReviewer(vendor, servers)
	if err != nil {
		d.out.Printf("%v\n", err)
		return
	}
	d.reviewers = append(d.reviewers, r)
	d.show(r)
}

func (d *desk) show(r *bridge.Reviewer) {
	d.out.Printf("reviewer %d %s %s %s\n", r.Number(), r.Vendor(), r.URL(), strings.Join(r.Servers(), " "))
}

func (d *desk) revoke(number string) {
	n, err := strconv.ParseUint(number, 10, 64)
	at := slices.IndexFunc(d.reviewers, func(r *bridge.Reviewer) bool { return err == nil && r.Number() == n })
	if at < 0 {
		d.out.Printf("there is no reviewer %s\n", document.Printable(number))
		return
	}
	d.reviewers[at].Revoke()
	d.reviewers = slices.Delete(d.reviewers, at, at+1)
	d.out.Printf("revoked %d\n", n)
}
