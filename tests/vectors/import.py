#!/usr/bin/env python3
"""Convert recorded captures and reported cases into vector files.

usage: tests/vectors/import.py CAPTURES_DIR CASES_DIR

CAPTURES_DIR holds acp/configs.json, acp/<agent>-<version>-v1|v2.jsonl and hooks/<cli>-<version>.jsonl;
CASES_DIR holds acp.jsonl and hooks.jsonl. The files this writes stand beside this script and are
overwritten: acp-capture-*.jsonl, hooks-capture-*.jsonl, acp-cases.jsonl, hooks-cases.jsonl.
README.md describes the lines.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

DENY_MESSAGES = {
    "server_not_allowlisted": "This reviewer may not use that MCP server.",
    "ambiguous_tool_name": "The tool name does not name one server and one tool beyond doubt.",
    "invalid_tool_name": "The tool name is not a valid MCP tool name.",
    "identity_malformed": "The request does not say clearly which MCP server serves the tool.",
    "identity_conflict": "The tool name and the MCP server in the request disagree.",
    "untrusted_server_source": "The MCP server was not provided by the host that started this reviewer.",
    "bare_tool_denied": "This reviewer may only use the MCP tools of its launch.",
}
# One boundary: the first "__" after the prefix splits, the tool holds no other and starts with no "_".
QUALIFIED = re.compile(r"mcp__((?:(?!__)[A-Za-z0-9_-])+)__((?!_)(?:(?!__)[A-Za-z0-9_-])+)\Z")
MAX_NAME_BYTES = 256


def dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_jsonl(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_jsonl(name, vectors):
    ids = [vector["id"] for vector in vectors]
    if len(set(ids)) != len(ids):
        sys.exit(f"{name}: two vectors have the same id")
    with open(HERE / name, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(dumps(vector) + "\n" for vector in vectors)
    print(f"{name}: {len(vectors)}")


def slug(text):
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-")


def hook_expect(body, short):
    """Complete a hook expectation: the sources give only decision, reason and status."""
    expect = {key: short[key] for key in ("decision", "reason", "status")}
    if expect["status"] != 200:
        return expect
    name = json.loads(body)["tool_name"]
    parsed = QUALIFIED.match(name)
    if parsed and len(name.encode()) <= MAX_NAME_BYTES:
        expect["server"], expect["tool"] = parsed.groups()
    if expect["decision"] == "allow":
        answer = {"behavior": "allow"}
    elif expect["decision"] == "deny":
        answer = {"behavior": "deny", "message": DENY_MESSAGES[expect["reason"]]}
    else:
        return expect
    expect["response"] = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": answer}}
    return expect


def vector(topic, name, why, config, text, expect, **recorded):
    return {"id": f"{topic}/{slug(name)}", "why": why, **recorded, "config": config, "input": text, "expect": expect}


def import_captures(directory):
    configs = json.loads((directory / "acp" / "configs.json").read_text(encoding="utf-8"))
    for path in sorted((directory / "acp").glob("*.jsonl")):
        agent, version, protocol = path.stem.rsplit("-", 2)
        topic = f"acp-capture-{path.stem}"
        write_jsonl(f"{topic}.jsonl", [
            vector(topic, row["scenario"], f"recorded, config {row['config']}", configs[row["config"]],
                   row["frame"], row["expect"],
                   agent=f"{agent} {version} {protocol}", scenario=row["scenario"])
            for row in read_jsonl(path)
        ])
    for path in sorted((directory / "hooks").glob("*.jsonl")):
        topic = f"hooks-capture-{path.stem}"
        write_jsonl(f"{topic}.jsonl", [
            vector(topic, row["scenario"], "recorded, reviewer bound to kcap-review",
                   {"policy": "unattended_review", "vendor": row["vendor"], "token": "reviewer",
                    "servers": ["kcap-review"]},
                   row["body"], hook_expect(row["body"], row["expect"]),
                   agent=row["cli"], scenario=row["scenario"])
            for row in read_jsonl(path)
        ])


def import_cases(directory):
    write_jsonl("acp-cases.jsonl", [
        vector("acp-cases", row["id"], row["why"], row["config"], row["frame"], row["expect"])
        for row in read_jsonl(directory / "acp.jsonl")
    ])
    write_jsonl("hooks-cases.jsonl", [
        vector("hooks-cases", row["id"], row["why"], row["config"], row["body"],
               hook_expect(row["body"], row["expect"]))
        for row in read_jsonl(directory / "hooks.jsonl")
    ])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    import_captures(Path(sys.argv[1]))
    import_cases(Path(sys.argv[2]))
