#!/usr/bin/env bash
# What has to be true before a release; it changes nothing.
#
#     packaging/release.sh versions     do all places that name a version name the same?
#     packaging/release.sh              that, and: is this tree ready to be tagged? Ends with the steps (docs/releasing.md)
#
# VERIFY=--no-verify: the packaged crate is not built.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

# expect WHAT WANTED FOUND
expect() {
    if [ "$2" = "$3" ]; then
        printf 'ok    %s: %s\n' "$1" "$3"
    else
        printf 'FAIL  %s: %s, not %s\n' "$1" "${3:-nothing}" "$2"
        failed=1
    fi
}
# holds WHAT COMMAND…: its output is shown only when it fails.
holds() {
    local what=$1 text
    shift
    if text=$("$@" 2>&1); then
        printf 'ok    %s\n' "$what"
    else
        printf 'FAIL  %s\n%s\n' "$what" "$text"
        failed=1
    fi
}
# The one match of an extended expression's group in a file, or all that differ.
find_in() { sed -nE "s/.*$2.*/\1/p" "$1" | sort -u | paste -sd ' ' -; }

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
expect "the lock file has Cargo.toml's version" "$version" "$(sed -n '/^name = "kandev-policy"$/{n;s/^version = "\(.*\)"$/\1/p;}' Cargo.lock)"
expect "the changelog's newest version" "$version" "$(sed -nE 's/^## \[([0-9][^]]*)\].*/\1/p' CHANGELOG.md | head -n 1)"
expect "the changelog links it" "$version" "$(sed -nE 's/^\[([0-9][^]]*)\]: .*/\1/p' CHANGELOG.md | head -n 1)"

abi=$(find_in src/abi/mod.rs 'ABI_VERSION: u32 = ([0-9]+);')
expect "the header's ABI version" "$abi" "$(find_in include/kandev_policy.h '^#define KANDEV_POLICY_ABI_VERSION ([0-9]+)$')"
expect "the header's symbol of the ABI version" "$abi" "$(find_in include/kandev_policy.h 'kandev_policy_abi_([0-9]+)\(')"
expect "the SONAME" "$abi" "$(find_in build.rs 'SONAME: .*libkandev_policy\.so\.([0-9]+)"')"
expect "the install name" "$abi" "$(find_in build.rs 'INSTALL_NAME: .*libkandev_policy\.([0-9]+)\.dylib"')"
expect "the Go package's ABI version" "$abi" "$(find_in go/policy/engine.go 'abiVersion = ([0-9]+)$')"
expect "the shared library that it links on linux" "$abi" "$(find_in go/policy/link_shared.go 'libkandev_policy\.so\.([0-9]+)')"
expect "the shared library that it links on darwin" "$abi" "$(find_in go/policy/link_shared.go 'libkandev_policy\.([0-9]+)\.dylib')"
expect "the Python host's ABI version" "$abi" "$(find_in tests/hosts/python/kandev_policy.py '^ABI_VERSION = ([0-9]+)')"
expect "the C# host's ABI version" "$abi" "$(find_in tests/hosts/csharp/KandevPolicy.cs 'AbiVersion = ([0-9]+);')"
holds "the Go package has the same header" cmp include/kandev_policy.h go/policy/kandev_policy.h
if [ "${1-}" = versions ]; then exit "$failed"; fi

nothing_changed() { [ -z "$(git status --porcelain)" ] || { git status --short && return 1; }; }
dated() { grep -E "^## \[${version//./\\.}\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || { echo "write the day: ## [$version] - YYYY-MM-DD" && return 1; }; }
tags_free() {
    local tag there
    for tag in "v$version" "go/v$version"; do
        there=$(git rev-parse --verify --quiet "refs/tags/$tag^{commit}" || true)
        # The first one may be set already: the release workflow runs on it.
        [ -z "$there" ] || { [ "$tag" = "v$version" ] && [ "$there" = "$(git rev-parse HEAD)" ]; } ||
            { echo "$tag is there already, at $there" && return 1; }
    done
    for tag in $(git tag --points-at HEAD 'v*'); do
        [ "$tag" = "v$version" ] || { echo "this commit is tagged $tag" && return 1; }
    done
}
holds "nothing is uncommitted" nothing_changed
holds "the changelog gives version $version a day" dated
holds "the tags v$version and go/v$version are free" tags_free
holds "the committed WebAssembly is built from these sources" go/policy/internal/wasm/build.sh --sources
holds "the third-party notices are up to date" packaging/notices.py --check
# shellcheck disable=SC2086 # VERIFY may be nothing
holds "cargo would publish the crate" cargo publish --quiet --dry-run --locked ${VERIFY-}
if [ "$failed" != 0 ]; then
    echo "not ready to be released"
    exit 1
fi
cat <<STEPS

ready; docs/releasing.md has the whole story. The steps:
    STRICT=1 make test && make dist && make dist-check
    git tag -s v$version -m v$version $(git rev-parse --short HEAD)
    git push origin v$version          # the release workflow publishes the archives and tags go/v$version
    cargo publish --locked
    go list -m github.com/kandev/kandev-policy/go@v$version
STEPS
