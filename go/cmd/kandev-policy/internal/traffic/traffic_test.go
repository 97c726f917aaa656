package traffic

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
)

// all reads all lines as "number:text", with the length in place of a long text.
func all(t *testing.T, source io.Reader) (list []string) {
	t.Helper()
	lines := newLines(source)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, show(line))
	}
}

func show(line Line) string {
	switch {
	case line.TooLong:
		return fmt.Sprintf("%d:too long", line.Number)
	case len(line.Bytes) > 100:
		return fmt.Sprintf("%d:%d", line.Number, len(line.Bytes))
	default:
		return fmt.Sprintf("%d:%s", line.Number, line.Bytes)
	}
}

func TestLines(t *testing.T) {
	const buffer = 1 << 18
	x := func(n int) string { return strings.Repeat("x", n) }
	for text, want := range map[string]string{
		"":                                 "",
		"\n \r\n\t\n":                      "",
		"a":                                "1:a",
		"a\n":                              "1:a",
		"a\r\n\nb":                         "1:a\r,3:b",
		x(buffer-1) + "\nb":                "1:262143,2:b",
		x(buffer) + "\nb":                  "1:262144,2:b",
		x(buffer+1) + "\nb":                "1:262145,2:b",
		x(2*buffer) + "\nb\n":              "1:524288,2:b",
		x(2 * buffer):                      "1:524288",
		x(document.MaxBytes-1) + "\nb\n":   "1:16777216,2:b",
		x(document.MaxBytes+1) + "\nb\n":   "1:too long,2:b",
		x(2*document.MaxBytes) + "\nb\n":   "1:too long,2:b",
		x(2 * document.MaxBytes):           "1:too long",
		x(document.MaxBytes+buffer) + "\n": "1:too long",
	} {
		if got := strings.Join(all(t, strings.NewReader(text)), ","); got != want {
			t.Errorf("%.20q (%d bytes): got %q, want %q", text, len(text), got, want)
		}
	}
	if got := strings.Join(all(t, iotest.OneByteReader(strings.NewReader("a\n\nbc\nd"))), ","); got != "1:a,3:bc,4:d" {
		t.Errorf("byte by byte: got %q", got)
	}
}

func TestLinesTellWhereReadingFailed(t *testing.T) {
	lines := newLines(io.MultiReader(strings.NewReader("a\nb\ncut"), iotest.ErrReader(io.ErrClosedPipe)))
	for range 2 {
		if _, err := lines.next(); err != nil {
			t.Fatal(err)
		}
	}
	if line, err := lines.next(); !errors.Is(err, io.ErrClosedPipe) || line.Number != 3 {
		t.Errorf("got line %d, %v", line.Number, err)
	}
}

func TestTap(t *testing.T) {
	var got []string
	tap := NewTap(func(line Line) { got = append(got, show(line)) })
	piece := []byte("one\ntw")
	for _, text := range []string{"one\ntw", "o\n\n", "", strings.Repeat("x", 1<<20), "\nlast"} {
		piece = append(piece[:0], text...)
		if n, err := tap.Write(piece); n != len(text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		clear(piece) // the tap must have its own copy
	}
	tap.Close()
	if want := "1:one,2:two,4:1048576,5:last"; strings.Join(got, ",") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
