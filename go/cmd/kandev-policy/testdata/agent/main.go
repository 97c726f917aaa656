// Command agent stands for an agent in the tests of watch.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	switch os.Args[1] {
	case "echo": // all of its input, with an exit status of its own
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			os.Exit(9)
		}
		fmt.Fprint(os.Stderr, "agent's own words\n")
		os.Exit(7)
	case "signal": // says when it is ready, and which signal it got
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		fmt.Println(<-got)
		os.Exit(42)
	case "die": // by a signal that can't be caught
		fmt.Println("ready")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
