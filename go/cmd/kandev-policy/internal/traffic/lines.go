package traffic

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
)

// Line is one line of a recording, without its line feed.
type Line struct {
	Number int    // from 1
	Bytes  []byte // valid until the next line is read
	// TooLong: it is longer than any frame may be. Its bytes are left out.
	TooLong bool
}

// Next gives the next line that isn't blank; io.EOF after the last one. With an error only the line's number is given.
func (r *Recording) Next() (Line, error) { return r.lines.next() }

// lines cuts a stream into lines without ever holding more than the longest frame.
type lines struct {
	source *bufio.Reader
	number int
	long   []byte // a line that is longer than the reader's buffer
}

func newLines(source io.Reader) *lines {
	return &lines{source: bufio.NewReaderSize(source, 1<<18)}
}

func (l *lines) next() (Line, error) {
	for {
		line, err := l.read()
		if err != nil {
			return line, err
		}
		if line.TooLong || len(bytes.TrimSpace(line.Bytes)) > 0 {
			return line, nil
		}
	}
}

// read gives the next line. The last one may lack its line feed.
func (l *lines) read() (Line, error) {
	l.number++
	line := Line{Number: l.number}
	part, err := l.source.ReadSlice('\n')
	if err == nil || errors.Is(err, io.EOF) && len(part) > 0 {
		line.Bytes = bytes.TrimSuffix(part, []byte{'\n'})
		return line, nil
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		line.TooLong = line.TooLong || len(l.long)+len(part) > document.MaxBytes
		if !line.TooLong {
			l.long = append(l.long, part...)
		}
		part, err = l.source.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return line, err
	}
	if len(l.long) == 0 && len(part) == 0 && !line.TooLong {
		return line, io.EOF
	}
	line.TooLong = line.TooLong || len(l.long)+len(part) > document.MaxBytes
	if !line.TooLong {
		l.long = append(l.long, part...)
		line.Bytes = bytes.TrimSuffix(l.long, []byte{'\n'})
	}
	return line, nil
}
