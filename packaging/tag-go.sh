#!/usr/bin/env bash
# Tags the Go module of a release: go/vX.Y.Z is the release's commit and, on top of it, the libraries of the four platforms
# from dist/, with their licences. No branch gets that commit. Pushing the tag is left to you.
#
#     packaging/tag-go.sh            for the tag vX.Y.Z of Cargo.toml's version
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
cleanup() {
    git worktree remove --force "$work/tree" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

git worktree add --quiet --detach "$work/tree" "refs/tags/v$version"
for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
    archive=dist/kandev-policy-$version-$platform.tar.gz
    # Only what the checks have seen.
    (cd dist && grep -E "[ *]${archive#dist/}\$" SHA256SUMS | sha256sum --check --strict --quiet -)
    mkdir "$work/$platform"
    tar -xzf "$archive" -C "$work/$platform" --strip-components 1
    case $platform in
    linux-*) shared=libkandev_policy.so.1 ;;
    darwin-*) shared=libkandev_policy.1.dylib ;;
    esac
    folder=$work/tree/go/policy/lib/${platform/-/_}
    cp -L "$work/$platform/lib/$shared" "$work/$platform/lib/libkandev_policy.a" "$folder/"
    chmod 644 "$folder"/libkandev_policy*
done
cp LICENSE-MIT LICENSE-APACHE "$work/tree/go/"
cp packaging/THIRD-PARTY-NOTICES.md "$work/tree/go/NOTICE.md" # a name that "go mod vendor" takes along
cd "$work/tree"
git add --force go
git commit --quiet --message "The Go module $version, with its libraries"
git tag --annotate "go/v$version" --message "go/v$version"
git show --stat --format='%D' "go/v$version" | tail -n +2
echo "to publish it: git push origin refs/tags/go/v$version"
