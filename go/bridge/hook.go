package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The deadlines that are used where [Hook] says nothing. Agents give a hook 600 seconds.
const (
	DefaultHookTimeout        = 590 * time.Second
	DefaultHookConnectTimeout = 10 * time.Second
)

// maxAnswerBytes bounds an answer; a person's may hold a whole file as updated input.
const maxAnswerBytes = 16 << 20

const hookFailedMessage = "The permission bridge gave no answer, so the request was denied."

// Hook is what an agent's PermissionRequest hook does: it asks the bridge, and has an answer for the agent whatever
// happens.
type Hook struct {
	// URL is the bridge's, with the token: the value of [EnvURL].
	URL string
	// Vendor is whose agent it is: "codex" or "claude".
	Vendor string
	// Timeout bounds everything, reading the payload included; ConnectTimeout the connecting.
	Timeout, ConnectTimeout time.Duration
}

// String names the vendor, without the URL and its token.
func (h Hook) String() string { return "hook of " + strconv.Quote(h.Vendor) }

// Format writes what String gives, for every verb.
func (h Hook) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, h.String()) }

// LogValue gives what String gives.
func (h Hook) LogValue() slog.Value { return slog.StringValue(h.String()) }

// Answer posts the payload to the bridge and gives the answer to print. There always is one: whatever fails, be it a panic,
// it is an answer that denies, and the error says what failed, without the URL and its token, and without anything that a
// server sent. The bridge's answer must be complete and have one reading: the known members, spelled exactly, each once. The
// answer to print has the members that the vendor's agent understands and no other. One that allows a call with an edited
// input is an answer that denies for an agent that can't edit it.
func (h Hook) Answer(ctx context.Context, payload io.Reader) (answer []byte, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, errors.New("internal error")
		}
		if err != nil {
			answer = HookFailed()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(h.Timeout, DefaultHookTimeout))
	defer cancel()
	target, err := h.target()
	if err != nil {
		return nil, err
	}
	body, err := readPayload(ctx, payload)
	if err != nil {
		return nil, err
	}
	return h.post(ctx, target, body)
}

// target is where to post. The payload holds a tool's input, so it leaves the machine for no URL.
func (h Hook) target() (string, error) {
	if h.URL == "" {
		return "", errors.New(EnvURL + " is not set")
	}
	if h.Vendor != "codex" && h.Vendor != "claude" {
		return "", errors.New(`the vendor is neither "codex" nor "claude"`)
	}
	u, err := url.Parse(h.URL)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !isLoopback(u.Hostname()) {
		return "", errors.New(EnvURL + " is no http URL on loopback")
	}
	return strings.TrimRight(h.URL, "/") + "/" + h.Vendor + "/" + pathEnd, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || host == "localhost"
}

// readPayload reads until the end, but no longer than ctx: an agent may keep its end open.
func readPayload(ctx context.Context, payload io.Reader) ([]byte, error) {
	type read struct {
		body []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		body, err := io.ReadAll(io.LimitReader(payload, maxBodyBytes+1))
		done <- read{body, err}
	}()
	select {
	case r := <-done:
		if r.err == nil && len(r.body) > maxBodyBytes {
			return nil, fmt.Errorf("the payload is longer than %d bytes", maxBodyBytes)
		}
		return r.body, r.err
	case <-ctx.Done():
		return nil, errors.New("timed out reading the payload")
	}
}

func (h Hook) post(ctx context.Context, target string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New(EnvURL + " is no usable URL")
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{
		// No proxy: the URL is on this machine.
		Transport: &http.Transport{
			DialContext:        (&net.Dialer{Timeout: cmp.Or(h.ConnectTimeout, DefaultHookConnectTimeout)}).DialContext,
			DisableKeepAlives:  true,
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, transportError(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the bridge answered with status %d", response.StatusCode)
	}
	if response.ContentLength < 0 && len(response.TransferEncoding) == 0 {
		return nil, errors.New("the bridge's answer has no length, so it may be cut short")
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, transportError(err)
	}
	if len(answer) > maxAnswerBytes {
		return nil, fmt.Errorf("the bridge's answer is longer than %d bytes", maxAnswerBytes)
	}
	return h.reshape(answer)
}

var errNoAnswer = errors.New("the bridge's answer is none")

// reshape gives an answer with the members that the vendor's agent understands; see [Answer.UpdatedInput] for one that it
// doesn't.
func (h Hook) reshape(answer []byte) ([]byte, error) {
	top, err := strictly(answer, "hookSpecificOutput")
	if err != nil {
		return nil, errNoAnswer
	}
	output, err := strictly(top["hookSpecificOutput"], "hookEventName", "decision")
	if err != nil {
		return nil, errNoAnswer
	}
	decision, err := strictly(output["decision"], "behavior", "message", "updatedInput", "updatedPermissions")
	if err != nil || !noKeyTwice(decision["updatedInput"]) || !noKeyTwice(decision["updatedPermissions"]) {
		return nil, errNoAnswer
	}
	event, behavior, message := "", "", ""
	for _, text := range []struct {
		value json.RawMessage
		into  *string
	}{{output["hookEventName"], &event}, {decision["behavior"], &behavior}, {decision["message"], &message}} {
		if len(text.value) > 0 && json.Unmarshal(text.value, text.into) != nil {
			return nil, errNoAnswer
		}
	}
	if event != hookEvent || behavior != "allow" && behavior != "deny" {
		return nil, errNoAnswer
	}
	shaped, err := Answer{behavior == "allow", message, decision["updatedInput"], decision["updatedPermissions"]}.forVendor(h.Vendor)
	if err != nil {
		return nil, err
	}
	return shaped.body()
}

// transportError says what failed in words that hold neither the URL nor bytes of a server's, which net/http quotes.
func transportError(err error) error {
	var network *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("timed out waiting for the bridge")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	case errors.As(err, &network):
		return network // what the system says, of an address on this machine
	default:
		return errors.New("the bridge gave no valid HTTP answer")
	}
}

// HookFailed is the answer that [Hook.Answer] gives when something fails, for a program that fails before it.
func HookFailed() []byte { return denied(hookFailedMessage) }
