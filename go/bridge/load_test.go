package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLoadAndAbuse is one run of everything at once: 200 reviewers and 50,000 requests over kept-alive connections, with
// mints and revocations going on, while slow clients trickle, bodies are over the cap, and hosts and origins are forged.
func TestLoadAndAbuse(t *testing.T) {
	const (
		reviewers  = 200
		slowOnes   = 20
		connection = 16
	)
	requests := int64(50_000)
	if testing.Short() || raceEnabled {
		requests = 3_000
	}
	goroutines, memory := settled()
	b, err := Start(t.Context(), Options{HeaderTimeout: 2 * time.Second, BodyTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}

	names := [2]string{"kcap-review", "kcap-sessions"}
	launches := make([]*launch, reviewers)
	for i := range launches {
		r, err := b.RegisterReviewer("codex", []string{names[i%2]})
		if err != nil {
			t.Fatal(err)
		}
		launches[i] = &launch{r: r, servers: names[i%2]}
	}
	path := func(r *Reviewer) string { return "/" + r.token.Expose() + "/codex/permission-request" }

	ctx, stop := context.WithCancel(t.Context())
	var abuse, honest sync.WaitGroup
	background := func(what func(n int)) {
		abuse.Add(1)
		go func() {
			defer abuse.Done()
			for n := 0; ctx.Err() == nil; n++ {
				what(n)
			}
		}()
	}
	// Launches end and begin.
	var churned atomic.Int64
	background(func(n int) {
		l := launches[rand.IntN(len(launches))]
		l.mu.Lock()
		defer l.mu.Unlock()
		l.r.Revoke()
		if _, ok := b.registry.Find(l.r.token.Expose(), "codex"); ok {
			t.Error("live after its revocation")
		}
		r, err := b.RegisterReviewer("codex", []string{l.servers})
		if err != nil {
			t.Error(err)
			return
		}
		l.r = r
		churned.Add(1)
		time.Sleep(time.Millisecond)
	})
	// Slow clients, with a token and without.
	for i := range slowOnes {
		background(func(int) {
			target := path(launches[i].reviewer())
			if i%2 == 0 {
				target = "/" + strings.Repeat("A", 43) + "/codex/permission-request"
			}
			trickle(ctx, b.host, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 100000\r\n\r\n", target, b.host), i%4 < 2)
		})
	}
	var capped, forged atomic.Int64
	background(func(int) {
		switch answer := chunks(b.host, path(launches[0].reviewer())); {
		case strings.HasPrefix(answer, "HTTP/1.1 400 "), strings.HasPrefix(answer, "HTTP/1.1 404 "), answer == "":
			capped.Add(1)
		default:
			t.Errorf("over the cap: %.100q", answer)
		}
	})
	background(func(n int) {
		l := launches[n%len(launches)]
		r := l.reviewer()
		head := "Host: evil.example\r\n"
		if n%2 == 0 {
			head = "Host: " + b.host + "\r\nOrigin: http://evil.example\r\n"
		}
		body := call(l.servers, true)
		if answer := raw(t, b, fmt.Sprintf("POST %s HTTP/1.1\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s",
			path(r), head, len(body), body)); !strings.HasPrefix(answer, "HTTP/1.1 404 ") {
			t.Errorf("forged: %.100q", answer)
		}
		forged.Add(1)
		time.Sleep(time.Millisecond)
	})

	// Honest requests.
	var next, gone, allowed, denied atomic.Int64
	took := make([][]time.Duration, connection)
	begun := time.Now()
	for worker := range connection {
		honest.Add(1)
		go func() {
			defer honest.Done()
			transport := &http.Transport{MaxConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			c := &http.Client{Transport: transport, Timeout: 20 * time.Second}
			for n := next.Add(1); n <= requests; n = next.Add(1) {
				l := launches[rand.IntN(len(launches))]
				r := l.reviewer()
				good := n%3 != 0
				sent := time.Now()
				response, err := c.Post(r.URL()+"/codex/permission-request", "application/json", strings.NewReader(call(l.servers, good)))
				if err != nil {
					t.Error(strings.ReplaceAll(err.Error(), r.token.Expose(), "…"))
					continue
				}
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				took[worker] = append(took[worker], time.Since(sent))
				switch text := string(body); {
				case err != nil || text == "":
					t.Errorf("no body: %v", err)
				case response.StatusCode == 404 && text == missing && r.Revoked():
					gone.Add(1)
				case response.StatusCode == 200 && good && text == allowBody:
					allowed.Add(1)
				case response.StatusCode == 200 && !good && text == denyBody("This reviewer may not use that MCP server."):
					denied.Add(1)
				default:
					t.Errorf("wrong answer: good %v, revoked %v: %d %s", good, r.Revoked(), response.StatusCode, text)
				}
			}
		}()
	}
	honest.Wait()
	elapsed := time.Since(begun)
	stop()
	abuse.Wait()
	b.Close()

	if total := gone.Load() + allowed.Load() + denied.Load(); total != requests {
		t.Errorf("%d answers to %d requests", total, requests)
	}
	if churned.Load() < 20 || capped.Load() == 0 || forged.Load() < 20 || gone.Load() == 0 && churned.Load() > 5000 {
		t.Errorf("too little abuse: %d launches, %d bodies over the cap, %d forgeries", churned.Load(), capped.Load(), forged.Load())
	}
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	t.Logf("%d requests in %v (%.0f a second): %d allowed, %d denied, %d revoked meanwhile; half within %v, 99 of 100 within %v, all within %v; "+
		"beside them %d launches, %d bodies over the cap, %d forgeries, %d slow clients",
		requests, elapsed.Round(time.Millisecond), float64(requests)/elapsed.Seconds(), allowed.Load(), denied.Load(), gone.Load(),
		all[len(all)/2], all[len(all)*99/100], all[len(all)-1], churned.Load(), capped.Load(), forged.Load(), slowOnes)

	launches, took, all, b = nil, nil, nil, nil
	goroutinesAfter, memoryAfter := settled()
	t.Logf("goroutines %d before, %d after; heap %d KiB before, %d KiB after", goroutines, goroutinesAfter, memory>>10, memoryAfter>>10)
	if goroutinesAfter > goroutines+2 {
		t.Errorf("%d goroutines before, %d after", goroutines, goroutinesAfter)
	}
	if memoryAfter > memory+(4<<20) {
		t.Errorf("heap %d before, %d after", memory, memoryAfter)
	}
}

// launch is a place that reviewers come and go in.
type launch struct {
	mu      sync.Mutex
	r       *Reviewer
	servers string
}

func (l *launch) reviewer() *Reviewer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r
}

// call is a request that the server's reviewers may make, or one that they may not.
func call(server string, good bool) string {
	tools := map[string]string{"kcap-review": "mcp__kcap_review__get_pr_summary", "kcap-sessions": "mcp__kcap_sessions__list_turns"}
	tool := tools[server]
	if !good {
		tool = "mcp__evil_" + strings.TrimPrefix(tool, "mcp__")
	}
	return `{"session_id":"s","tool_name":"` + tool + `","tool_input":{"pad":"` + strings.Repeat("x", rand.IntN(2000)) + `"}}`
}

// trickle sends a byte now and then until the server has had enough.
func trickle(ctx context.Context, host, head string, inHead bool) {
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if inHead {
		head = head[:len(head)-4]
	}
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, bufio.NewReader(conn))
	}()
	for {
		select {
		case <-gone:
			return
		case <-time.After(50 * time.Millisecond):
			if _, err := io.WriteString(conn, "x"); err != nil {
				<-gone
				return
			}
		}
	}
}

// chunks sends a body without end, and gives the answer; nothing if the connection was reset before it could be read.
func chunks(host, path string) string {
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	answer := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(conn)
		answer <- string(text)
	}()
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n", path, host)
	chunk := "8000\r\n" + strings.Repeat(" ", 0x8000) + "\r\n"
	for range 64 << 20 / 0x8000 {
		if _, err := io.WriteString(conn, chunk); err != nil {
			break
		}
	}
	return <-answer
}

// settled gives the goroutines and the bytes in use once what is ending has ended.
func settled() (goroutines int, heap uint64) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	last := -1
	for range 40 {
		runtime.GC()
		if n := runtime.NumGoroutine(); n == last {
			break
		} else {
			last = n
		}
		time.Sleep(100 * time.Millisecond)
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return last, stats.HeapAlloc
}

// openFiles is how many files and sockets this process holds, or 0 where that can't be seen.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

// TestConnectionsAreGivenBack: neither sockets nor goroutines are left by bridges and launches that have ended.
func TestConnectionsAreGivenBack(t *testing.T) {
	goroutines, _ := settled()
	files := openFiles()
	for range 20 {
		b, err := Start(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := register(t, b, "codex", "kcap-review")
		transport := &http.Transport{}
		expect(t, &http.Client{Transport: transport}, r.URL(), "codex", summary, 200, allowBody)
		b.Close()
		transport.CloseIdleConnections()
	}
	after, _ := settled()
	if after > goroutines+2 || openFiles() > files+2 {
		t.Errorf("goroutines %d, then %d; files %d, then %d", goroutines, after, files, openFiles())
	}
}
