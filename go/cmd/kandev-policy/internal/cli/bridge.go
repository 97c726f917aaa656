package cli

import (
	"bufio"
	"context"
	"fmt"
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
  y NUMBER, n NUMBER      answer a request; y or n alone will do while it is the only one
  show NUMBER             show all of a request's input
  quit                    end the bridge, as the end of input does

A URL is the value of ` + bridge.EnvURL + ` for an agent; it holds a secret, which is why a host puts it into the agent's
environment and nowhere else. Records of what was answered go to standard error, those of a
404 (an unknown or revoked token, another vendor or path) at debug level.`,
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
			desk := &desk{out: screen.New(streams.Out), questions: make(chan question), gone: make(chan int)}
			b, err := bridge.Start(ctx, bridge.Options{
				Prompt:             desk.ask,
				Logger:             slog.New(slog.NewTextHandler(streams.Err, &slog.HandlerOptions{Level: slog.LevelDebug})),
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
	gone      chan int // the numbers of questions that nobody waits for any more
	open      []question
	shown     int // the number of the question that was shown last
	// unsure is set when a question has expired since the person's last line: a bare answer may be meant for it.
	unsure    bool
	reviewers []*bridge.Reviewer
}

type question struct {
	number  int
	ctx     context.Context
	request bridge.PromptRequest
	answer  chan bridge.Answer
}

// ask waits until the person has answered, or the agent is gone.
func (d *desk) ask(ctx context.Context, request bridge.PromptRequest) (bridge.Answer, error) {
	q := question{ctx: ctx, request: request, answer: make(chan bridge.Answer, 1)}
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
			d.pose(ctx, q)
		case <-d.gone:
			d.expire()
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

// maxShown is how many bytes of an input are shown without being asked for.
const maxShown = 2000

// pose shows a question, and watches whether somebody still waits for its answer.
func (d *desk) pose(ctx context.Context, q question) {
	d.shown++
	q.number = d.shown
	d.open = append(d.open, q)
	context.AfterFunc(q.ctx, func() {
		select {
		case d.gone <- q.number:
		case <-ctx.Done():
		}
	})
	input, cut := string(q.request.ToolInput), ""
	if len(input) > maxShown {
		cut = "\n" + screen.Strong(fmt.Sprintf("%d: these are the first %d of %d bytes; show %d shows all", q.number, maxShown, len(input), q.number))
		input = strings.ToValidUTF8(input[:maxShown], "") + "…"
	}
	d.out.Printf("%d: %s asks about %s %s  %s%s\n", q.number, q.request.Vendor, screen.Strong(document.Printable(q.request.ToolName)),
		document.Printable(input), screen.Faint(fmt.Sprintf("y %d or n %d?", q.number, q.number)), cut)
}

// expire says which questions nobody waits for any more.
func (d *desk) expire() {
	d.open = slices.DeleteFunc(d.open, func(q question) bool {
		expired := q.ctx.Err() != nil
		if expired {
			d.unsure = true
			d.out.Printf("%d has expired: the agent no longer waits\n", q.number)
		}
		return expired
	})
}

// do carries out a line; it is false for the last one.
func (d *desk) do(words []string) bool {
	if len(words) == 0 {
		return true
	}
	d.expire()
	unsure := d.unsure
	d.unsure = false
	switch command, args := words[0], words[1:]; {
	case command == "quit" && len(args) == 0:
		return false
	case (command == "y" || command == "n") && len(args) == 0:
		d.decideOnly(command, unsure)
	case (command == "y" || command == "n") && len(args) == 1:
		d.decide(args[0], command == "y")
	case command == "show" && len(args) == 1:
		if at := d.find(args[0]); at >= 0 {
			d.out.Printf("%s\n", document.Printable(string(d.open[at].request.ToolInput)))
		}
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
		d.out.Printf("mint VENDOR [SERVER…], revoke NUMBER, list, y NUMBER, n NUMBER, show NUMBER, quit\n")
	}
	return true
}

// decideOnly answers the one question that a bare answer can be meant for.
func (d *desk) decideOnly(command string, unsure bool) {
	switch {
	case len(d.open) == 0:
		d.out.Printf("nobody asks\n")
	case len(d.open) > 1 || unsure || d.open[0].number != d.shown:
		d.out.Printf("which one? Say %s and its number\n", command)
	default:
		d.decide(strconv.Itoa(d.open[0].number), command == "y")
	}
}

// decide answers a question.
func (d *desk) decide(number string, allow bool) {
	at := d.find(number)
	if at < 0 {
		return
	}
	q, word := d.open[at], "allowed"
	answer := bridge.Answer{Allow: allow}
	if !allow {
		word, answer.Message = "denied", "The person denied the request."
	}
	q.answer <- answer
	d.open = slices.Delete(d.open, at, at+1)
	d.out.Printf("%s %d\n", word, q.number)
}

// find gives an open question's index; where there is none, it says so and gives -1.
func (d *desk) find(number string) int {
	at := slices.IndexFunc(d.open, func(q question) bool { return strconv.Itoa(q.number) == number })
	if at < 0 {
		d.out.Printf("there is no open request %s\n", document.Printable(number))
	}
	return at
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
