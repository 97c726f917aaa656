#!/usr/bin/env bash
# The checks before a release: all places that name a version agree, and each of them is noticed when it doesn't; the dry run
# passes a tree that is ready and refuses one that isn't. Then the Go module's tag is made, from archives made here, and a
# program is built from what the tag holds.
#
# Needs `make lib`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
cleanup() { chmod -R u+w "$work" && rm -rf "$work"; } # a module cache is read-only
trap cleanup EXIT
fail() {
    printf 'FAIL  %s\n' "$*"
    exit 1
}

"$root/packaging/release.sh" versions
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
abi=$(sed -n 's/^#define KANDEV_POLICY_ABI_VERSION //p' "$root/include/kandev_policy.h")

# --- a checkout of its own, with what is not committed yet -------------------------------------------------------------
export CARGO_TARGET_DIR=$work/target VERIFY=--no-verify
export GIT_CONFIG_GLOBAL=$work/gitconfig GIT_CONFIG_SYSTEM=/dev/null
printf '[user]\n\tname = Test\n\temail = test@example.test\n[safe]\n\tdirectory = *\n' >"$GIT_CONFIG_GLOBAL"
tree=$work/tree
mkdir "$tree"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | tar -c --null -T - -f -) | tar -x -C "$tree" -f -
cd "$tree"
git init --quiet --initial-branch main
git add --all
git commit --quiet --message all

# refused WHAT TEXT: the checks say so.
refused() {
    if packaging/release.sh "${@:3}" >"$work/log" 2>&1 || ! grep -qF -- "FAIL  $2" "$work/log"; then
        fail "$1: $(cat "$work/log")"
    fi
    printf 'ok    refused: %s\n' "$1"
}
# differs FILE EDIT TEXT: a version is changed in one place.
differs() {
    sed -i.bak "$2" "$1"
    rm "$1.bak"
    git diff --quiet && fail "the edit of $1 changes nothing: $2"
    refused "another version in $1: $3" "$3" versions
    git checkout --quiet .
}
differs Cargo.toml "s/^version = \"$version\"/version = \"99.0.0\"/" "the lock file"
differs CHANGELOG.md "s/^## \[$version\]/## [99.0.0]/" "the changelog's newest version"
differs CHANGELOG.md "s/^\[$version\]:/[99.0.0]:/" "the changelog links it"
differs include/kandev_policy.h "s/ABI_VERSION $abi\$/ABI_VERSION 99/" "the header's ABI version"
differs include/kandev_policy.h "s/kandev_policy_abi_$abi(/kandev_policy_abi_99(/" "the header's symbol"
differs include/kandev_policy.h '1s/$/ /' "the Go package has the same header"
differs build.rs "s/\.so\.$abi\"/.so.99\"/" "the SONAME"
differs build.rs "s/\.$abi\.dylib/.99.dylib/" "the install name"
differs go/policy/engine.go "s/abiVersion = $abi\$/abiVersion = 99/" "the Go package's ABI version"
differs go/policy/link_shared.go "s/\.so\.$abi/.so.99/" "the shared library that it links on linux"
differs go/policy/link_shared.go "s/\.$abi\.dylib/.99.dylib/" "the shared library that it links on darwin"
differs tests/hosts/python/kandev_policy.py "s/^ABI_VERSION = $abi/ABI_VERSION = 99/" "the Python host"
differs tests/hosts/csharp/KandevPolicy.cs "s/AbiVersion = $abi;/AbiVersion = 99;/" "the C# host"

# --- the dry run ------------------------------------------------------------------------------------------------------
sed -i.bak "s/^## \[$version\] - .*/## [$version] - unreleased/" CHANGELOG.md && rm CHANGELOG.md.bak
git commit --quiet --all --allow-empty --message "not dated"
refused "a version without a day" "the changelog gives version $version a day"
sed -i.bak "s/^## \[$version\] - .*/## [$version] - 2026-01-31/" CHANGELOG.md && rm CHANGELOG.md.bak
refused "a tree with changes" "nothing is uncommitted"
git commit --quiet --all --message "dated"
packaging/release.sh >"$work/log" 2>&1 || fail "the dry run of a tree that is ready: $(cat "$work/log")"
grep -q "git push origin v$version" "$work/log" || fail "the dry run prints no steps: $(cat "$work/log")"
[ -z "$(git status --porcelain)" ] && [ -z "$(git tag)" ] || fail "the dry run changes something"
printf 'ok    a tree that is ready passes\n'
git tag "v$version" HEAD^
refused "a version that is tagged elsewhere" "the tags v$version and go/v$version are free"
git tag -d "v$version" >"$work/log"
git tag v99.0.0
refused "a commit with another version's tag" "the tags v$version and go/v$version are free"
git tag -d v99.0.0 >"$work/log"
sed -i.bak 's/^| libc |/| libd |/' packaging/THIRD-PARTY-NOTICES.md && rm packaging/THIRD-PARTY-NOTICES.md.bak
printf '// more\n' >>src/lib.rs
refused "sources that the WebAssembly is not of" "the committed WebAssembly is built from these sources"
refused "notices that are out of date" "the third-party notices are up to date"
git checkout --quiet .

# --- what the changelog says of a version, for the release's page ------------------------------------------------------
packaging/changes.sh "$version" >"$work/changes"
grep -q '^- ' "$work/changes" || fail "no changes: $(cat "$work/changes")"
if grep -E '^## |^\[' "$work/changes"; then fail "more than one version's changes"; fi
if packaging/changes.sh 99.0.0 >"$work/log" 2>&1; then fail "changes of a version that there is not"; fi
printf 'ok    changes of %s\n' "$version"

# --- the Go module's tag, from a zip with this machine's library for every platform ------------------------------------
git tag "v$version"
mkdir dist
here=$(go env GOOS)_$(go env GOARCH)
cp -R go "$work/module"
for platform in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do
    case $platform in
    linux_*) shared=libkandev_policy.so.1 ;;
    darwin_*) shared=libkandev_policy.1.dylib ;;
    esac
    cp "$root/go/policy/lib/$here"/libkandev_policy*.1* "$work/module/policy/lib/$platform/$shared"
    cp "$root/go/policy/lib/$here/libkandev_policy.a" "$work/module/policy/lib/$platform/"
done
cp LICENSE-* packaging/THIRD-PARTY-NOTICES.md "$work/module/"
modzip() { # FOLDER PROXY: as dist/ has it
    (cd "$root/tests/consumers" && go run ./modzip "$1" "v$version" "$2")
    cp "$2/github.com/kandev/kandev-policy/go/@v/v$version.zip" "dist/kandev-policy-go-v$version.zip"
}
sums() { (cd dist && sha256sum -- *.zip >SHA256SUMS); }
untagged() {
    if packaging/tag-go.sh >"$work/log" 2>&1 || [ -n "$(git tag --list 'go/*')" ]; then fail "tagged: $1"; fi
    [ "$(git worktree list | wc -l)" = 1 ] || fail "a refusal leaves a worktree behind"
    printf 'ok    refused: %s\n' "$1"
}
cp -R "$work/module" "$work/changed"
printf '// more\n' >>"$work/changed/policy/policy.go"
modzip "$work/changed" "$work/changed-proxy"
sums
untagged "a zip of other sources"
modzip "$work/module" "$work/module-proxy"
untagged "a zip with another sum"
sums
before=$(git rev-parse main)
packaging/tag-go.sh >"$work/log" 2>&1 || fail "$(cat "$work/log")"
[ "$(git rev-parse main)" = "$before" ] && [ "$(git rev-parse "go/v$version^")" = "$before" ] || fail "the tag is not one commit on top of the release"
[ -z "$(git status --porcelain)" ] && [ "$(git worktree list | wc -l)" = 1 ] || fail "the tag leaves something behind: $(git status --short)"
diff - <(git diff --name-only --no-renames "$before" "go/v$version") <<FILES
go/LICENSE-APACHE
go/LICENSE-MIT
go/THIRD-PARTY-NOTICES.md
go/policy/lib/darwin_amd64/libkandev_policy.1.dylib
go/policy/lib/darwin_amd64/libkandev_policy.a
go/policy/lib/darwin_arm64/libkandev_policy.1.dylib
go/policy/lib/darwin_arm64/libkandev_policy.a
go/policy/lib/linux_amd64/libkandev_policy.a
go/policy/lib/linux_amd64/libkandev_policy.so.1
go/policy/lib/linux_arm64/libkandev_policy.a
go/policy/lib/linux_arm64/libkandev_policy.so.1
FILES
printf 'ok    go/v%s: the release and, on top of it, libraries and licences\n' "$version"

# A user's program, from the module as the tag holds it, vendored.
mkdir "$work/tagged" "$work/host"
git archive "go/v$version" go | tar -x -C "$work/tagged"
(cd "$root/tests/consumers" && go run ./modzip "$work/tagged/go" "v$version" "$work/proxy")
cd "$work/host"
awk '/^```go$/ && !done { on = 1; next } on && /^```$/ { on = 0; done = 1 } on' "$root/README.md" >main.go
go mod init example.test/host 2>"$work/log"
downloads=$(go env GOMODCACHE)/cache/download
export GOPROXY=file://$work/proxy,file://$downloads GOMODCACHE=$work/cache GOSUMDB=off GOTOOLCHAIN=local
go get "github.com/kandev/kandev-policy/go@v$version" 2>"$work/log" || fail "$(cat "$work/log")"
go mod tidy 2>"$work/log" || fail "$(cat "$work/log")"
go mod vendor
for file in LICENSE-MIT LICENSE-APACHE; do
    [ -s "vendor/github.com/kandev/kandev-policy/go/$file" ] || fail "vendoring leaves $file behind"
done
for tags in "" kandev_policy_static; do
    CGO_ENABLED=1 go build -tags "$tags" -o host .
    [ "$(./host)" = "answer with yes because injected_mcp" ] || fail "a program from the tag${tags:+, $tags}: $(./host)"
done
printf 'ok    a program from that module, vendored with its licences: shared and static\n'
