#!/usr/bin/env bash
# What the project is built from: licences, duplicates and sources of crates and Go modules; and what is known against
# them, where the two databases can be reached.
#
#     tests/supply-chain.sh          one line per check: PASS, FAIL or SKIPPED
#
# cargo-deny is installed into target/tools when it is missing, which takes minutes. STRICT=1: a skipped check fails.
set -euo pipefail
cd "$(dirname "$0")/.."
deny_version=0.20.2
govulncheck_version=v1.9.0
failed=0

report() { # PASS|FAIL|SKIPPED name text
    printf '%s: %s: %s\n' "$1" "$2" "$3"
    if [ "$1" = FAIL ] || { [ "$1" = SKIPPED ] && [ "${STRICT:-0}" = 1 ]; }; then failed=1; fi
}
check() { # name what command…
    local name=$1 what=$2 output
    shift 2
    if output=$("$@" 2>&1); then
        report PASS "$name" "$what"
    else
        printf '%s\n' "$output"
        report FAIL "$name" "$what"
    fi
}

deny=$(command -v cargo-deny || true)
if [ -z "$deny" ] || [ "$("$deny" --version)" != "cargo-deny $deny_version" ]; then
    deny=$PWD/target/tools/bin/cargo-deny
    if [ ! -x "$deny" ] || [ "$("$deny" --version)" != "cargo-deny $deny_version" ]; then
        echo "installing cargo-deny $deny_version (some minutes) …"
        cargo install --quiet --locked --root target/tools "cargo-deny@$deny_version"
    fi
fi
deny() { # manifest checks…
    local manifest=$1
    shift
    "$deny" --manifest-path "$manifest" --config deny.toml --locked check --hide-inclusion-graph \
        -A license-not-encountered -A license-exception-not-encountered "$@"
}

check dependencies "docs/dependencies.md lists the direct dependencies" python3 tests/dependencies.py
check crates "licences, duplicates and sources of the library's crates" deny Cargo.toml licenses bans sources
for lock in $(git ls-files '*/Cargo.lock'); do
    # These are for tests only.
    check "crates of ${lock%/Cargo.lock}" "licences and sources" deny "${lock%lock}toml" licenses sources
done
check modules "licences of the Go modules" python3 tests/dependencies.py licences

# ---- what is known against them ----

if timeout 30 git ls-remote --exit-code https://github.com/rustsec/advisory-db HEAD >/dev/null 2>&1; then
    check advisories "no advisory against a crate" deny Cargo.toml advisories
else
    report SKIPPED advisories "the RustSec database can't be reached"
fi
govulncheck() {
    local module
    for module in $(git ls-files '*go.mod'); do
        (cd "${module%go.mod}" && go run "golang.org/x/vuln/cmd/govulncheck@$govulncheck_version" ./...) || return 1
    done
}
if timeout 30 curl --fail --silent --output /dev/null https://vuln.go.dev/index/db.json; then
    check govulncheck "no vulnerability that the Go code can reach" govulncheck
else
    report SKIPPED govulncheck "the Go vulnerability database can't be reached"
fi
exit "$failed"
