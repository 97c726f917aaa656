// Package wasm runs the library as WebAssembly, for programs without cgo.
//
// kandev_policy.wasm is built from the same sources as the native library, by build.sh, and exports the same functions. A
// [Module] is compiled once; an [Instance] of it has a memory of its own and does one thing at a time; a [Pool] has as many
// as can run at once.
package wasm

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed kandev_policy.wasm
var binary []byte

// maxMemoryPages bounds an instance's memory: 512 MiB in pages of 64 KiB. No config takes more than twelve times its length of at
// most 16 MiB, in an engine whose pointers are twice as long (tests/allocations.rs).
const maxMemoryPages = 512 << 20 >> 16

// A Module is the compiled library.
type Module struct {
	runtime    wazero.Runtime
	compiled   wazero.CompiledModule
	abiVersion uint32
	version    string
}

// Load compiles the library, which takes a few hundredths of a second, and asks it for its versions.
func Load() (*Module, error) { return load(binary) }

func load(binary []byte) (*Module, error) {
	// Compiled to machine code where that is supported, else interpreted.
	m, err := loadWith(wazero.NewRuntimeConfig(), binary)
	if err != nil {
		// Some systems forbid a process to make code of its own.
		return loadWith(wazero.NewRuntimeConfigInterpreter(), binary)
	}
	return m, nil
}

func loadWith(config wazero.RuntimeConfig, binary []byte) (m *Module, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			m, err = nil, fmt.Errorf("wasm: %v", problem)
		}
	}()
	ctx := context.Background()
	config = config.WithMemoryLimitPages(maxMemoryPages).WithDebugInfoEnabled(false)
	m = &Module{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if m.compiled, err = m.runtime.CompileModule(ctx, binary); err != nil {
		return nil, err
	}
	i, err := m.Instance()
	if err != nil {
		return nil, err
	}
	defer i.Close()
	if m.abiVersion, err = i.Call(ABIVersion); err != nil {
		return nil, err
	}
	text, err := i.Call(Version)
	if err != nil {
		return nil, err
	}
	m.version = string(i.CString(text))
	return m, nil
}

// ABIVersion is what kandev_policy_abi_version gives.
func (m *Module) ABIVersion() uint32 { return m.abiVersion }

// Version is what kandev_policy_version gives.
func (m *Module) Version() string { return m.version }

// A Function is one of the library's.
type Function int

// The functions of kandev_policy.h that the Go package calls, and the pair that gives a host room in an instance's memory.
const (
	ABIVersion Function = iota
	Version
	New
	Free
	EvaluateFrame
	EvaluateRequest
	Decide
	Explain
	StringFree
	RegistryNew
	RegistryFree
	RegistryMint
	RegistryRevoke
	RegistryFind
	RegistryDecide
	UnclassifiedTools
	alloc
	dealloc
	functions
)

var names = [functions]string{
	ABIVersion:        "kandev_policy_abi_version",
	Version:           "kandev_policy_version",
	New:               "kandev_policy_new",
	Free:              "kandev_policy_free",
	EvaluateFrame:     "kandev_policy_evaluate_frame",
	EvaluateRequest:   "kandev_policy_evaluate_request",
	Decide:            "kandev_policy_decide",
	Explain:           "kandev_policy_explain",
	StringFree:        "kandev_policy_string_free",
	RegistryNew:       "kandev_policy_registry_new",
	RegistryFree:      "kandev_policy_registry_free",
	RegistryMint:      "kandev_policy_registry_mint",
	RegistryRevoke:    "kandev_policy_registry_revoke",
	RegistryFind:      "kandev_policy_registry_find",
	RegistryDecide:    "kandev_policy_registry_decide",
	UnclassifiedTools: "kandev_policy_unclassified_tools",
	alloc:             "kandev_policy_alloc",
	dealloc:           "kandev_policy_dealloc",
}

// Instance makes an instance that is in no pool.
func (m *Module) Instance() (*Instance, error) {
	ctx := context.Background()
	// The module imports nothing: no clock, no file, no randomness. Without a name any number of instances can be.
	module, err := m.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, err
	}
	return &Instance{module: module, memory: module.Memory(), handles: map[*Policy]uint32{}}, nil
}

// function is looked up once for each instance.
func (i *Instance) function(f Function) (api.Function, error) {
	if i.functions[f] == nil {
		found := i.module.ExportedFunction(names[f])
		if found == nil {
			return nil, fmt.Errorf("wasm: no function %s", names[f])
		}
		i.functions[f] = found
	}
	return i.functions[f], nil
}
