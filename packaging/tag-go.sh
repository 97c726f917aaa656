#!/usr/bin/env bash
# Tags the Go module of a release: go/vX.Y.Z is the release's commit and, on top of it, what dist/'s module zip has besides:
# the libraries of four platforms and their licences. No branch gets that commit. Pushing the tag is left to you.
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

zip=kandev-policy-go-v$version.zip
# Only what the checks have seen.
(cd dist && grep -E "[ *]$zip\$" SHA256SUMS | sha256sum --check --strict --quiet -)
python3 -m zipfile -e "dist/$zip" "$work/zip"
git worktree add --quiet --detach "$work/tree" "refs/tags/v$version"
cp -R "$work/zip/github.com/kandev/kandev-policy/go@v$version/." "$work/tree/go/"
cd "$work/tree"
if ! git diff --exit-code --stat; then
    echo "dist/$zip is not of the commit v$version" >&2
    exit 1
fi
git add --force go
git commit --quiet --message "The Go module $version, with its libraries"
git tag --annotate "go/v$version" --message "go/v$version"
git show --stat --format='%D' "go/v$version" | tail -n +2
echo "to publish it: git push origin refs/tags/go/v$version"
