package wasm

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const config = `{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}`

var loaded = sync.OnceValues(Load)

func newPool(t *testing.T) *Pool {
	t.Helper()
	m, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return NewPool(m)
}

func TestVersions(t *testing.T) {
	m := newPool(t).Module()
	if m.ABIVersion() != 1 || m.Version() == "" {
		t.Errorf("ABI version %d, version %q", m.ABIVersion(), m.Version())
	}
}

// TestImportsNothing: the library can reach nothing but its own memory.
func TestImportsNothing(t *testing.T) {
	m := newPool(t).Module()
	if n := len(m.compiled.ImportedFunctions()) + len(m.compiled.ImportedMemories()); n > 0 {
		t.Errorf("%d imports", n)
	}
}

// TestNoPaths: nothing of the machine that built the file is in it.
func TestNoPaths(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{here[:strings.Index(here[1:], "/")+2], "/home/", "/usr/", ".cargo", "registry/src", "rustlib"} {
		if strings.Contains(string(binary), path) {
			t.Errorf("the file says %q", path)
		}
	}
}

// TestTrapCostsOneInstance: the instance is replaced, and no other one notices.
func TestTrapCostsOneInstance(t *testing.T) {
	p := newPool(t)
	a, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	policy, status, _, err := b.NewPolicy([]byte(config), 0)
	if err != nil || status != 0 {
		t.Fatal(err, status)
	}
	if _, err := a.Call(Free, 1<<32-16); err == nil {
		t.Fatal("no trap")
	}
	if _, err := a.Call(ABIVersion); err != errTrapped {
		t.Errorf("an instance that has trapped answers: %v", err)
	}
	if v, err := b.Call(ABIVersion); err != nil || v != 1 {
		t.Error(v, err)
	}
	p.Put(a)
	p.Put(b)
	if len(p.all) != 1 || p.count != 1 || len(p.idle) != 1 || p.idle[0] != b {
		t.Errorf("%d instances, %d counted, idle %v", len(p.all), p.count, p.idle)
	}
	c, _ := p.Get()
	d, err := p.Get()
	if err != nil || c != b || d == a {
		t.Error("the one that has trapped comes back", err)
	}
	if _, err := d.Handle(policy); err != nil {
		t.Error(err)
	}
}

// TestForget: a policy is freed in the idle instances at once, and in a busy one when it comes back.
func TestForget(t *testing.T) {
	p := newPool(t)
	a, _ := p.Get()
	b, _ := p.Get()
	policy, _, _, err := a.NewPolicy([]byte(config), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Handle(policy); err != nil {
		t.Fatal(err)
	}
	p.Put(a)
	p.Forget(policy)
	if len(a.handles) != 0 || len(b.handles) != 1 {
		t.Errorf("idle %d, busy %d", len(a.handles), len(b.handles))
	}
	p.Put(b)
	if len(b.handles) != 0 || len(b.gone) != 0 {
		t.Errorf("back: %d, %d to go", len(b.handles), len(b.gone))
	}
}

// TestNoMoreThanCanRun: whoever comes when all instances are in use waits for one.
func TestNoMoreThanCanRun(t *testing.T) {
	p := newPool(t)
	var all sync.WaitGroup
	for range 64 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 100 {
				i, err := p.Get()
				if err != nil {
					t.Error(err)
					return
				}
				if v, err := i.Call(ABIVersion); err != nil || v != 1 {
					t.Error(v, err)
				}
				p.Put(i)
			}
		}()
	}
	all.Wait()
	if most := max(2, runtime.GOMAXPROCS(0)); len(p.all) > most || len(p.idle) != len(p.all) {
		t.Errorf("%d instances, %d of them idle, for %d", len(p.all), len(p.idle), most)
	}
}

// TestRoom: enough of it, aligned, within the memory, and refused where there can't be.
func TestRoom(t *testing.T) {
	i, err := newPool(t).Get()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, minRoom, minRoom + 1, 5 << 20} {
		room, err := i.Room(size)
		if err != nil || room%16 != 0 || len(i.Bytes(room, uint32(size))) != size {
			t.Errorf("%d: %d, %v", size, room, err)
		}
	}
	for _, size := range []int{maxMemoryPages << 16, maxMemoryPages<<16 + 1, 1 << 33} {
		if _, err := i.Room(size); err == nil {
			t.Errorf("%d bytes of room", size)
		}
	}
	if i.trapped {
		t.Error("asking for too much is no trap")
	}
}

// TestOtherVersion: a module says which ABI it has, so that it can be refused.
func TestOtherVersion(t *testing.T) {
	m, err := load(otherVersion)
	if err != nil {
		t.Fatal(err)
	}
	if m.ABIVersion() != 2 || m.Version() != "9.9.9" {
		t.Errorf("ABI version %d, version %q", m.ABIVersion(), m.Version())
	}
	if _, err := load([]byte("\x00asm\x01\x00\x00\x00")); err == nil {
		t.Error("an empty module is taken")
	}
	if _, err := load(nil); err == nil {
		t.Error("no module is taken")
	}
}

// otherVersion is a module by hand, with nothing but ABI version 2 and version "9.9.9".
var otherVersion = func() []byte {
	section := func(id byte, content string) string { return string([]byte{id, byte(len(content))}) + content }
	name := func(s string) string { return string([]byte{byte(len(s))}) + s }
	return []byte("\x00asm\x01\x00\x00\x00" +
		section(1, "\x01\x60\x00\x01\x7f") + // one type: () -> i32
		section(3, "\x02\x00\x00") + // two functions of it
		section(5, "\x01\x00\x01") + // a memory of one page
		section(7, "\x03"+name("memory")+"\x02\x00"+name("kandev_policy_abi_version")+"\x00\x00"+name("kandev_policy_version")+"\x00\x01") +
		section(10, "\x02\x04\x00\x41\x02\x0b\x04\x00\x41\x10\x0b") + // i32.const 2; i32.const 16
		section(11, "\x01\x00\x41\x10\x0b"+name("9.9.9\x00"))) // the text at 16
}()
