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
bench: lib ## Compare with the plain Go baseline
	cd go/bench && go run .

.PHONY: specification
specification: ## Compare engine and specification over the whole space (minutes)
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	    cargo test --release --test specification -- --nocapture --test-threads 1

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

.PHONY: e2e-claude
e2e-claude: lib ## The example host with the released Claude ACP agent and a scripted model
	node tests/e2e/claude.mjs

.PHONY: e2e-hooks
e2e-hooks: lib ## Bridge and hook with the released Codex and Claude Code and a scripted model
	node tests/e2e/hooks.mjs

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(TARGET) bin go/policy/lib/*/*libkandev_policy*
