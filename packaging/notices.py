#!/usr/bin/env python3
"""Writes THIRD-PARTY-NOTICES.md beside this file: what is linked into the library, and under which licences.

    packaging/notices.py            write it
    packaging/notices.py --check    fail when it isn't what would be written

The crates are those that cargo links on the shipped platforms; their texts are their own files. The standard library is
linked too, but no part of cargo's graph: rust-std.md is its part, kept by hand.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE / "THIRD-PARTY-NOTICES.md"
PLATFORMS = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "wasm32-unknown-unknown",
]
# Of a choice the first of these is taken; a crate that offers none of them needs a decision, and so a line here.
ACCEPTED = {"MIT": ["LICENSE-MIT"], "BSD-3-Clause": ["LICENSE"]}
HEAD = """\
# Third-party notices

kandev-policy itself is licensed under MIT or Apache-2.0, at your choice. Its library, in every form in which it is
shipped (shared, static and WebAssembly), contains the software below. Written by `packaging/notices.py`.
"""


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked", "--features", "capi"]
    return subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked():
    """The packages that are linked into the library, on any shipped platform."""
    # cargo tree leaves out what only tests or the build need; cargo metadata knows where a package's files are.
    names = set()
    for platform in PLATFORMS:
        tree = cargo("tree", "--target", platform, "--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe")
        names |= {tuple(line.split()[:2]) for line in tree.splitlines()[1:]}
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    by_name = {(package["name"], "v" + package["version"]): package for package in packages}
    return [by_name[name] for name in sorted(names)]


def licence(package):
    """The licence that is taken, and its text."""
    name, expression = package["name"], package["license"] or ""
    offered = expression.replace("/", " OR ").split(" OR ")
    taken = next((choice for choice in ACCEPTED if choice in offered), None)
    if taken is None:
        sys.exit(f"{name}: no accepted licence in {expression!r}")
    folder = Path(package["manifest_path"]).parent
    for file in ACCEPTED[taken]:
        if (folder / file).is_file():
            lines = (folder / file).read_text(encoding="utf-8").strip().splitlines()
            return taken, "\n".join(line.rstrip() for line in lines)
    sys.exit(f"{name}: none of the files {ACCEPTED[taken]} for {taken}")


def notices():
    texts, rows = {}, []
    for package in linked():
        taken, text = licence(package)
        title = f"{package['name']} {package['version']}"
        rows.append(f"| {package['name']} | {package['version']} | {package['license']} | {taken} |")
        texts.setdefault(text, []).append(title)
    parts = [HEAD, "| crate | version | licence | taken |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"]
    parts += [f"## {', '.join(titles)}\n\n```text\n{text}\n```\n" for text, titles in texts.items()]
    parts.append((HERE / "rust-std.md").read_text(encoding="utf-8"))
    return "\n".join(parts)


def main():
    text = notices()
    if sys.argv[1:] == ["--check"]:
        if not OUT.is_file() or OUT.read_text(encoding="utf-8") != text:
            sys.exit("packaging/THIRD-PARTY-NOTICES.md is not up to date: run packaging/notices.py")
        print("packaging/THIRD-PARTY-NOTICES.md is up to date")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
