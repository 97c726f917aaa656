"""Disables the rules one by one; see tests/rules.sh.

A .rules file is a list of blocks:

    [contract 4.3.8: the rule]
    src/file.rs
    - text that stands there exactly once
    + text that takes its place

Several lines of text have a `-` or a `+` each; without a `+` line the text is taken out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Seconds for one rule; a run that takes longer has noticed nothing.
TIMEOUT = 600

TESTS = {
    "engine": ["--test", "vectors"],
    "specification": ["--test", "specification", "on_every_combination"],
    "model": [],
}
# Where the tests' crate is, if it isn't the library's.
CRATES = {"model": "tests/model"}
# So many combinations of each product; a disagreement is nearly always among the first few thousand.
ENVIRONMENT = {"EXHAUSTIVE": "20000"}


def rules(which):
    """The (name, file, old, new) of a .rules file."""
    path = Path(__file__).with_name(f"{which}.rules")
    for block in re.split(r"\n\s*\n", path.read_text().strip()):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        name, file, edits = lines[0].strip("[]"), lines[1], lines[2:]
        assert all(line[:2] in ("- ", "+ ") for line in edits), f"{path}: {name}"
        old = "\n".join(line[2:] for line in edits if line[0] == "-")
        new = "\n".join(line[2:] for line in edits if line[0] == "+")
        yield name, file, old, new


def copy_tree(folder):
    """What the two tests need of the tree, and of its manifest: a plain library, without the other tests' crates."""
    for name in ["src", "include", "tests"]:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("target", "node_modules"))
    for name in ["build.rs", "cbindgen.toml", "Cargo.lock"]:
        shutil.copy(ROOT / name, folder)
    for test in (folder / "tests").glob("*.rs"):
        if test.stem not in ("vectors", "specification"):
            test.unlink()
    manifest = (ROOT / "Cargo.toml").read_text()
    manifest = re.sub(r"crate-type = .*", 'crate-type = ["lib"]', manifest)
    manifest = re.sub(r"(?ms)^\[\[(example|test|bench|bin)\]\].*?(?=^\[|\Z)", "", manifest)
    manifest = re.sub(r"(?m)^(proptest|agent-client-protocol-schema|criterion|loom) = .*\n", "", manifest)
    (folder / "Cargo.toml").write_text(manifest)


def run(folder, which):
    """Builds and tests; gives "passes", "broken", or what noticed."""
    environment = os.environ | ENVIRONMENT | {
        "CARGO_TARGET_DIR": str(folder / "target"),
        "CARGO_INCREMENTAL": "1",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "RUST_BACKTRACE": "0",
        "RUSTFLAGS": "-Awarnings",
    }
    if which == "model":
        # With the suite's flags, so that the model checker is built once.
        for name in ["RUSTFLAGS", *(name for name in environment if name.startswith("CARGO_PROFILE"))]:
            environment.pop(name, None)
        environment["CARGO_TARGET_DIR"] = str(ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "model")
    command = ["cargo", "test", "--quiet", "--no-default-features", *TESTS[which]]
    try:
        done = subprocess.run(
            command,
            cwd=folder / CRATES.get(which, ""),
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return "broken\nthe time limit"
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return "passes"
    if "could not compile" in output or "panicked" not in output:
        return "broken\n" + output[-3000:]
    vectors = re.search(r"(\d+) of \d+ vectors fail:\n(\S+):", output)
    if vectors:
        return f"{vectors[1]} vectors ({vectors[2]})"
    product = re.search(r"product ([a-z ]+): they disagree\n  engine +(.*)\n  specification (.*)", output)
    if product:
        return f"product {product[1]}"
    return "a panic: " + re.search(r"panicked at .*\n(.*)", output)[1][:80]


def main():
    arguments = sys.argv[1:]
    chosen = [arguments.pop(0)] if arguments and arguments[0] in TESTS else list(TESTS)
    only = arguments[0] if arguments else ""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        copy_tree(folder)
        for which in chosen:
            started = time.time()
            outcome = run(folder, which)
            if outcome != "passes":
                sys.exit(f"without any edit, the tests of {which} don't pass: {outcome}")
            print(f"{which}: with all rules the tests pass ({time.time() - started:.0f} s)", flush=True)
            count = 0
            for name, file, old, new in rules(which):
                if only not in name:
                    continue
                count += 1
                path = folder / file
                source = path.read_text()
                if source.count(old) != 1:
                    print(f"  {name}: THE EDIT DOESN'T APPLY: it is {source.count(old)} times in {file}: {old}")
                    failures.append(name)
                    continue
                path.write_text(source.replace(old, new))
                outcome = run(folder, which)
                path.write_text(source)
                if outcome == "passes" or outcome.startswith("broken"):
                    failures.append(name)
                    outcome = "NOTHING" if outcome == "passes" else outcome.upper()
                print(f"  {name:<64} caught by {outcome}", flush=True)
            print(f"{which}: {count} rules disabled in {time.time() - started:.0f} s", flush=True)
    if failures:
        sys.exit(f"{len(failures)} not caught: {'; '.join(failures)}")


main()
