#!/usr/bin/env bash
# Mutation testing: changes the engine in every way that cargo-mutants knows, one change at a time, and looks whether a
# test notices. Ends with a table of the files, and with 1 if a mutant survives that tests/mutants.survivors doesn't
# explain.
#
#     tests/mutants.sh [FILE…]       FILE as src/claim.rs; without one: every file of src
#
# A mutant meets the tests in the order of their cost: the vectors first, and what survives them the next group. One that is
# explained as harmless meets the first two groups only. JOBS
# (default: the processors) files are worked on at once, each in a copy of the tree below target/mutants. BASELINE=0 leaves
# out the run without a mutant.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
version=27.1.0
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/mutants"
work=$(cd "$target/mutants" && pwd)
unset CARGO_TARGET_DIR
# Without optimisation the documents of 16 MiB take ten times as long as building does.
export CARGO_PROFILE_DEV_OPT_LEVEL=3 CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=1 CARGO_TERM_COLOR=never
groups=(
    "--test vectors --test encoded"
    "--lib --test api --test registry --test guard"
    "--test registry_abi --test properties --test reachability"
    "--test bad_input --test allocations --test specification"
)
# A test that takes so long with a mutant has noticed it: several times what each takes without one.
seconds=(40 100 400 400)
# Survivors that are explained, by name: each would take minutes.
explained() { sed -E '/^(#|$)/d; s/ +\| .*//' "$root/tests/mutants.survivors" | sort -u; }
# Names without their places, which move.
key() { sed -E 's/^([^:]+):[0-9]+:[0-9]+: /\1: /'; }

mutants=$(command -v cargo-mutants || true)
if [ -z "$mutants" ] || [ "$("$mutants" mutants --version)" != "cargo-mutants $version" ]; then
    mutants=$root/target/tools/bin/cargo-mutants
    if [ ! -x "$mutants" ] || [ "$("$mutants" mutants --version)" != "cargo-mutants $version" ]; then
        echo "installing cargo-mutants $version (some minutes) …"
        cargo install --quiet --locked --root target/tools "cargo-mutants@$version"
    fi
fi
config=$root/tests/mutants.toml

# One file in the tree of this job.
if [ "${1:-}" = --one ]; then
    tree=$work/$MUTANTS_SLOT file=$2 out=$work/out/${2//\//-}
    rm -rf "$out"
    mkdir -p "$out"
    touch "$out"/{caught,unviable,timeout,missed,skipped}
    for number in "${!groups[@]}"; do
        group=${groups[$number]}
        skip=()
        while IFS= read -r name; do skip+=(--exclude-re "^$(sed 's/[][\\.*^$+?(){}|&-]/\\&/g' <<<"$name")\$"); done <"$out/skipped"
        # It ends with 2 when mutants are missed and 3 when some time out, which the table tells.
        # An argument of cargo, not of the tests, so that only the group is built.
        # shellcheck disable=SC2046,SC2086 # it is several words
        "$mutants" mutants --dir "$tree" --config "$config" --in-place --iterate --baseline skip --timeout "${seconds[$number]}" \
            --no-times --colors never --output "$out" --file "$file" "${skip[@]}" $(printf -- '--cargo-arg=%s ' $group) \
            >>"$out/log" 2>&1 || true
        # What has been built with one group builds with the next, or the tests themselves don't build.
        if [ "$number" != 0 ] && [ -s "$out/mutants.out/unviable.txt" ]; then
            echo "$group: doesn't build, see $out" >&2
            exit 255
        fi
        for result in caught unviable timeout; do
            cat "$out/mutants.out/$result.txt" >>"$out/$result"
        done
        git -C "$tree" diff --quiet || { echo "$tree is left changed" >&2 && exit 255; }
        cat "$out/mutants.out/timeout.txt" >>"$out/skipped"
        if [ "$number" = 1 ]; then
            while IFS= read -r name; do
                if explained | grep -qxF "$(key <<<"$name")"; then echo "$name"; fi
            done <"$out/mutants.out/missed.txt" | tee -a "$out/missed" >>"$out/skipped"
        fi
        last=$(grep -vxF -f "$out/skipped" "$out/mutants.out/missed.txt" || true)
        [ -n "$last" ] || break
    done
    [ -z "$last" ] || printf '%s\n' "$last" >>"$out/missed"
    # One that never ends is noticed.
    cat "$out/timeout" >>"$out/caught"
    printf '%4d missed %4d caught  %s\n' "$(wc -l <"$out/missed")" "$(wc -l <"$out/caught")" "$file"
    exit 0
fi

jobs=${JOBS:-$(nproc)}
files=("$@")
if [ "${#files[@]}" = 0 ]; then
    # The largest first, so that no job is left with one at the end.
    mapfile -t files < <("$mutants" mutants --list --config "$config" | cut -d: -f1 | sort | uniq -c | sort -rn | awk '{print $2}')
fi

began=$SECONDS
for slot in $(seq 1 "$jobs"); do
    tree=$work/$slot
    mkdir -p "$tree"
    # Of an earlier run its build is kept.
    find "$tree" -mindepth 1 -maxdepth 1 ! -name target -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard -- Cargo.toml Cargo.lock build.rs cbindgen.toml src include tests README.md examples |
        xargs -0 cp -a --parents -t "$tree"
    # A plain library: the others are never run here, and each is linked anew for each mutant.
    sed -i 's/^crate-type = .*/crate-type = ["lib"]/' "$tree/Cargo.toml"
    # A repository of its own: it shows whether every change was taken back.
    git -C "$tree" init --quiet
    echo target >"$tree/.gitignore"
    git -C "$tree" add --all
    git -C "$tree" -c user.name=x -c user.email=x@example.test commit --quiet --message mutants
    [ -d "$tree/target" ] || [ "$slot" = 1 ] || cp -a "$work/1/target" "$tree/target"
    for group in "${groups[@]}"; do
        # shellcheck disable=SC2086
        [ "${BASELINE:-1}" = 0 ] || (cd "$tree" && cargo test --quiet --no-run $group)
        # Without a change every test passes.
        # shellcheck disable=SC2086
        [ "$slot" != 1 ] || [ "${BASELINE:-1}" = 0 ] || (cd "$tree" && cargo test --quiet $group >"$work/baseline.log" 2>&1) ||
            { tail -n 40 "$work/baseline.log" && exit 1; }
    done
done
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\n' "${files[@]}" | xargs -P "$jobs" --process-slot-var=SLOT -I{} sh -c 'MUTANTS_SLOT=$((SLOT + 1)) exec "$0" --one "$1"' "$root/tests/mutants.sh" {}

# ---- what came of it ----

total() { # caught|missed|unviable file…
    local result=$1 file
    shift
    for file in "$@"; do
        cat "$work/out/${file//\//-}/$result"
    done | wc -l
}
row() { # name file…
    local name=$1 caught missed
    shift
    caught=$(total caught "$@") missed=$(total missed "$@")
    printf '%-32s %6d %6d %8d %6s %%\n' "$name" "$caught" "$missed" "$(total unviable "$@")" \
        "$(awk -v c="$caught" -v m="$missed" 'BEGIN { printf "%.1f", c + m ? 100 * c / (c + m) : 100 }')"
}
printf '\n%-32s %6s %6s %8s %8s\n' file caught missed unviable score
for file in "${files[@]}"; do row "$file" "$file"; done | sort
row "all, in $(((SECONDS - began + 59) / 60)) minutes" "${files[@]}"

unexplained=$(for file in "${files[@]}"; do cat "$work/out/${file//\//-}/missed"; done | key | sort | comm -23 - <(explained))
if [ -n "$unexplained" ]; then
    printf '\nunexplained survivors:\n%s\n' "$unexplained"
    exit 1
fi
