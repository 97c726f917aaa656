#!/usr/bin/env python3
"""The fuzzers' inputs.

    corpus.py seeds FOLDER            makes inputs from the decision vectors: FOLDER/<target>/*
    corpus.py unpack TARGET FOLDER    writes the committed corpus of a target as files
    corpus.py pack TARGET FOLDER      commits the files of a folder: corpus/TARGET.jsonl

A line of a packed corpus is an input: a JSON string if it is UTF-8, else {"hex":"…"}.
"""

import hashlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
LONGEST = 4096
CHOICES = [bytes([ord("@") + n]) for n in range(16)]

# What a server may answer to tools/list.
TOOLS = [
    b'{"tools":[]}',
    b'{"tools":[{"name":"get_pr_summary","inputSchema":{}},{"name":"x"},{"name":"x"}]}',
    b'{"tools":[{"name":"list_turns"}],"nextCursor":"2"}',
    b'{"tools":[{"name":"a\\u0301","Name":"b"}],"nextCursor":null}',
    b'{"tools":null}',
]


def part(part):
    if isinstance(part, str):
        return part.encode("utf-8", "surrogatepass")
    if "hex" in part:
        return bytes.fromhex(part["hex"])
    return part["repeat"].encode() * part["times"]


def text(parts):
    return b"".join(map(part, parts if isinstance(parts, list) else [parts]))


def config(line, value):
    """An object's bytes are those of the line."""
    if not isinstance(value, dict):
        return text(value)
    start = line.index('"config":') + len('"config":')
    _, end = json.JSONDecoder().raw_decode(line, start)
    return line[start:end].encode()


def vectors():
    for file in sorted((HERE / "../vectors").glob("*.jsonl")):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                vector = json.loads(line)
                reviewer = file.name.startswith("hooks")
                yield reviewer, config(line, vector["config"]), text(vector["input"])


def catalog(config):
    """The bytes of a config's catalog."""
    try:
        config = config.decode()
        start = config.index('"catalog":') + len('"catalog":')
        _, end = json.JSONDecoder().raw_decode(config, start)
        return config[start:end].encode()
    except ValueError:
        return b"{}"


def seeds(folder):
    inputs = {"frame": set(), "config": set(), "hook": set(), "catalog": set()}
    for reviewer, config, request in vectors():
        inputs["hook" if reviewer else "frame"].update(choice + request for choice in CHOICES)
        inputs["config"].update(choice + config for choice in (CHOICES[8:] if reviewer else CHOICES[:8]))
        for server in [b"kcap-review", b"KCAP-Sessions", b"kcap-flow-result", b"none"]:
            inputs["catalog"].add(b"\0".join([catalog(config), server]))
            inputs["catalog"].update(b"\0".join([catalog(config), server, tools]) for tools in TOOLS)
    for target, made in inputs.items():
        write(pathlib.Path(folder) / target, (seed for seed in made if len(seed) <= LONGEST))


def write(folder, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    for one in inputs:
        (folder / hashlib.sha1(one).hexdigest()).write_bytes(one)


def packed(target):
    return HERE / "corpus" / f"{target}.jsonl"


def unpack(target, folder):
    with open(packed(target), encoding="utf-8") as lines:
        values = map(json.loads, lines)
        inputs = [bytes.fromhex(v["hex"]) if isinstance(v, dict) else v.encode() for v in values]
    write(pathlib.Path(folder), inputs)


def pack(target, folder):
    def line(one):
        try:
            return json.dumps(one.decode(), ensure_ascii=False)
        except UnicodeDecodeError:
            return json.dumps({"hex": one.hex()}, separators=(",", ":"))

    inputs = {file.read_bytes() for file in pathlib.Path(folder).iterdir()}
    packed(target).parent.mkdir(exist_ok=True)
    with open(packed(target), "w", encoding="utf-8", newline="\n") as out:
        for one in sorted(inputs, key=lambda one: (len(one), one)):
            out.write(line(one) + "\n")


if __name__ == "__main__":
    {"seeds": seeds, "unpack": unpack, "pack": pack}[sys.argv[1]](*sys.argv[2:])
