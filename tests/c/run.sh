#!/usr/bin/env bash
# The C tests: the programs beside this script, compiled as C99 and as C++17, against the shared library and the static
# archive, plain, under sanitizers and under Valgrind.
#
#     tests/c/run.sh                 builds what it needs; one line per suite: PASS, FAIL or SKIP
#
# CARGO_TARGET_DIR (target), CC (gcc) and CXX (g++) are respected. With STRICT=1 a skipped suite is a failed one.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
build=$target/c
cc=${CC:-gcc}
cxx=${CXX:-g++}
strict=${STRICT:-0}
warnings=(-Wall -Wextra -Wpedantic -Werror)
sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
vectors=(tests/vectors/*.jsonl)
lines=()
failed=0

report() { # PASS|FAIL|SKIP name text
    lines+=("$1 $2 $3")
    printf '%s %s %s\n' "$1" "$2" "$3"
    if [ "$1" = FAIL ] || { [ "$1" = SKIP ] && [ "$strict" = 1 ]; }; then
        failed=1
    fi
}

# Runs a program; it passes with status 0, a last line that begins with PASS, and nothing on stderr.
suite() { # name command...
    local name=$1 began=$SECONDS status=0 last
    shift
    "$@" >"$build/$name.out" 2>"$build/$name.err" || status=$?
    last=$(tail -n 1 "$build/$name.out")
    if [ "$status" = 0 ] && [ ! -s "$build/$name.err" ] && [[ $last == PASS\ * ]]; then
        report PASS "$name" "${last#PASS *: } ($((SECONDS - began)) s)"
    else
        tail -n 40 "$build/$name.err"
        report FAIL "$name" "status $status: ${last:-no output}"
    fi
}

if [ "$(uname -s)" != Linux ]; then
    report SKIP c-tests "they need Linux"
    exit "$failed"
fi

# ---- the library ----

rm -rf "$build"
mkdir -p "$build"/{lib,fault}
# The flags that a C program needs beside the archive, as rustc reports them; then the library as it is shipped.
native=$(packaging/cargo.sh rustc --quiet --lib --release --features capi -- --print native-static-libs 2>&1 |
    tee "$build/rustc.out" | sed -n 's/^note: native-static-libs: //p' | tail -n 1)
if [ -z "$native" ]; then
    cat "$build/rustc.out"
    report FAIL c-build "rustc names no native libraries"
    exit 1
fi
packaging/cargo.sh build --quiet --release --features capi
CARGO_TARGET_DIR=$target/fault packaging/cargo.sh build --quiet --release --features capi,fault-injection
for kind in lib fault; do
    from=$target/release
    [ "$kind" = lib ] || from=$target/fault/release
    # Under the name that a program asks the loader for.
    cp "$from/libkandev_policy.so" "$build/$kind/libkandev_policy.so.1"
    ln -s libkandev_policy.so.1 "$build/$kind/libkandev_policy.so"
    cp "$from/libkandev_policy.a" "$build/$kind/"
done

# ---- the programs ----

declarations=$(sed -n '/^extern "C"/,$p' include/kandev_policy.h | sed '/^ *\/\//d')
functions=$(grep -oE '\bkandev_policy_[a-z0-9_]+\(' <<<"$declarations" | tr -d '(' | sort -u)
reasons=$(grep -cE '^ +KANDEV_POLICY_REASON_[A-Z0-9_]+ = [0-9]+,' include/kandev_policy.h)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
stages=$(grep -rhoE 'fault::point\("[a-z_]+"\)' src | cut -d '"' -f 2 | sort -u)
facts=(-DHEADER_REASONS="$reasons" -DCRATE_VERSION="\"$version\"")

declare -A language=([c99]="$cc -std=c99" [c++17]="$cxx -x c++ -std=c++17")
program() { # language shared|static folder-of-the-library output sources... -- flags...
    local lang=$1 link=$2 lib=$build/$3 out=$4 sources=() library
    shift 4
    while [ "$1" != -- ]; do
        sources+=("tests/c/$1.c")
        shift
    done
    shift
    library="-L$lib -lkandev_policy -Wl,-rpath,$lib"
    [ "$link" = shared ] || library="-x none $lib/libkandev_policy.a $native"
    # shellcheck disable=SC2086 # the language and the library are several words
    ${language[$lang]} "${warnings[@]}" -O1 -g -Iinclude "${facts[@]}" "$@" "${sources[@]}" $library -pthread -o "$build/$out"
}
programs() { # language shared|static suffix flags...
    local lang=$1 link=$2 suffix=$3
    shift 3
    program "$lang" "$link" lib "vectors-$suffix" vectors jsonl check -- "$@"
    program "$lang" "$link" lib "contract-$suffix" contract check -- "$@"
    program "$lang" "$link" lib "registry-$suffix" registry check -- "$@"
    program "$lang" "$link" fault "fault-$suffix" fault check -- "$@"
}
run_all() { # suffix prefix-command...
    local suffix=$1
    shift
    suite "c-vectors-$suffix" "$@" "$build/vectors-$suffix" "${vectors[@]}"
    suite "c-contract-$suffix" "$@" "$build/contract-$suffix"
    suite "c-registry-$suffix" "$@" "$build/registry-$suffix"
    # shellcheck disable=SC2086 # the stages are words
    suite "c-fault-$suffix" "$@" "$build/fault-$suffix" $stages
}

# The header alone, twice, in each language that a host may be written in.
header() {
    local standard
    printf '#include "kandev_policy.h"\n#include "kandev_policy.h"\nint main(void) { return 0; }\n' >"$build/header.c"
    for standard in c99 c11 c17 c2x; do
        "$cc" -x c -std=$standard "${warnings[@]}" -Wundef -Wstrict-prototypes -fsyntax-only -Iinclude "$build/header.c" ||
            return 1
    done
    for standard in c++11 c++17 c++20; do
        "$cxx" -x c++ -std=$standard "${warnings[@]}" -Wundef -fsyntax-only -Iinclude "$build/header.c" || return 1
    done
    echo "PASS header: C99 to C23, C++11 to C++20"
}
suite c-header header

# Each function that the header declares is called by one of the contract's tests.
coverage() {
    local function count=0
    for function in $functions; do
        grep -q "\b$function(" tests/c/contract.c tests/c/registry.c || { echo "$function has no test" >&2 && return 1; }
        count=$((count + 1))
    done
    echo "PASS coverage: $count functions of the header have a test"
}
suite c-coverage coverage

for lang in c99 c++17; do
    programs "$lang" shared "$lang"
    run_all "$lang"
done
programs c99 static static
run_all static

# Its own malloc and its own view of the process: not under tools that have theirs.
for link in shared static; do
    program c99 "$link" lib "exhausted-$link" exhausted check --
    suite "c-exhausted-$link" "$build/exhausted-$link"
done
program c99 shared lib process-c99 process check -- -ldl
suite c-process-c99 "$build/process-c99" "$build/lib/libkandev_policy.so.1" "$build"

example() {
    local lang want out
    want=$(printf '%s\n' '{"decision":"select","reason":"injected_mcp","option_id":"yes","option_kind":"allow_once","server":"kandev","tool":"list_tasks"}' \
        'select yes (injected_mcp)')
    for lang in c99 c++17; do
        # shellcheck disable=SC2086
        ${language[$lang]} "${warnings[@]}" -Iinclude examples/c/decide.c -L"$build/lib" -lkandev_policy \
            -Wl,-rpath,"$build/lib" -o "$build/decide-$lang" || return 1
        out=$("$build/decide-$lang")
        [ "$out" = "$want" ] || { echo "$out" >&2 && return 1; }
    done
    # As its first lines say.
    "$cc" -Iinclude examples/c/decide.c "$build/lib/libkandev_policy.a" -lgcc_s -lpthread -lm -ldl -o "$build/decide" || return 1
    out=$("$build/decide")
    [ "$out" = "$want" ] || { echo "$out" >&2 && return 1; }
    echo "PASS example: C99, C++17 and as it says itself"
}
suite c-example example

# ---- sanitizers ----

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=0
export UBSAN_OPTIONS=print_stacktrace=1
if ! "$cc" "${sanitizers[@]}" tests/c/faulty.c -o "$build/faulty-sanitized" 2>"$build/sanitizer.err"; then
    report SKIP c-sanitizers "$cc links no sanitizers"
else
    # They are really there: they find what is wrong in a wrong program.
    sanitized=1
    for fault in overflow:heap-buffer-overflow leak:LeakSanitizer undefined:'runtime error'; do
        if "$build/faulty-sanitized" "${fault%%:*}" >"$build/faulty.out" 2>&1 || ! grep -q "${fault#*:}" "$build/faulty.out"; then
            report FAIL c-sanitizers "they don't find a deliberate ${fault%%:*}"
            sanitized=0
        fi
    done
    if [ "$sanitized" = 1 ]; then
        programs c99 shared sanitized "${sanitizers[@]}"
        for program in vectors contract registry fault; do
            symbols=$(nm "$build/$program-sanitized")
            grep -q __asan_init <<<"$symbols" && grep -q __ubsan_handle <<<"$symbols" ||
                report FAIL "c-$program-sanitized" "the sanitizer is not linked in"
        done
        run_all sanitized
    fi
fi

# ---- Valgrind ----

valgrind=(valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible
    --show-leak-kinds=definite,indirect,possible --track-fds=no)
if ! command -v valgrind >/dev/null; then
    report SKIP c-valgrind "valgrind is not installed"
else
    "$cc" -g tests/c/faulty.c -o "$build/faulty"
    found=1
    for fault in overflow leak; do
        status=0
        "${valgrind[@]}" "$build/faulty" "$fault" >"$build/faulty.out" 2>&1 || status=$?
        [ "$status" = 99 ] || found=0
    done
    if [ "$found" = 0 ]; then
        report FAIL c-valgrind "it doesn't find a deliberate $fault"
    else
        for program in vectors contract registry fault; do
            ln "$build/$program-c99" "$build/$program-valgrind"
        done
        export KANDEV_TEST_SMALL=1
        run_all valgrind "${valgrind[@]}"
        unset KANDEV_TEST_SMALL
    fi
fi

printf '\n'
printf '%s\n' "${lines[@]}"
exit "$failed"
