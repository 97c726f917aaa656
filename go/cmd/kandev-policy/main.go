// Command kandev-policy decides permission requests of AI coding agents from the command line, and says why.
package main

import (
	"os"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
