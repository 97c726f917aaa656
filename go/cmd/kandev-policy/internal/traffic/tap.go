package traffic

import (
	"io"
	"sync"
)

// Tap is a stream that is written as it comes and read line by line on the side.
type Tap struct {
	queue chan []byte
	done  sync.WaitGroup
}

// queued is how many pieces may wait to be read. Only when they are all waiting does the writer wait too.
const queued = 256

// NewTap calls each for every line that isn't blank, one after the other, until the tap is closed.
func NewTap(each func(Line)) *Tap {
	read, write := io.Pipe()
	tap := &Tap{queue: make(chan []byte, queued)}
	tap.done.Go(func() {
		for piece := range tap.queue {
			_, _ = write.Write(piece) // the reader below never closes its end early
		}
		write.Close()
	})
	tap.done.Go(func() {
		lines := newLines(read)
		for {
			line, err := lines.next()
			if err != nil {
				return
			}
			each(line)
		}
	})
	return tap
}

// Write takes a copy. It never fails.
func (t *Tap) Write(piece []byte) (int, error) {
	t.queue <- append([]byte(nil), piece...)
	return len(piece), nil
}

// Close waits until all that was written has been read.
func (t *Tap) Close() {
	close(t.queue)
	t.done.Wait()
}
