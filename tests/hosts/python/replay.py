"""Replays the decision vectors through the Python binding, and compares bytes.

    replay.py FILE.jsonl...
"""

import json
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import kandev_policy
import vectors

failures = []


def same(vector, what, got):
    if got != vector.expect:
        failures.append(f"{vector.id}: {what}\n  got  {got!r}\n  want {vector.expect!r}")


def one_shot(vector):
    """Whether it could go through NUL-terminated text."""
    if b"\0" in vector.input or b"\0" in vector.config:
        try:
            failures.append(f"{vector.id}: decides with a NUL: {kandev_policy.decide(vector.input, vector.config)!r}")
        except kandev_policy.Error:
            pass
        return False
    same(vector, "decide", kandev_policy.decide(vector.input, vector.config))
    explained = kandev_policy.explain(vector.input, vector.config)
    if not explained.startswith(vector.expect[:-1] + b',"detail":"') or "trace" not in json.loads(explained):
        failures.append(f"{vector.id}: explain gives {explained!r}")
    return True


def compiled(vector):
    """Whether the config could be used."""
    try:
        with kandev_policy.Policy(vector.config) as policy:
            same(vector, "evaluate", policy.evaluate(vector.input))
        return True
    except kandev_policy.ConfigError as error:
        if json.loads(vector.expect)["reason"] != "malformed_config" or not str(error):
            failures.append(f"{vector.id}: the config is refused: {error}")
        return False


def threads(vector):
    """One handle, many threads."""
    with kandev_policy.Policy(vector.config) as policy:
        def work():
            for _ in range(200):
                same(vector, "evaluate on a thread", policy.evaluate(vector.input))
        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    try:
        failures.append(f"a closed policy decides: {policy.evaluate(vector.input)!r}")
    except kandev_policy.Error:
        pass


def main():
    count = one_shots = handles = 0
    approved = None
    for vector in vectors.read(sys.argv[1:]):
        count += 1
        one_shots += one_shot(vector)
        usable = compiled(vector)
        handles += usable
        if usable and b'"reason":"injected_mcp"' in vector.expect and len(vector.input) < 4096:
            approved = vector
    threads(approved)
    print("\n".join(failures))
    lines = sum(path.read_bytes().count(b"\n") for path in map(Path, sys.argv[1:]))
    if failures or count != lines:
        sys.exit(f"Python: {count} of {lines} vectors, {len(failures)} failures")
    print(f"Python, library {kandev_policy.version}: {count} vectors, {one_shots} as text, {handles} with a handle")


main()
