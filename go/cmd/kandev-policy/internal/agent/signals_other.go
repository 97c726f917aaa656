//go:build !unix

package agent

import "os"

var forwarded = []os.Signal{os.Interrupt}

// isForAgent is false: the console sends the interrupt to all of its processes.
func isForAgent(os.Signal, *os.File) bool { return false }

// Exit gives the status to exit with.
func Exit(state *os.ProcessState) int { return state.ExitCode() }
