package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a fuzzer writes for what is different in each run.
const (
	reviewerPlaceholder = "REVIEWER"
	revokedPlaceholder  = "REVOKED"
	sharedPlaceholder   = "SHARED"
	hostPlaceholder     = "HOST"
)

func fuzzRequest(token, vendor, body string) string {
	return "POST /" + token + "/" + vendor + "/permission-request HTTP/1.1\r\nHost: HOST\r\nContent-Length: LENGTH\r\n\r\n" + body
}

// Any bytes on a connection: never an allow without a live token, and always a whole answer to a whole request.
func FuzzHTTP(f *testing.F) {
	b := start(f, Options{EnabledVendors: []string{"codex", "claude"}})
	live := register(f, b, "codex", "kcap-review")
	revoked := register(f, b, "codex", "kcap-review")
	revoked.Revoke()
	token := func(rawURL string) string {
		u, err := url.Parse(rawURL)
		if err != nil {
			f.Fatal(err)
		}
		return strings.Split(u.Path, "/")[1]
	}
	base, err := url.Parse(b.BaseURL())
	if err != nil {
		f.Fatal(err)
	}
	tokens := [][2]string{
		{reviewerPlaceholder, token(live.URL())},
		{revokedPlaceholder, token(revoked.URL())},
		{sharedPlaceholder, token(b.BaseURL())},
		{hostPlaceholder, base.Host},
	}
	for _, who := range []string{reviewerPlaceholder, revokedPlaceholder, sharedPlaceholder, "unknown"} {
		for _, body := range []string{summary, shell, result, `{}`, ``} {
			request := fuzzRequest(who, "codex", body)
			f.Add([]byte(request), true)
			f.Add([]byte(request+fuzzRequest("unknown", "codex", body)), true)
		}
	}
	chunked := "POST /REVIEWER/codex/permission-request HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	f.Add([]byte(chunked), false)
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"), false)
	f.Add([]byte(strings.Replace(fuzzRequest(reviewerPlaceholder, "codex", summary), "Host", "Origin: x\r\nHost", 1)), true)

	f.Fuzz(func(t *testing.T, raw []byte, fit bool) {
		if fit {
			// The length that the bytes behind the head have, so that a mutation of the body stays a whole request.
			if head, body, ok := bytes.Cut(raw, []byte("\r\n\r\n")); ok {
				length := strconv.Itoa(len(body))
				raw = slices.Concat(bytes.Replace(head, []byte("LENGTH"), []byte(length), 1), []byte("\r\n\r\n"), body)
			}
		}
		mayAllow := bytes.Contains(raw, []byte(reviewerPlaceholder)) || bytes.Contains(raw, []byte(sharedPlaceholder))
		for _, pair := range tokens {
			raw = bytes.ReplaceAll(raw, []byte(pair[0]), []byte(pair[1]))
		}
		if bytes.Contains(raw, []byte("HEAD ")) {
			return // its answer has a length but no body, which a reader must know beforehand
		}
		answers, failure := exchangeRaw(t, base.Host, raw)
		for _, answer := range answers {
			if bytes.Contains(answer.body, []byte(`"allow"`)) && !mayAllow {
				t.Fatalf("allowed without a token: %q", raw)
			}
			if answer.status == http.StatusOK {
				checkAgentAnswer(t, answer.body)
			}
		}
		if isWhole(raw) && len(answers) == 0 {
			t.Fatalf("no answer to %q: %v", raw, failure)
		}
	})
}

type rawAnswer struct {
	status int
	body   []byte
}

// exchangeRaw writes the bytes and reads all answers; an answer that has begun must be whole.
func exchangeRaw(t *testing.T, address string, raw []byte) (answers []rawAnswer, failure error) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	tcp := conn.(*net.TCPConn)
	_ = tcp.SetLinger(0) // so that 100,000 connections leave no ports behind
	defer tcp.Close()
	_ = tcp.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { // the bridge may answer and close before it has read everything
		_, _ = tcp.Write(raw)
		_ = tcp.CloseWrite()
	}()
	reader := bufio.NewReader(tcp)
	for {
		if _, err := reader.Peek(1); err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatalf("neither an answer nor an end: %q", raw)
			}
			return answers, err
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("a broken answer: %v to %q", err, raw)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil && !errors.Is(err, net.ErrClosed) {
			t.Fatalf("half an answer: %v to %q", err, raw)
		}
		if response.StatusCode != http.StatusContinue {
			answers = append(answers, rawAnswer{response.StatusCode, body})
		}
	}
}

// isWhole says whether an ordinary server reads one whole request.
func isWhole(raw []byte) bool {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

// checkAgentAnswer: contract 5.2, and nothing else.
func checkAgentAnswer(t *testing.T, body []byte) {
	t.Helper()
	var answer struct {
		HookSpecificOutput struct {
			HookEventName string `json:"hookEventName"`
			Decision      struct {
				Behavior string `json:"behavior"`
				Message  string `json:"message"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&answer)
	behavior := answer.HookSpecificOutput.Decision.Behavior
	if err != nil || behavior != "allow" && behavior != "deny" {
		t.Fatalf("no answer for an agent: %q (%v)", body, err)
	}
}
