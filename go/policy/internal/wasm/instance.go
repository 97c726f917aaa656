package wasm

import (
	"bytes"
	"context"
	"errors"

	"github.com/tetratelabs/wazero/api"
)

// An Instance of the module, with a memory of its own. One goroutine uses it at a time.
//
// Addresses and sizes are of the instance's memory, where they have 32 bits. An instance that has trapped (which is how a
// panic of the library ends here) may be in any state, and answers no more.
type Instance struct {
	module    api.Module
	memory    api.Memory
	functions [functions]api.Function
	stack     [maxArguments]uint64 // of the call: a slice of an argument list would have to be allocated
	room      uint32               // what Room has given out
	roomSize  uint32
	trapped   bool

	handles map[*Policy]uint32 // the policies that are compiled in this instance

	// The pool's, under its lock.
	busy bool
	gone []*Policy // to be freed when it comes back
}

const maxArguments = 11

var errTrapped = errors.New("wasm: the instance has trapped")

// Call calls a function and gives its result, if it has one. The error is for a trap.
func (i *Instance) Call(f Function, arguments ...uint32) (uint32, error) {
	if i.trapped {
		return 0, errTrapped
	}
	function, err := i.function(f)
	if err == nil {
		for n, argument := range arguments {
			i.stack[n] = uint64(argument)
		}
		err = function.CallWithStack(context.Background(), i.stack[:])
	}
	if err != nil {
		i.trapped = true
		return 0, err
	}
	return uint32(i.stack[0]), nil
}

// minRoom is enough for what is decided most of the time, so that it is asked for once.
const minRoom = 64 << 10

// Room gives the address of at least size bytes for the host's use, until the next Room.
func (i *Instance) Room(size int) (uint32, error) {
	if uint64(size) <= uint64(i.roomSize) {
		return i.room, nil
	}
	if uint64(size) > maxMemoryPages<<16 {
		return 0, errors.New("wasm: out of memory")
	}
	old, oldSize := i.room, i.roomSize
	i.room, i.roomSize = 0, 0
	if _, err := i.Call(dealloc, old, oldSize); err != nil {
		return 0, err
	}
	wanted := max(uint32(size), minRoom)
	room, err := i.Call(alloc, wanted)
	if err != nil {
		return 0, err
	}
	if room == 0 {
		return 0, errors.New("wasm: out of memory")
	}
	i.room, i.roomSize = room, wanted
	return room, nil
}

// Bytes are those of the memory, not a copy: valid until the next call. There are none if they would be out of bounds.
func (i *Instance) Bytes(address, size uint32) []byte {
	b, _ := i.memory.Read(address, size)
	return b
}

// Uint32 reads a number; 0 out of bounds.
func (i *Instance) Uint32(address uint32) uint32 {
	n, _ := i.memory.ReadUint32Le(address)
	return n
}

// Uint64 reads a number; 0 out of bounds.
func (i *Instance) Uint64(address uint32) uint64 {
	n, _ := i.memory.ReadUint64Le(address)
	return n
}

// CString are the bytes up to a NUL, not a copy: valid until the next call.
func (i *Instance) CString(address uint32) []byte {
	b := i.Bytes(address, i.memory.Size()-address)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return b[:end]
	}
	return nil
}

// A Writer puts the arguments of a call one behind the other.
type Writer struct {
	rest []byte
	at   uint32
}

// Writer gives Room of this size to write to.
func (i *Instance) Writer(size int) (Writer, error) {
	room, err := i.Room(size)
	if err != nil {
		return Writer{}, err
	}
	return Writer{i.Bytes(room, i.roomSize), room}, nil
}

// Put copies b, and gives where it is. For nothing that is NULL, as it is natively.
func (w *Writer) Put(b []byte) (address, size uint32) {
	if len(b) == 0 {
		return 0, 0
	}
	address = w.at
	copy(w.rest, b)
	w.skip(len(b))
	return address, uint32(len(b))
}

// Leave leaves room for the library to write to, aligned to 8 and cleared.
func (w *Writer) Leave(size int) (address uint32) {
	w.skip(int(-w.at & 7))
	address = w.at
	clear(w.rest[:size])
	w.skip(size)
	return address
}

func (w *Writer) skip(n int) {
	w.rest = w.rest[n:]
	w.at += uint32(n)
}

// Wipe clears what Room has given out, where there were secrets.
func (i *Instance) Wipe() {
	if i.room != 0 {
		clear(i.Bytes(i.room, i.roomSize))
	}
}

// large is the size of a memory that is not kept: it can't shrink, and few requests need that much.
const large = 8 << 20

func (i *Instance) worn() bool { return i.trapped || i.memory.Size() > large }

// Close gives the memory up.
func (i *Instance) Close() { i.module.Close(context.Background()) }

// PutString copies b, with a NUL behind it.
func (w *Writer) PutString(b []byte) (address uint32) {
	address = w.at
	copy(w.rest, b)
	w.rest[len(b)] = 0
	w.skip(len(b) + 1)
	return address
}
