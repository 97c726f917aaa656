//go:build unix

package agent

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// forwarded are the signals that a host may send to an agent. SIGPIPE is among them only to be caught: a write to a
// closed pipe must be an error to us, and no ignored signal must be inherited by the agent.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGPIPE,
}

// isForAgent leaves out what the agent gets anyway: the signals that a terminal sends to all of its processes.
func isForAgent(sent os.Signal, in *os.File) bool {
	switch sent {
	case syscall.SIGPIPE:
		return false
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGCONT:
		return !term.IsTerminal(int(in.Fd()))
	}
	return true
}

// Exit ends this process as the agent has ended: with its exit status, or by the signal that killed it. It returns the
// status to exit with where a signal can't be used: 128 and its number, as shells do.
func Exit(state *os.ProcessState) int {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return state.ExitCode()
	}
	killed := status.Signal()
	switch killed {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL:
		// The others make the Go runtime print a trace, or do nothing.
		signal.Reset(killed)
		_ = syscall.Kill(os.Getpid(), killed)
		time.Sleep(time.Second)
	}
	return 128 + int(killed)
}
