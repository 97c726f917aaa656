package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// childEnv makes the test binary the process that is launched, and says what it does.
const childEnv = "KANDEV_BRIDGE_TEST_CHILD"

func child() {
	switch os.Getenv(childEnv) {
	case "post": // what a hook does, and then the status it got
		response, err := http.Post(os.Getenv(EnvURL)+"/codex/permission-request", "application/json", strings.NewReader(summary))
		if err != nil {
			os.Exit(9)
		}
		fmt.Print(response.StatusCode)
	case "show": // where the URL is
		fmt.Printf("env=%v\nargs=%v\n", os.Getenv(EnvURL), os.Args)
	case "fail":
		os.Exit(7)
	case "wait":
		fmt.Println("ready")
		time.Sleep(time.Minute)
	}
	os.Exit(0)
}

func childCommand(ctx context.Context, what string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+what)
	return cmd
}

// revoked checks that a launch has left nothing.
func revoked(t *testing.T, b *Bridge, r *Reviewer, url string) {
	t.Helper()
	expect(t, client(t), url, "codex", summary, 404, missing)
	if !r.Revoked() || b.Reviewers() != 0 {
		t.Error("not revoked")
	}
	if _, is := os.LookupEnv(EnvURL); is {
		t.Error("in this process's environment")
	}
}

func TestRunSuccess(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	url := r.URL()
	cmd := childCommand(t.Context(), "post")
	var out bytes.Buffer
	cmd.Stdout = &out
	env := slices.Clone(cmd.Env)
	if err := r.Run(cmd); err != nil || out.String() != "200" {
		t.Errorf("%v, %q", err, out.String())
	}
	if !slices.Equal(cmd.Env, env) {
		t.Error("the URL is still in cmd")
	}
	revoked(t, b, r, url)
	if err := r.Run(childCommand(t.Context(), "post")); !errors.Is(err, ErrRevoked) {
		t.Error(err)
	}
}

// TestRunPutsTheURLIntoTheChildsEnvironmentOnly, in place of one that this process has.
func TestRunPutsTheURLIntoTheChildsEnvironmentOnly(t *testing.T) {
	t.Setenv(EnvURL, "http://parent")
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	dir := t.TempDir()
	cmd := childCommand(t.Context(), "show")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := r.Run(cmd); err != nil {
		t.Fatal(err)
	}
	env, args, _ := strings.Cut(out.String(), "\n")
	if env != "env="+r.URL() || strings.Contains(args, r.token.Expose()) {
		t.Error("not where it belongs")
	}
	if os.Getenv(EnvURL) != "http://parent" || slices.ContainsFunc(os.Environ(), func(v string) bool { return strings.Contains(v, r.token.Expose()) }) {
		t.Error("in this process's environment")
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
	// A cmd without an environment gets this process's.
	r = register(t, b, "codex")
	t.Setenv(childEnv, "show")
	out.Reset()
	cmd = exec.Command(os.Args[0], "-test.run=^$")
	cmd.Stdout = &out
	if err := r.Run(cmd); err != nil || !strings.HasPrefix(out.String(), "env="+r.URL()+"\n") || cmd.Env != nil {
		t.Error(err, cmd.Env)
	}
}

func TestRunFailedStart(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	url := r.URL()
	cmd := exec.Command(filepath.Join(t.TempDir(), "missing"))
	if err := r.Run(cmd); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), r.token.Expose()) {
		t.Error(err)
	}
	revoked(t, b, r, url)
}

func TestRunNonZeroExit(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	url := r.URL()
	var exit *exec.ExitError
	if err := r.Run(childCommand(t.Context(), "fail")); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Error(err)
	}
	revoked(t, b, r, url)
}

// ready waits until the child says so.
type ready struct{ c chan struct{} }

func (r ready) Write(b []byte) (int, error) {
	select {
	case r.c <- struct{}{}:
	default:
	}
	return len(b), nil
}

// runningChild runs a child that waits, and calls during once it is there.
func runningChild(t *testing.T, b *Bridge, r *Reviewer, ctx context.Context, during func(cmd *exec.Cmd)) error {
	t.Helper()
	cmd := childCommand(ctx, "wait")
	started := ready{make(chan struct{}, 1)}
	cmd.Stdout = started
	ended := make(chan error, 1)
	go func() { ended <- r.Run(cmd) }()
	select {
	case <-started.c:
	case err := <-ended:
		t.Fatal(err)
	}
	expect(t, client(t), r.URL(), "codex", summary, 200, allowBody)
	during(cmd)
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("still running")
		return nil
	}
}

func TestRunKilled(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	err := runningChild(t, b, r, t.Context(), func(cmd *exec.Cmd) { _ = cmd.Process.Kill() })
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Success() {
		t.Error(err)
	}
	revoked(t, b, r, r.URL())
}

func TestRunCancelledContext(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	ctx, cancel := context.WithCancel(t.Context())
	if err := runningChild(t, b, r, ctx, func(*exec.Cmd) { cancel() }); err == nil {
		t.Error("no error")
	}
	revoked(t, b, r, r.URL())

	// Cancelled before the start.
	r = register(t, b, "codex", "kcap-review")
	if err := r.Run(childCommand(ctx, "post")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	revoked(t, b, r, r.URL())
}

func TestRunPanic(t *testing.T) {
	b := start(t, Options{})
	panics := func(f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		f()
	}
	// In Run itself.
	r := register(t, b, "codex", "kcap-review")
	panics(func() { _ = r.Run(nil) })
	revoked(t, b, r, r.URL())
	// In the caller, between mint and launch.
	panics(func() {
		_ = b.WithReviewer("codex", []string{"kcap-review"}, func(reviewer *Reviewer) error {
			r = reviewer
			panic("in the caller")
		})
	})
	revoked(t, b, r, r.URL())
	// In the caller, after the launch.
	panics(func() {
		_ = b.WithReviewer("codex", nil, func(reviewer *Reviewer) error {
			r = reviewer
			_ = r.Run(childCommand(t.Context(), "fail"))
			panic("in the caller")
		})
	})
	revoked(t, b, r, r.URL())
	// And an error on the way.
	wrong := errors.New("wrong")
	if err := b.WithReviewer("codex", nil, func(reviewer *Reviewer) error { r = reviewer; return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	revoked(t, b, r, r.URL())
}

func TestRunBridgeShutdown(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	err := runningChild(t, b, r, t.Context(), func(cmd *exec.Cmd) {
		b.Close()
		if !r.Revoked() {
			t.Error("not revoked while the process runs on")
		}
		if _, err := http.Post(r.URL()+"/codex/permission-request", "application/json", strings.NewReader(summary)); err == nil {
			t.Error("answered after Close")
		}
		_ = cmd.Process.Kill()
	})
	if err == nil {
		t.Error("killed without an error")
	}
	if err := r.Run(childCommand(t.Context(), "post")); !errors.Is(err, ErrRevoked) {
		t.Error(err)
	}
}

// TestInteractiveLaunchMintsNothing: it gets the shared URL, and no reviewer comes of it.
func TestInteractiveLaunchMintsNothing(t *testing.T) {
	b := start(t, Options{Prompt: answering(Answer{Allow: true}, nil)})
	cmd := childCommand(t.Context(), "post")
	cmd.Env = append(ScrubEnv(cmd.Env), EnvURL+"="+b.BaseURL())
	if out, err := cmd.Output(); err != nil || string(out) != "200" {
		t.Errorf("%v, %q", err, out)
	}
	if b.Reviewers() != 0 {
		t.Error("minted")
	}
	if r := register(t, b, "codex"); r.Number() != 1 {
		t.Error("minted before")
	}
}

func TestScrubEnv(t *testing.T) {
	env := []string{"A=1", EnvURL + "=http://127.0.0.1:1/sentinel", "kcap_daemon_url=x", EnvURL + "_2=kept", "B=" + EnvURL, EnvURL, "=C:=x", ""}
	before := slices.Clone(env)
	if got, want := ScrubEnv(env), []string{"A=1", EnvURL + "_2=kept", "B=" + EnvURL, "=C:=x", ""}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !slices.Equal(env, before) {
		t.Error("the argument was changed")
	}
	if len(ScrubEnv(nil)) != 0 {
		t.Error("of nothing")
	}
}
