#!/usr/bin/env python3
"""Writes seeds for the fuzzers, made of the decision vectors, into TARGET/ folders below the folder named."""

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


def main(folder):
    seeds = {"frame": set(), "config": set(), "hook": set(), "catalog": set()}
    for reviewer, config, request in vectors():
        seeds["hook" if reviewer else "frame"].update(choice + request for choice in CHOICES)
        seeds["config"].update(choice + config for choice in (CHOICES[8:] if reviewer else CHOICES[:8]))
        for server in [b"kcap-review", b"KCAP-Sessions", b"kcap-flow-result", b"none"]:
            seeds["catalog"].add(b"\0".join([catalog(config), server]))
            seeds["catalog"].update(b"\0".join([catalog(config), server, tools]) for tools in TOOLS)
    for target, inputs in seeds.items():
        place = pathlib.Path(folder) / target
        place.mkdir(parents=True, exist_ok=True)
        for seed in inputs:
            if len(seed) <= LONGEST:
                (place / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


if __name__ == "__main__":
    main(sys.argv[1])
