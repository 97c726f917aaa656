#!/usr/bin/env bash
# Runs the fuzzers, each for its default number of executions, and ends with a table of what each did.
#
#     tests/fuzz/run.sh [TARGET…]
#
# FUZZ_RUNS=N         executions of each target instead
# FUZZ_SECONDS=N      seconds for each target instead
# FUZZ_SANITIZER      address or none; default address for the C ABI, none for safe code, where it costs most of the speed
# FUZZ_CORPUS=FOLDER  where new inputs are kept between runs; default target/fuzz/corpus
#
# A run begins with the committed corpus and with inputs made from the decision vectors. What fails is kept below
# target/fuzz/crashes (Go: testdata/fuzz beside the test).
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo_fuzz=0.13.2
rust=(frame config hook catalog abi)
go=(FuzzDecideFrame FuzzDecideJSON FuzzDecideRequest FuzzJSONString FuzzDeepError FuzzHTTP)
declare -A runs=(
    [frame]=50000000 [config]=20000000 [hook]=20000000 [catalog]=5000000 [abi]=5000000
    [FuzzDecideFrame]=1000000 [FuzzDecideJSON]=1000000 [FuzzDecideRequest]=1000000
    [FuzzJSONString]=100000 [FuzzDeepError]=1000000 [FuzzHTTP]=100000
)

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/fuzz"
target=$(cd "$target" && pwd)
corpus=${FUZZ_CORPUS:-$target/fuzz/corpus}
chosen=("$@")
[ "$#" -gt 0 ] || chosen=("${rust[@]}" "${go[@]}")
export RUSTC_BOOTSTRAP=1 # the instrumentation is there in a stable compiler, behind a flag
failed=0 table=""

install_cargo_fuzz() {
    if [ "$(cargo fuzz --version 2>/dev/null)" != "cargo-fuzz $cargo_fuzz" ]; then
        export PATH=$target/tools/bin:$PATH
        if [ "$(cargo fuzz --version 2>/dev/null)" != "cargo-fuzz $cargo_fuzz" ]; then
            echo "installing cargo-fuzz $cargo_fuzz …"
            cargo install --quiet --locked cargo-fuzz --version "$cargo_fuzz" --root "$target/tools"
        fi
    fi
}

row() { # target executions seconds new crashes
    local rate=-
    [ "$3" -eq 0 ] || rate=$(($2 / $3))
    table+=$(printf '%-18s %12s %8s %8s %8s %8s' "$1" "$2" "$3" "$rate" "$4" "$5")$'\n'
    [ "$5" -eq 0 ] || failed=1
}

# --- libFuzzer --------------------------------------------------------------------------------------------------------

run_rust() { # target
    local name=$1 sanitizer log crashes limits=() code=0 ran new found
    case $name in abi) sanitizer=address ;; *) sanitizer=none ;; esac
    sanitizer=${FUZZ_SANITIZER:-$sanitizer}
    CARGO_TARGET_DIR=$target/fuzz/$sanitizer cargo fuzz build --fuzz-dir tests/fuzz --sanitizer "$sanitizer" "$name"

    crashes=$target/fuzz/crashes/$name
    log=$target/fuzz/$name.log
    rm -rf "$target/fuzz/committed/$name" "$crashes"
    mkdir -p "$corpus/$name" "$crashes" "$target/fuzz/seeds/$name"
    tests/fuzz/corpus.py unpack "$name" "$target/fuzz/committed/$name"
    # As many of each as it takes: a brief run starts from the committed corpus alone.
    local inputs=("$corpus/$name" "$target/fuzz/committed/$name")
    if [ -n "${FUZZ_SECONDS:-}" ]; then
        limits=("-max_total_time=$FUZZ_SECONDS")
    else
        limits=("-runs=${FUZZ_RUNS:-${runs[$name]}}")
        tests/fuzz/corpus.py seeds "$target/fuzz/seeds"
        inputs+=("$target/fuzz/seeds/$name")
    fi
    "$target/fuzz/$sanitizer/$(rustc -vV | sed -n 's/^host: //p')/release/$name" "${limits[@]}" -max_len=4096 -timeout=20 \
        -dict=tests/fuzz/json.dict -artifact_prefix="$crashes/" -print_final_stats=1 "${inputs[@]}" >"$log" 2>&1 || code=$?
    ran=$(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 \2/p' "$log")
    new=$(sed -n 's/^stat::new_units_added: *//p' "$log")
    found=$(find "$crashes" -type f | wc -l)
    if [ "$code" -ne 0 ] || [ "$found" -ne 0 ]; then
        grep -aE -A 3 'panicked|ERROR|SUMMARY|Test unit written' "$log" | head -n 40 || tail -n 20 "$log"
        found=$((found > 0 ? found : 1))
    fi
    # shellcheck disable=SC2086 # two numbers
    row "$name" ${ran:-0 0} "${new:-0}" "$found"
}

# --- go test -fuzz ----------------------------------------------------------------------------------------------------

run_go() { # target
    local name=$1 module=go package=./policy log=$target/fuzz/$1.log time code=0 execs new began=$SECONDS
    case $name in
        FuzzHTTP) package=./bridge ;;
        FuzzDeepError) module=go/cmd/kandev-policy package=./internal/document ;;
    esac
    time=${FUZZ_SECONDS:+${FUZZ_SECONDS}s}
    time=${time:-${FUZZ_RUNS:-${runs[$name]}}x}
    (cd "$module" && go test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "$time") >"$log" 2>&1 || code=$?
    execs=$(sed -n 's/^fuzz: elapsed: .*, execs: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    new=$(sed -n 's/.*new interesting: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    [ "$code" -eq 0 ] || tail -n 40 "$log"
    row "$name" "${execs:-0}" $((SECONDS - began)) "${new:-0}" $((code == 0 ? 0 : 1))
}

for name in "${chosen[@]}"; do
    [ -n "${runs[$name]:-}" ] || { echo "no target $name: ${rust[*]} ${go[*]}" >&2 && exit 2; }
    echo "== $name"
    case $name in
        Fuzz*) run_go "$name" ;;
        *) install_cargo_fuzz && run_rust "$name" ;;
    esac
done
printf '\n%-18s %12s %8s %8s %8s %8s\n%s' target executions seconds exec/s new crashes "$table"
exit "$failed"
