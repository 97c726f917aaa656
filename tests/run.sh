#!/usr/bin/env bash
# The whole test suite: runs each suite of the table below, and ends with a table of what ran, what was skipped and why.
#
# A suite skips itself by exiting with 77; the last line it prints is the reason. STRICT=1: a skip is a failure. Where a
# suite that passes has something to say, that is its last line, after "NOTE: ".
# `tests/run.sh NAME…` runs only the suites named.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
STRICT=${STRICT:-}
logs=${CARGO_TARGET_DIR:-target}/test-logs
mkdir -p "$logs"

# --- the suites: name, what it shows ---------------------------------------------------------------------------------
suites=(
    "format|rustfmt and gofmt leave every file as it is"
    "clippy|no warning, with each set of features"
    "rust|unit, property and documentation tests; every vector through the crate"
    "specification|engine against the executable specification, millions of cases"
    "fuzz|each fuzzer briefly, under AddressSanitizer; the committed corpora reach every reason"
    "sanitizers|the Rust tests under AddressSanitizer, and C programs with an instrumented library"
    "c|the ABI from C99 and C++17, plain, under sanitizers and Valgrind; injected panics"
    "artifact|exports, SONAME, header drift, unsafe code, packaged crate"
    "go|the Go packages under the race detector, with strict cgo checks, with GC in a loop"
    "ways|the Go packages in each way to link; go vet for each system and module"
    "lock|a library of another ABI version is refused in each way"
    "static|the static archive's symbols and link flags; a second Rust archive beside it"
    "consumers|programs outside the repository in each way to link"
    "install|make install into a stage and a prefix; programs built with pkg-config"
    "hosts|Python (ctypes) and C# (P/Invoke) replay every vector"
    "release|versions agree everywhere, notices are current; what a wrong release is refused for"
    "workflows|actionlint on the workflows, shellcheck on the scripts"
    "wasm|the WebAssembly engine is built from these sources"
    "command|the kandev-policy command"
    "host|the example host: the acceptance criteria over real ACP and MCP; the guide's code"
    "benchmarks|the Go baseline decides the captures as the contract does"
    "budget|instructions per decision, against what is recorded for the compiler"
    "docs|the commands of the docs run as they stand there; links lead somewhere"
    "demo|the main job on captured frames, from Rust, C and Go"
    "model|the token registry in every order of threads, and wrong ones that are noticed"
    "dependencies|docs/dependencies.md lists the direct dependencies"
    "rules|each rule of the decision is held by a vector"
)

suite_format() {
    cargo fmt --check && cargo fmt --check --manifest-path tests/model/Cargo.toml || return 1
    local unformatted
    unformatted=$(gofmt -l go)
    if [ -n "$unformatted" ]; then
        printf 'gofmt: %s\n' "$unformatted"
        return 1
    fi
}

suite_clippy() {
    cargo clippy --quiet --all-targets -- -D warnings &&
        cargo clippy --quiet --all-targets --all-features -- -D warnings &&
        cargo clippy --quiet --lib --no-default-features -- -D warnings
}

suite_rust() { cargo test --quiet --features capi; }

suite_specification() {
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo test --quiet --release --test specification -- --nocapture --test-threads 1
}

# The build scripts of both builds are the same.
suite_fuzz() {
    cargo fmt --check --manifest-path tests/fuzz/Cargo.toml &&
        CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/fuzz/address \
            cargo test --quiet --release --manifest-path tests/fuzz/Cargo.toml --no-default-features &&
        FUZZ_SECONDS=${FUZZ_SECONDS:-10} FUZZ_SANITIZER=address tests/fuzz/run.sh
}

suite_sanitizers() { tests/sanitizers/run.sh; }

suite_c() { tests/c/run.sh; }

suite_artifact() { tests/artifact.sh; }

suite_go() {
    cd go &&
        go test -race ./... &&
        GOEXPERIMENT=cgocheck2 go test ./policy &&
        GOGC=1 go test -short ./policy
}

suite_ways() {
    local module
    for module in $(modules); do
        (cd "$module" && go vet ./...) || return 1
    done
    tests/ways.sh
}

suite_lock() { tests/lock.sh; }

suite_static() { tests/static.sh; }

suite_consumers() { tests/consumers.sh; }

suite_install() { tests/install.sh; }

suite_hosts() { tests/hosts/run.sh; }

suite_release() { packaging/notices.py --check && tests/release.sh; }

suite_workflows() { tests/workflows.sh; }

suite_wasm() { go/policy/internal/wasm/build.sh --sources; }

suite_command() { cd go/cmd/kandev-policy && go test -race ./...; }

suite_host() { cd go/examples/processmanager && go test -race ./...; }

suite_benchmarks() { cd go/bench && go test ./...; }

suite_budget() { tests/budget.sh; }

suite_docs() { tests/docs.py; }

suite_demo() { tests/demo/run.sh; }

suite_rules() { tests/rules.sh engine; }

suite_model() {
    local target
    target=$(realpath "${CARGO_TARGET_DIR:-target}")/model
    (cd tests/model && CARGO_TARGET_DIR=$target cargo test --quiet --locked -- --nocapture) && tests/rules.sh model
}

suite_dependencies() { python3 tests/dependencies.py; }

# Every Go module of the repository.
modules() { find go -name go.mod -printf '%h\n' | sort; }
# ----------------------------------------------------------------------------------------------------------------------

for name in "$@"; do
    if ! printf '%s\n' "${suites[@]}" | grep -q "^$name|"; then
        printf 'no suite %s: %s\n' "$name" "$(printf '%s\n' "${suites[@]%%|*}" | paste -sd ' ')" >&2
        exit 2
    fi
done

passed=0 failed=0 skipped=0 table=""
for suite in "${suites[@]}"; do
    name=${suite%%|*} what=${suite#*|}
    if [ "$#" -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    log=$logs/$name.log
    start=$SECONDS
    printf '== %s: %s\n' "$name" "$what"
    ("suite_${name//-/_}") >"$log" 2>&1
    code=$?
    took=$((SECONDS - start))s
    case $code in
        0) result=PASS passed=$((passed + 1)) note=$(tail -n 1 "$log" | grep '^NOTE: ' || echo "$what") ;;
        77) result=SKIP skipped=$((skipped + 1)) note=$(tail -n 1 "$log") ;;
        *) result=FAIL failed=$((failed + 1)) note="see $log" && tail -n 60 "$log" ;;
    esac
    printf '   %s in %s\n' "$result" "$took"
    table+="$(printf '%-5s %-14s %6s  %s' "$result" "$name" "$took" "$note")"$'\n'
done

printf '\n%s\n%d passed, %d failed, %d skipped\n' "$table" "$passed" "$failed" "$skipped"
if [ "$failed" -gt 0 ] || { [ "$STRICT" = 1 ] && [ "$skipped" -gt 0 ]; }; then exit 1; fi
