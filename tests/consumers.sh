#!/usr/bin/env bash
# Programs outside the repository use the Go module in each way: with a replace, from a module zip as a proxy serves it
# (into an empty, read-only module cache), and vendored. Each is run from / with an empty environment. Then the platforms
# that are built for without cgo. It ends with a table: what each way costs.
#
# Needs `make lib`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
module=github.com/kandev/kandev-policy/go
work=$(mktemp -d)
cleanup() { chmod -R u+w "$work" && rm -rf "$work"; } # a module cache is read-only
trap cleanup EXIT
cc=$(go env CC)
command -v "${cc%% *}" >/dev/null || { echo "no C compiler for cgo" && exit 77; }

# way: its name, CGO_ENABLED, its tags, what Engine says, the decision's reason
ways=(
    "shared 1 - cgo injected_mcp"
    "static 1 kandev_policy_static cgo injected_mcp"
    "wasm 0 - wasm injected_mcp"
    "wasm-tag 1 kandev_policy_wasm wasm injected_mcp"
    "none 0 kandev_policy_none none engine_unavailable"
)

# --- the program: ten lines -------------------------------------------------------------------------------------------
mkdir "$work/program"
cat >"$work/program/main.go" <<'GO'
package main

import "github.com/kandev/kandev-policy/go/policy"

func main() {
	p, err := policy.New(policy.Config{Port: 41000, InjectedKandevMCP: true, MCPServers: []policy.MCPServer{
		{Name: "kandev", Type: "http", URL: "http://localhost:41000/mcp"}}})
	d := p.DecideFrame([]byte(`{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`))
	println(policy.Engine(), d.String(), err)
}
GO

# init FOLDER: a new module with the program.
init() {
    mkdir "$1"
    cp "$work/program/main.go" "$1"
    (cd "$1" && go mod init -C . example.test/host 2>/dev/null)
}

# build FOLDER WAY: as FOLDER/host-WAY, with FLAGS.
build() {
    local name cgo tags
    read -r name cgo tags _ <<<"$2"
    (cd "$1" && CGO_ENABLED=$cgo go build ${FLAGS-} ${tags:+-tags="${tags/#-/}"} -o "host-$name" .)
}

# run FOLDER WAY: from / with no environment, and compare.
run() {
    local name engine reason got
    read -r name _ _ engine reason <<<"$2"
    got=$(cd / && env -i "$1/host-$name" 2>&1)
    case $got in
    "$engine "*"\"reason\":\"$reason\""*) printf 'ok    %-8s %-8s %s\n' "$3" "$name" "${got%% (*}" ;;
    *) printf 'FAIL  %-8s %-8s %s\n' "$3" "$name" "$got" && exit 1 ;;
    esac
}

# fails TEXT COMMAND…: with that text, which the troubleshooting table has.
fails() {
    local text=$1
    shift
    if "$@" >"$work/error" 2>&1; then printf 'FAIL  works: %s\n' "$*" && exit 1; fi
    grep -qF -- "$text" "$work/error" || { printf 'FAIL  another error than: %s\n' "$text" && cat "$work/error" && exit 1; }
    grep -qF -- "$text" "$root/docs/linking.md" || { printf 'FAIL  docs/linking.md has not: %s\n' "$text" && exit 1; }
    printf 'ok    fails    %s\n' "$text"
}

# --- replace ----------------------------------------------------------------------------------------------------------
init "$work/replace"
(cd "$work/replace" && go mod edit -require=$module@v0.0.0 -replace=$module="$root/go" && go mod tidy 2>/dev/null)
for way in "${ways[@]}"; do
    build "$work/replace" "$way"
    run "$work/replace" "$way" replace
done

# --- module zip -------------------------------------------------------------------------------------------------------
# The other module that the zip needs comes from what this machine's module cache was downloaded as.
(cd "$root/go" && go mod download)
(cd "$root/tests/consumers" && go run ./modzip "$root/go" v0.1.0 "$work/proxy")
downloads=$(go env GOMODCACHE)/cache/download
export GOSUMDB=off GOTOOLCHAIN=local # no database knows the version
consumer() { GOPROXY=file://$work/proxy,file://$downloads GOMODCACHE=$work/cache "$@"; }
init "$work/zip"
(cd "$work/zip" && consumer go get $module@v0.1.0 2>/dev/null && consumer go mod tidy)
for way in "${ways[@]}"; do
    consumer build "$work/zip" "$way"
    run "$work/zip" "$way" zip
done
if [ -n "$(find "$work/cache/$module@v0.1.0" -type f -perm /222)" ]; then
    echo "FAIL  the module cache was not read-only" && exit 1
fi

# --- vendored ---------------------------------------------------------------------------------------------------------
init "$work/vendor"
(cd "$work/vendor" && consumer go get $module@v0.1.0 2>/dev/null && consumer go mod tidy && consumer go mod vendor)
export GOFLAGS=-mod=vendor
for way in "${ways[@]}"; do
    GOPROXY=off GOMODCACHE=$work/nowhere build "$work/vendor" "$way"
    run "$work/vendor" "$way" vendor
done
export GOFLAGS=

# --- moved: a program with its library beside it, or in ../lib --------------------------------------------------------
if [ "$(go env GOOS)" = linux ]; then
    library=$root/go/policy/lib/linux_$(go env GOARCH)/libkandev_policy.so.1
    for place in bin lib; do
        # From the zip, whose library then goes: nothing but the copy is left to be found.
        mkdir -p "$work/moved-$place/bin" "$work/moved-$place/$place"
        cp "$work/vendor/host-shared" "$work/moved-$place/bin/"
        cp "$library" "$work/moved-$place/$place/"
    done
    # What the linker says without a library, and the loader: as docs/linking.md has it.
    rm "$work/vendor/vendor/$module/policy/lib"/*/libkandev_policy*
    rm "$work/vendor/host-shared" "$work/vendor/host-static" # else Go finds nothing to do
    (
        export GOFLAGS=-mod=vendor
        fails "cannot find -l:libkandev_policy.so.1: No such file or directory" build "$work/vendor" "${ways[0]}"
        fails "libkandev_policy.a: No such file or directory" build "$work/vendor" "${ways[1]}"
    )
    rm -r "$work/vendor/vendor"
    run "$work/moved-bin/bin" "${ways[0]}" beside
    run "$work/moved-lib/bin" "${ways[0]}" ../lib
    rm "$work/moved-lib/lib/libkandev_policy.so.1"
    fails "error while loading shared libraries: libkandev_policy.so.1: cannot open shared object file: No such file or directory" \
        "$work/moved-lib/bin/host-shared"
fi

# --- other platforms, without cgo ------------------------------------------------------------------------------------
cross=()
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
    (cd "$work/replace" && CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -o "cross-${platform/\//-}" .)
    cross+=("$platform")
    printf 'ok    cross    %s\n' "$platform"
done

# --- what it costs ----------------------------------------------------------------------------------------------------
init "$work/measure"
cp "$root/tests/consumers/measure.go.txt" "$work/measure/main.go"
(cd "$work/measure" && go mod edit -require=$module@v0.0.0 -replace=$module="$root/go" && go mod tidy 2>/dev/null)
size() { stat -c %s "$1" 2>/dev/null || stat -f %z "$1"; }
mb() { awk -v n="$1" 'BEGIN { printf "%.2f MB", n / 1e6 }'; }
printf '\n%s, %s processors\n\n' "$(go version | cut -d ' ' -f 3-)" "$(getconf _NPROCESSORS_ONLN)"
printf '| way | program | beside it | start | Decide | DecideFrame, 0.6 KB | 64 goroutines |\n|---|---|---|---|---|---|---|\n'
for way in "${ways[@]}"; do
    name=${way%% *} beside=-
    build "$work/measure" "$way"
    [ "$name" = shared ] && beside=$(mb "$(size "${library:-$root/go/policy/lib/$(go env GOOS)_$(go env GOARCH)/libkandev_policy.1.dylib}")")
    start=$(for _ in {1..9}; do "$work/measure/host-$name" start; done | sort -n | sed -n 5p) # the median
    printf '| %s | %s | %s | %s ms | %s |\n' "$name" "$(mb "$(size "$work/replace/host-$name")")" "$beside" "$start" \
        "$("$work/measure/host-$name")"
done
printf '\n| without cgo | program |\n|---|---|\n'
for platform in "${cross[@]}"; do
    printf '| %s | %s |\n' "$platform" "$(mb "$(size "$work/replace/cross-${platform/\//-}")")"
done
