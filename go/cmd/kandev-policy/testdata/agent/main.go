// Command agent stands for an agent in the tests of watch.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
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
	case "burst": // far more than pipes hold, in lines of all lengths, on both streams, while nobody reads its input
		line := strings.Repeat("x", 1<<20)
		for i := range 3000 {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":%q}\n", line[:i*i%20_000])
			if i%10 == 0 {
				fmt.Fprintf(os.Stderr, "%d %s\n", i, line[:i])
			}
		}
		fmt.Print(line, line, "no line feed")
		os.Exit(3)
	case "close": // its output long before its end
		fmt.Println("bye")
		os.Stdout.Close()
		n, _ := io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, n, "bytes read")
		os.Exit(4)
	case "early": // without a look at its input
		os.Exit(5)
	case "signal": // says when it is ready, and which signal it got
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
		fmt.Println("ready")
		fmt.Println(<-got)
		os.Exit(42)
	case "die": // by a signal that can't be caught
		fmt.Println("ready")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
