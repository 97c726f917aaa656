"""Counts instructions; see tests/budget.sh.

The count of one decision is the difference between a run with 2 N decisions and one with N, over N: loading and compiling
cancel out. tests/bench/driver.c decides distinct frames of the same size in turn.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORK = TARGET / "budget"
RECORD = Path(__file__).with_name("counts.json")
# In percent of the recorded count.
TOLERANCE = 5

# What the driver decides (its names), how often, and what that is.
WORKS = [
    ("json/small", 80, "a frame of 0.6 KB, to JSON"),
    ("json/medium", 40, "a frame of 4.8 KB, to JSON"),
    ("json/large", 16, "a frame of 66 KB, to JSON"),
    ("verdict/small", 80, "a frame of 0.6 KB, as Go asks"),
    ("verdict/medium", 40, "a frame of 4.8 KB, as Go asks"),
    ("verdict/large", 16, "a frame of 66 KB, as Go asks"),
    ("request/small", 80, "a decoded request, as Go asks"),
    ("hook/hook", 80, "a hook payload"),
    ("compile", 40, "compiling a config with three servers"),
    ("one-shot/small", 40, "kandev_policy_decide, three servers"),
    ("verdict/code-long", 16, "64 KiB of escaped source code"),
    ("verdict/tokens-long", 8, "64 KiB of small tokens"),
    ("verdict/japanese-long", 16, "64 KiB of Japanese prose"),
    ("one-server/small", 80, "a config with 1 server"),
    ("many-servers/small", 80, "a config with 10,000 servers"),
]

# Deliberate slow-downs: what, the file, the text that stands there exactly once, what takes its place.
SLOWER = [
    (
        "a frame's UTF-8 is validated once more",
        "src/policy.rs",
        "        self.evaluate(request, &mut Untraced)\n",
        "        std::hint::black_box(std::str::from_utf8(request).is_ok());\n"
        "        self.evaluate(request, &mut Untraced)\n",
    ),
    (
        "a decoded request is decided twice",
        "src/policy.rs",
        "policy.decide_encoded(request, &mut Untraced)",
        "{ std::hint::black_box(policy.decide_encoded(request, &mut Untraced)); "
        "policy.decide_encoded(request, &mut Untraced) }",
    ),
]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def skip(why):
    print(why)
    sys.exit(77)


def build_library(folder, target):
    """The library as it is shipped."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
    run("cargo", "build", "--quiet", "--locked", "--release", "--features", "capi", cwd=folder, env=environment)
    return target / "release" / "libkandev_policy.so"


def prepare():
    """The driver and the frames."""
    WORK.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    driver = ROOT / "tests/bench/driver.c"
    run(compiler, "-std=gnu11", "-O1", "-I", ROOT / "include", driver, "-pthread", "-o", WORK / "driver")
    shutil.rmtree(WORK / "frames", ignore_errors=True)
    # Without cgo it builds before the library does.
    run("go", "run", ".", "-frames", WORK / "frames", cwd=ROOT / "go/bench", env=os.environ | {"CGO_ENABLED": "0"})


def instructions(library, what, decisions):
    log, out = WORK / "callgrind.log", WORK / "callgrind.out"
    run(
        "valgrind", "--tool=callgrind", f"--log-file={log}", f"--callgrind-out-file={out}",
        WORK / "driver", library, WORK / "frames", "count", what, decisions,
    )  # fmt: skip
    return int(re.search(r"Collected : (\d+)", log.read_text())[1])


def count(library):
    return {
        what: round((instructions(library, what, 2 * times) - instructions(library, what, times)) / times)
        for what, times, _ in WORKS
    }


def compiler():
    """What the counts depend on: the compiler, and which instructions the processor has."""
    version = run("rustc", "--version", capture_output=True, text=True, cwd=ROOT).stdout.strip()
    flags = re.search(r"(?m)^flags\s*:(.*)", Path("/proc/cpuinfo").read_text())
    plain = platform.machine() == "x86_64" and not (flags and " avx2 " in flags[1] + " ")
    return f"{version}, {platform.machine()}{' without AVX2' if plain else ''}"


def over(counts, recorded):
    """Prints the table; gives what is over its budget, and what is far under it."""
    slow, fast = [], []
    print(f"{'instructions':>12} {'recorded':>12}")
    for what, _, text in WORKS:
        was = recorded.get(what)
        change = ""
        if was:
            percent = 100 * (counts[what] - was) / was
            change = f"{percent:+.1f} %"
            if percent > TOLERANCE:
                slow.append(what)
                change += "  OVER"
            elif percent < -TOLERANCE:
                fast.append(what)
        elif recorded:
            slow.append(what)
            change = "NOT RECORDED"
        print(f"{counts[what]:>12,} {was or 0:>12,}  {what:<22} {text:<40} {change}")
    return slow, fast


def compare(record):
    counts = count(build_library(ROOT, TARGET))
    many, one = counts["many-servers/small"], counts["one-server/small"]
    if many > one * 1.001:
        sys.exit(f"a decision with 10,000 servers costs {many} instructions, with one {one}")
    recorded = record.get(compiler(), {})
    slow, fast = over(counts, recorded)
    if slow:
        sys.exit(f"more than {TOLERANCE} % over the record: {', '.join(slow)}. A cost that is worth it: tests/budget.sh --record")
    if not recorded:
        print(f"NOTE: nothing compared, nothing is recorded for {compiler()}: tests/budget.sh --record")
    elif fast:
        print(f"NOTE: more than {TOLERANCE} % under the record, to be recorded anew: {', '.join(fast)}")
    else:
        print(f"{len(WORKS)} counts within {TOLERANCE} % of the record for {compiler()}")


def record_counts(record):
    counts = count(build_library(ROOT, TARGET))
    over(counts, record.get(compiler(), {}))
    record[compiler()] = counts
    RECORD.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    print(f"recorded for {compiler()}")


def prove():
    unseen = []
    recorded = count(build_library(ROOT, TARGET))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name in ["src", "include"]:
            shutil.copytree(ROOT / name, folder / name)
        for name in ["Cargo.toml", "Cargo.lock", "build.rs", "cbindgen.toml"]:
            shutil.copy(ROOT / name, folder)
        # The manifest names an example, which cargo looks for.
        shutil.copytree(ROOT / "tests/demo", folder / "tests/demo")
        for what, file, old, new in SLOWER:
            path = folder / file
            source = path.read_text()
            if source.count(old) != 1:
                sys.exit(f"{what}: THE EDIT DOESN'T APPLY: it is {source.count(old)} times in {file}: {old}")
            path.write_text(source.replace(old, new))
            print(f"\n{what}: {file}")
            slow, _ = over(count(build_library(folder, TARGET / "budget-proof")), recorded)
            path.write_text(source)
            print(f"the budget fails: {', '.join(slow)}" if slow else "NOTHING is noticed", flush=True)
            if not slow:
                unseen.append(what)
    if unseen:
        sys.exit(f"not noticed: {'; '.join(unseen)}")


def main():
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
    if platform.system() != "Linux":
        skip("it needs Linux")
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    prepare()
    if mode == "--record":
        record_counts(record)
    elif mode == "--prove":
        prove()
    elif mode:
        sys.exit("usage: tests/budget.sh [--record|--prove]")
    else:
        compare(record)


main()
