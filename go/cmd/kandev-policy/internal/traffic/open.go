// Package traffic reads recordings of what agents and hosts say to each other, line by line, in constant memory.
package traffic

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
)

// maxWindow is as much memory as a zstd stream may ask for: what `zstd --long=27` makes is still read.
const maxWindow = 128 << 20

// Recording is an open recording, decompressed.
type Recording struct {
	Name  string // for people
	lines *lines
	close func()
}

// Open opens a recording, or standard input for "-". What it is compressed with is seen from its first bytes, so it
// may have any name. The bytes of the file, still compressed, are also written to progress, unless that is nil.
func Open(path string, stdin io.Reader, progress io.Writer) (*Recording, error) {
	name, source, closeFile := "standard input", stdin, func() {}
	if path != document.Stdin {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Printable(path), document.Cause(err))
		}
		name, source, closeFile = document.Printable(path), file, func() { file.Close() }
	}
	if progress != nil {
		source = io.TeeReader(source, progress)
	}
	plain, closeStream, err := decompress(bufio.NewReaderSize(source, 1<<16))
	if err != nil {
		closeFile()
		return nil, fmt.Errorf("%s: %w", name, document.Cause(err))
	}
	return &Recording{Name: name, lines: newLines(plain), close: func() { closeStream(); closeFile() }}, nil
}

// Close closes the file.
func (r *Recording) Close() { r.close() }

func decompress(source *bufio.Reader) (plain io.Reader, closeStream func(), err error) {
	magic, err := source.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		stream, err := gzip.NewReader(source)
		if err != nil {
			return nil, nil, err
		}
		return stream, func() { stream.Close() }, nil
	case isZstd(magic):
		// One goroutine and a bounded window: memory stays the same, however large the recording.
		stream, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return stream, stream.Close, nil
	default:
		return source, func() {}, nil
	}
}

// isZstd knows a zstd frame and a skippable one in front of it.
func isZstd(magic []byte) bool {
	return bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}
