"""The decision vectors (tests/vectors/README.md) as bytes: for hosts in Python, and as a stream for hosts without a JSON
library that keeps a value's bytes.

    vectors.py FILE.jsonl...     for each vector its id, config, input and expectation to stdout: each a 32-bit
                                 little-endian length and as many bytes
"""

import json
import sys
from typing import NamedTuple

_decoder = json.JSONDecoder()


class Vector(NamedTuple):
    id: str
    config: bytes
    input: bytes
    expect: bytes


def _members(line):
    """The members of the line's object: key, decoded value, and the value as it stands in the line."""
    at = 1
    while line[at - 1] != "}":
        key, at = _decoder.raw_decode(line, at)
        assert line[at] == ":", line
        value, end = _decoder.raw_decode(line, at + 1)
        yield key, value, line[at + 1 : end]
        at = end + 1
    assert at == len(line), line


def _part(part):
    if isinstance(part, str):
        return part.encode()
    if "hex" in part:
        return bytes.fromhex(part["hex"])
    return part["repeat"].encode() * part["times"]


def _document(value, raw):
    if isinstance(value, dict):
        return raw.encode()
    return b"".join(map(_part, value if isinstance(value, list) else [value]))


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                members = {key: (value, raw) for key, value, raw in _members(line.rstrip("\n"))}
                yield Vector(
                    members["id"][0],
                    _document(*members["config"]),
                    _document(*members["input"]),
                    members["expect"][1].encode(),
                )


if __name__ == "__main__":
    for vector in read(sys.argv[1:]):
        for field in (vector.id.encode(), *vector[1:]):
            sys.stdout.buffer.write(len(field).to_bytes(4, "little"))
            sys.stdout.buffer.write(field)
