package cli

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/screen"
)

// progress is a progress bar on standard error, or nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows a bar only to a person, and only where no rows run through the same terminal.
func newProgress(streams Streams, options replayOptions, paths []string) *progress {
	if !screen.IsTerminal(streams.Err) || screen.IsTerminal(streams.Out) && !options.summary {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions64(totalBytes(paths),
		progressbar.OptionSetWriter(streams.Err),
		progressbar.OptionSetDescription("replay"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionThrottle(100e6),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true),
	)}
}

// totalBytes is the size of all recordings, or -1 if it isn't known.
func totalBytes(paths []string) int64 {
	total := int64(0)
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == document.Stdin || err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}

// writer takes the bytes that have been read; nil if nothing is shown.
func (p *progress) writer() io.Writer {
	if p.bar == nil {
		return nil
	}
	return p.bar
}

// clear takes the bar away until more is read.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}
