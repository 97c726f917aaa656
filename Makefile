# `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | column -t -s $$'\t'

.PHONY: lib
lib: ## Build the library and put it where the Go package links it
	@echo "building the library (a minute or two the first time) …"
	go/policy/lib/build.sh

# The folders of `make install`, as GNU makefiles name them; PREFIX is prefix.
PREFIX ?= /usr/local
prefix = $(PREFIX)
exec_prefix = $(prefix)
libdir = $(exec_prefix)/lib
includedir = $(prefix)/include
datarootdir = $(prefix)/share
docdir = $(datarootdir)/doc/kandev-policy
pkgconfigdir = $(libdir)/pkgconfig
quoted = '$(subst ','\'',$(1))'
folders = prefix=$(call quoted,$(prefix)) libdir=$(call quoted,$(libdir)) includedir=$(call quoted,$(includedir)) \
    docdir=$(call quoted,$(docdir)) pkgconfigdir=$(call quoted,$(pkgconfigdir)) DESTDIR=$(call quoted,$(DESTDIR))

# Under sudo there is often no cargo: then what `make lib` has built is installed.
.PHONY: install
install: $(if $(shell command -v cargo),lib) ## Install library, header and pkg-config file (PREFIX=/usr/local, DESTDIR=)
	$(folders) packaging/install.sh install

.PHONY: uninstall
uninstall: ## Remove what `make install` installed, given the same folders
	$(folders) packaging/install.sh uninstall

.PHONY: demo
demo: lib ## Decide every captured frame from Rust, C and Go
	@echo "building the three programs …"
	tests/demo/run.sh

.PHONY: test
test: lib ## Run the whole test suite (STRICT=1: a skipped suite fails)
	tests/run.sh

.PHONY: command
command: ## Build the command: one file, bin/kandev-policy
	cd go/cmd/kandev-policy && CGO_ENABLED=0 go build -o ../../../bin/kandev-policy .

.PHONY: rules
rules: ## Disable each rule of the decision in turn: a vector must fail each time
	tests/rules.sh

.PHONY: bench
bench: lib ## Measure everything in one table, beside plain Go, Cedar and regorus (minutes)
	tests/bench/run.sh

.PHONY: budget
budget: ## Count the instructions of a decision, against the record for this compiler
	tests/budget.sh

.PHONY: replay-bench
replay-bench: lib ## Replay a recording of 1 GB, beside wc -l and encoding/json (1.1 GB of disk for a while)
	cd go/cmd/kandev-policy && go run ./internal/replaybench

.PHONY: specification
specification: ## Compare engine and specification over the whole space (minutes)
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	    cargo test --release --test specification -- --nocapture --test-threads 1

.PHONY: fuzz
fuzz: lib ## Run the fuzzers in full (FUZZ_SECONDS=60: each for a minute)
	tests/fuzz/run.sh

.PHONY: sanitizers
sanitizers: ## Run the Rust tests, and the C programs with an instrumented library, under AddressSanitizer
	tests/sanitizers/run.sh

.PHONY: mutants
mutants: ## Change the engine in every way that cargo-mutants knows: a test must notice (an hour)
	tests/mutants.sh

.PHONY: supply-chain
supply-chain: ## Licences, duplicates and sources of what is built; advisories where they can be reached
	tests/supply-chain.sh

.PHONY: consumers
consumers: lib ## Build programs outside the repository in each way to link; what each costs
	tests/consumers.sh

.PHONY: wasm
wasm: ## Rebuild the engine for Go without cgo (needs Debian's WebAssembly toolchain)
	go/policy/internal/wasm/build.sh

.PHONY: wasm-check
wasm-check: ## Rebuild it from two places and compare with the committed file
	go/policy/internal/wasm/build.sh --check

.PHONY: wasm-tools
wasm-tools: ## Install Debian's WebAssembly toolchain
	apt-get update && apt-get install -y --no-install-recommends rustc-web cargo-web rust-web-src lld

.PHONY: arm64
arm64: ## The Go suite without cgo on linux/arm64 (needs Debian's qemu-user)
	tests/arm64.sh

.PHONY: dist
dist: ## Build the archives of every platform into dist/ (needs Debian 12 on x86_64)
	packaging/dist.sh

.PHONY: dist-check
dist-check: ## Test these archives as a user has them: here, in an older Debian, emulated (needs root)
	packaging/check.sh

.PHONY: dist-tools
dist-tools: ## Install what both need; `make dist` does it too
	packaging/tools.sh

.PHONY: e2e-claude
e2e-claude: lib ## The example host with the released Claude ACP agent and a scripted model
	node tests/e2e/claude.mjs

.PHONY: e2e-watch
e2e-watch: lib ## The released Claude ACP agent with and without kandev-policy watch: the same traffic
	node tests/e2e/watch.mjs

.PHONY: e2e-hooks
e2e-hooks: lib ## Bridge and hook with the released Codex and Claude Code and a scripted model
	node tests/e2e/hooks.mjs

.PHONY: release-dry-run
release-dry-run: ## Is this tree ready to be released? Changes nothing, and prints the steps
	packaging/release.sh

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(TARGET) bin dist go/policy/lib/*/*libkandev_policy*
