// Package agent runs an agent with its standard streams passed through.
package agent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"time"
)

// drain is how long more output is waited for after the agent has exited, if a process that it left behind keeps its
// standard output open. What has been written is passed on however long its reader takes.
const drain = 5 * time.Second

// Run runs a command until it exits. Its standard input and error are ours, so nothing stands between; its output goes
// to out as it comes, and then a copy of it to tap, which must not fail. When out is closed by its reader, the agent's
// output is closed as well, as it would have been without us.
//
// Signals that this process gets are passed on to the agent. An error says that it could not be started.
func Run(command []string, in, out, stderr *os.File, tap io.Writer) (*os.ProcessState, error) {
	agent := exec.Command(command[0], command[1:]...)
	agent.Stdin, agent.Stderr = in, stderr
	// A plain pipe, not StdoutPipe: Wait must not close it before it is empty.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	agent.Stdout = write

	signals := make(chan os.Signal, 64)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	err = agent.Start()
	write.Close()
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	defer close(done)
	go forward(agent.Process, signals, done, in)

	var exited atomic.Bool
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		defer read.Close()
		pass(read, out, tap, &exited)
	}()
	err = agent.Wait()
	exited.Store(true)
	_ = read.SetReadDeadline(time.Now().Add(drain)) // for the read that is waiting now
	<-passed
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return agent.ProcessState, nil
}

// pass copies until either side ends. What the reader of out gets never waits for the tap's turn.
func pass(from, out *os.File, tap io.Writer, exited *atomic.Bool) {
	buffer := make([]byte, 1<<16)
	for {
		if exited.Load() {
			_ = from.SetReadDeadline(time.Now().Add(drain))
		}
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := out.Write(buffer[:n]); err != nil {
				return
			}
			_, _ = tap.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

func forward(agent *os.Process, signals <-chan os.Signal, done <-chan struct{}, in *os.File) {
	for {
		select {
		case sent := <-signals:
			if isForAgent(sent, in) {
				_ = agent.Signal(sent) // it may have exited by now
			}
		case <-done:
			return
		}
	}
}
