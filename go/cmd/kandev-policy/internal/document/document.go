// Package document reads the files of the command line, and finds the place in them that an error is about.
package document

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxBytes is as much of a file as is read. The engine's limit is 16 MiB; with one byte more it sees that a document is
// too long, and a device without an end fills no memory.
const MaxBytes = 16<<20 + 1

// Stdin is the name that stands for standard input.
const Stdin = "-"

// Document is a file that has been read.
type Document struct {
	Name  string // for people
	Bytes []byte
}

// Read reads a file, or standard input for "-".
func Read(path string, stdin io.Reader) (Document, error) {
	if path == Stdin {
		bytes, err := read(stdin)
		if err != nil {
			return Document{}, fmt.Errorf("standard input: %w", Cause(err))
		}
		return Document{Name: "standard input", Bytes: bytes}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", Printable(path), Cause(err))
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return Document{}, fmt.Errorf("%s: is a directory", Printable(path))
	}
	bytes, err := read(file)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", Printable(path), Cause(err))
	}
	return Document{Name: Printable(path), Bytes: bytes}, nil
}

func read(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, MaxBytes))
}

// Cause is the error of the operating system without the operation and the path, which the caller names.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// At names a place for people: the file, and the line and column if they are known.
func (d Document) At(place Place) string {
	if !place.Known() {
		return d.Name
	}
	return fmt.Sprintf("%s:%d:%d", d.Name, place.Line, place.Column)
}
