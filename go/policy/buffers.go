package policy

import "sync"

// buffers holds memory that a call needs while it lasts and that is too large for the stack. What is larger than maxPooled
// is left to the garbage collector.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 256 << 10

// borrowBuffer gives size bytes that may hold anything; they go back with returnBuffer.
func borrowBuffer(size int) *[]byte {
	b := buffers.Get().(*[]byte)
	if cap(*b) < size {
		*b = make([]byte, size)
	}
	*b = (*b)[:size]
	return b
}

func returnBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		buffers.Put(b)
	}
}
