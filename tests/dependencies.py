"""Compares docs/dependencies.md with the manifests, and Go modules with the licences that are allowed.

    tests/dependencies.py              the document's tables list exactly the direct dependencies
    tests/dependencies.py licences     every Go module that is compiled has a licence of ALLOWED
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = "x86_64-unknown-linux-gnu"
# For Go modules; deny.toml says it for crates.
ALLOWED = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause"}
# A sentence that stands in a licence and in no other.
SENTENCES = {
    "Apache-2.0": r"apache license,? version 2\.0",
    "MIT": r"permission is hereby granted, free of charge, to any person obtaining a copy",
    "BSD-3-Clause": r"redistribution and use in source and binary forms.*(neither the name|the names? of .* may not be used)",
    "BSD-2-Clause": r"redistribution and use in source and binary forms",
    "MPL": r"mozilla public license",
    "GPL": r"gnu (lesser |affero )?general public license",
}


def output(*command, cwd=ROOT):
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def tables():
    """Of each section the rows of its table: name -> the other cells by their heading."""
    for section in re.split(r"(?m)^## ", (ROOT / "docs/dependencies.md").read_text())[1:]:
        heading, text = section.split("\n", 1)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
        yield heading, {row[0]: dict(zip(rows[0], row)) for row in rows[2:]}, text


def crates():
    """The direct dependencies, those of the library and the others; and each one's licence."""
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1"))
    licences = {package["name"]: package["license"].replace("/", " OR ") for package in metadata["packages"]}
    direct = next(package for package in metadata["packages"] if package["name"] == "kandev-policy")["dependencies"]
    library = {d["name"] for d in direct if d["kind"] is None}
    return library, {d["name"] for d in direct if d["kind"] is not None}, licences


def brought(crate, edges="normal"):
    """How many crates a direct dependency brings."""
    # The first line of each depth is a dependency of the one before with a smaller depth.
    lines = output("cargo", "tree", "--locked", "-e", edges, "--target", TARGET, "--prefix", "depth", "--no-dedupe").splitlines()
    found, inside = set(), False
    for line in lines:
        depth, name = re.match(r"(\d+)(\S+ \S+)", line).groups()
        if depth == "1":
            inside = name.split()[0] == crate
        elif inside:
            found.add(name)
    return len(found)


def modules(folder):
    return {r["Path"] for r in json.loads(output("go", "mod", "edit", "-json", cwd=ROOT / folder)).get("Require") or []
            if not r.get("Indirect")}


def check():
    library, others, licences = crates()
    wanted = {
        "The library": library,
        "Building and testing it": others,
        "The Go library": modules("go"),
        "The command": modules("go/cmd/kandev-policy"),
    }
    problems = []
    documented = {heading: (rows, text) for heading, rows, text in tables()}
    if set(documented) != set(wanted):
        problems.append(f"sections: {sorted(documented)}")
    for heading, names in wanted.items():
        rows, text = documented.get(heading, ({}, ""))
        problems += [f"{heading}: {name} is not listed" for name in sorted(names - set(rows))]
        problems += [f"{heading}: {name} is no direct dependency" for name in sorted(set(rows) - names)]
        for name, row in rows.items():
            if not all(row.values()):
                problems.append(f"{heading}: {name} has an empty cell")
            if name in licences and "brings" in row:
                edges = "normal" if heading == "The library" else "normal,build,dev"
                if sorted(row["licence"].split(" OR ")) != sorted(licences[name].split(" OR ")):
                    problems.append(f"{heading}: {name} has the licence {licences[name]}")
                if row["brings"] != str(brought(name, edges)):
                    problems.append(f"{heading}: {name} brings {brought(name, edges)}")
    tree = output("cargo", "tree", "--locked", "-e", "normal", "--target", TARGET, "--prefix", "none", "--no-dedupe")
    count = len({line.split(" (")[0] for line in tree.splitlines()}) - 1
    sentence = f"{len(library)} direct, {count} in all"
    if sentence not in documented["The library"][1]:
        problems.append(f"The library: {sentence}")
    return problems, f"{sum(map(len, wanted.values()))} direct dependencies, each with its reason"


def licence_of(folder):
    text = "".join(
        " ".join(re.split(r"[\s#/*]+", path.read_text(errors="replace").lower())) + "\n"
        for path in sorted(Path(folder).iterdir())
        if re.match(r"(?i)(licen[cs]e|copying)", path.name) and path.is_file()
    )
    found = {name for name, sentence in SENTENCES.items() if re.search(sentence, text)}
    return found - {"BSD-2-Clause"} if "BSD-3-Clause" in found else found


def licences():
    problems, compiled = [], {}
    for manifest in output("git", "ls-files", "*go.mod").split():
        listed = output("go", "list", "-deps", "-test", "-f",
                        "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./...", cwd=ROOT / Path(manifest).parent)
        compiled |= dict(line.split("\t") for line in set(listed.splitlines()) if line)
    for path, folder in sorted(compiled.items()):
        if path.startswith("github.com/kandev/kandev-policy/"):
            continue
        found = licence_of(folder)
        print(f"{path}: {' AND '.join(sorted(found)) or 'none found'}")
        if not found or found - ALLOWED:
            problems.append(f"{path}: {sorted(found) or 'no licence found'}")
    return problems, f"{len(compiled)} Go modules, licences {', '.join(sorted(ALLOWED))} only"


problems, summary = licences() if sys.argv[1:] == ["licences"] else check()
print("\n".join(problems) or f"PASS dependencies: {summary}")
sys.exit(bool(problems))
