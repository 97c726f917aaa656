//go:build !unix

package main

import "time"

// processorTime is unknown: 0.
func processorTime() time.Duration { return 0 }
