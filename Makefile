# `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),target)
GO_LIB = go/policy/lib/$(shell go env GOOS)_$(shell go env GOARCH)
DYLIB  = $(if $(filter Darwin,$(shell uname -s)),libkandev_policy.dylib,libkandev_policy.so)
SONAME = $(if $(filter Darwin,$(shell uname -s)),libkandev_policy.1.dylib,libkandev_policy.so.1)

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | column -t -s $$'\t'

.PHONY: lib
lib: ## Build the library and put it where the Go package links it
	cargo build --quiet --release --features capi
	mkdir -p $(GO_LIB)
	cp -f $(TARGET)/release/$(DYLIB) $(GO_LIB)/$(SONAME)
	ln -sf $(SONAME) $(GO_LIB)/$(DYLIB)
	cp -f include/kandev_policy.h go/policy/kandev_policy.h

.PHONY: demo
demo: lib ## Decide every captured frame from Rust, C and Go
	tests/demo/run.sh

.PHONY: test
test: lib ## Run the whole test suite (STRICT=1: a skipped suite fails)
	tests/run.sh

.PHONY: rules
rules: ## Disable each rule of the decision in turn: a vector must fail each time
	tests/rules.sh

.PHONY: bench
bench: lib ## Compare with the plain Go baseline
	cd go/bench && go run .

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(TARGET) go/policy/lib
