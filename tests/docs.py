#!/usr/bin/env python3
"""Runs the commands of the documentation as they stand there, and follows its links.

Every fenced block of commands (sh, console) or of code (go, c, rust) must be in BLOCKS below, by its page and its first
line, or by its page and its language. It is either run here, or by the suite that is named, or it says why nobody can run
it. A block that isn't there fails, and the failure prints the line to add. In a console block a line with "$ " in front is
a command, and what follows is compared with what it prints.

Besides: no command hides in an indented block; `make TARGET` in the text names a target; the subcommand and the flags of
`kandev-policy …` in the text are in its help; a path in the text that begins with a folder of the project exists; links
to other pages and to headings lead somewhere; and every page of docs/ is linked from docs/README.md.

Needs `make lib`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "go/examples/*/*.md", "tests/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]
SHELL = {"sh", "bash", "shell", "console", "zsh", ""}
CODE = {"go", "c", "rust"}


class Run:
    """Run it here: in `folder`, with `files` (name: content) put there for as long as it runs.

    The folder is an empty one, or "checkout". `before` is run in front, `after` behind; code is no command, so there `after`
    is all. What is printed last must be `prints`, if that is given. Commands find the command of this project in their
    PATH, and the project itself at $POLICY.
    """

    def __init__(self, folder="empty", files=None, before="", after="", prints=None):
        self.folder, self.files, self.before, self.after, self.prints = folder, files or {}, before, after, prints


class By:
    """Another suite runs it: `file` holds each of its commands, or for `make TARGET` the target's recipe."""

    def __init__(self, file):
        self.file = file


class Not:
    """It can't be run in a test, because …"""

    def __init__(self, why):
        self.why = why


def block(page, language):
    """The first block of a language."""
    return next(b for b in blocks(page) if b.language == language).text


CONFIG = '{"agent_type":"claude-acp","port":41000,%s"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}\n'
FRAME = '{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}\n'
SAMPLES = {"config.json": CONFIG % '"injected_kandev_mcp":true,', "frame.json": FRAME}

GO_MODULE = "module example.test/docs\n\ngo 1.26\n"
GO_SETUP = ('go mod edit -require=github.com/kandev/kandev-policy/go@v0.0.0 '
            '-replace=github.com/kandev/kandev-policy/go="$POLICY"/go && go mod tidy && ')

BLOCKS = {
    ("README.md", 'make -C "$POLICY" lib   # not with CGO_ENABLED=0, which takes the same engine as WebAssembly'): Run(
        files={"main.go": lambda: block("README.md", "go"), "go.mod": GO_MODULE},
        after="go run .", prints="answer with yes because injected_mcp\n"),
    ("README.md", "make demo   # builds everything and decides 158 captured frames of three releases of Claude's ACP agent, from Rust, C and Go"):
        By("tests/run.sh"),
    ("README.md", "make lib"): Run("checkout", files={"hello.c": lambda: block("README.md", "c"), "hello": None},
        before="cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude hello.c",
        prints=lambda: block("README.md", "json")),
    ("README.md", "make command   # one file, bin/kandev-policy, which needs no library beside it"): Run("checkout", files=SAMPLES),
    ("README.md", "go"): Not("it is the program that the commands below it are run with"),
    ("README.md", "c"): Not("it is the program that the commands below it compile"),
    ("README.md", "rust"): Run(
        files={"Cargo.toml": '[package]\nname = "docs"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n'
                             f'kandev-policy = {{ path = "{ROOT}", default-features = false }}\n',
               "Cargo.lock": lambda: (ROOT / "Cargo.lock").read_text(),
               "src/main.rs": lambda: "fn main() -> Result<(), Box<dyn std::error::Error>> {\n"
                                      f"let (config, frame): (&[u8], &[u8]) = (br#\"{SAMPLES['config.json']}\"#, br#\"{FRAME}\"#);\n"
                                      f"{block('README.md', 'rust')}Ok(())\n}}\n"},
        after='CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$POLICY/target}" cargo run --quiet | grep -c injected_mcp', prints="2\n"),
    ("docs/linking.md", "make lib"): Not("it installs for the whole machine; the suite install does the same in folders of its own"),
    ("docs/performance.md", "make bench                                                # the table, also in target/bench.md"):
        Not("minutes, and it measures; the suite benchmarks runs what it is built of"),
    ("docs/releasing.md", "make release-dry-run"): By("tests/release.sh"),
    ("docs/releasing.md", "git tag -s vX.Y.Z -m vX.Y.Z"): Not("it publishes"),
    ("docs/releasing.md", "cargo publish --locked"): Not("it publishes; the dry run does it without"),
    ("docs/releasing.md", 'cd "$(mktemp -d)" && go mod init example.test/host'): Not("it looks at what has been published"),
    ("tests/fuzz/README.md", "target/fuzz/none/*/release/frame -merge=1 -use_counters=0 -max_len=1024 minimal target/fuzz/corpus/frame"):
        Not("it renews a corpus after a long run"),
    ("docs/contract.md", "go"): Not("declarations, not a program"),
    ("docs/contract.md", "c"): Not("declarations; the C suite calls each"),
    ("docs/kandev.md", "go"): By("go/examples/processmanager/guide/guide_test.go"),
    ("docs/reviewer.md", "go"): Run(
        files={"go.mod": GO_MODULE, "main.go": lambda: (
            'package main\n\nimport (\n\t"context"\n\t"log/slog"\n\t"os/exec"\n\n\t"github.com/kandev/kandev-policy/go/bridge"\n)\n\n'
            "func launch(ctx context.Context, askThePerson bridge.Prompt, logger *slog.Logger, task string) error {\n"
            f"{block('docs/reviewer.md', 'go')}}}\n\nfunc main() {{}}\n")},
        after=GO_SETUP + "go vet ."),
    ("docs/kandev.md", 'cp -R "$POLICY"/go/examples/processmanager/guide/testdata/kandev/. .'):
        By("go/examples/processmanager/guide/guide_test.go"),
    ("docs/kandev.md", 'make -C "$POLICY" lib   # needs Rust; puts the library where the Go package links it'): Run(
        files={"main.go": 'package main\n\nimport "github.com/kandev/kandev-policy/go/policy"\n\nfunc main() { println(policy.Engine()) }\n',
               "go.mod": GO_MODULE},
        after="go build ."),
    ("docs/reasons.md", "$ cat config.json"): Run(files={"config.json": CONFIG % "", "frame.json": FRAME}),
    ("docs/reasons.md", "kandev-policy replay --config config.json session.ndjson                        # a row for each request, with its line"):
        Run(files={**SAMPLES, "session.ndjson": '{"method":"session/update","params":{}}\n' + FRAME,
                   "agent": "#!/bin/sh\ncat session.ndjson\n"},
            before="chmod +x agent", after="grep -q injected_mcp decisions.ndjson"),
    ("docs/reviewer.md", "kandev-policy catalog check --server kcap-review -- ./kcap-review-server   # the command that starts it"): Run(
        before='go build -C "$POLICY"/go/cmd/kandev-policy -o "$PWD"/mcpserver ./testdata/mcpserver\n'
               "printf '#!/bin/sh\\nexec ./mcpserver kcap-review get_pr_summary\\n' >kcap-review-server; chmod +x kcap-review-server"),
    ("go/examples/processmanager/README.md", "make lib                                   # at the top of the project, once"):
        Not("needs a released agent; make e2e-claude runs this host with one"),
    ("go/examples/processmanager/README.md", "go test -race ./..."):
        Not("the first line is the suite host and the last one make e2e-claude; the mutations take too long for a suite"),
    ("tests/vectors/README.md", "tests/vectors/import.py CAPTURES_DIR CASES_DIR"):
        Not("needs new captures, which no checkout has"),
}

failures = []


def fail(place, text):
    failures.append(f"{place}: {text}")
    print(f"{place}: {text}")


class Block:
    def __init__(self, page, line, language, text):
        self.page, self.line, self.language, self.text = page, line, language, text
        self.place = f"{page}:{line}"
        self.first = text.split("\n", 1)[0]


def blocks(page):
    """The fenced blocks of a page."""
    found, inside, lines = [], None, (ROOT / page).read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if inside is None and line.startswith("```"):
            inside = (number, line[3:].strip())
            text = []
        elif inside is not None and line == "```":
            found.append(Block(page, *inside, "".join(l + "\n" for l in text)))
            inside = None
        elif inside is not None:
            text.append(line)
    if inside is not None:
        fail(f"{page}:{inside[0]}", "this fence is never closed")
    return found


def prose(page):
    """The lines of a page that are in no fenced block, with their numbers."""
    fenced = set()
    for b in blocks(page):
        fenced.update(range(b.line, b.line + b.text.count("\n") + 2))
    lines = (ROOT / page).read_text(encoding="utf-8").split("\n")
    return [(n, line) for n, line in enumerate(lines, 1) if n not in fenced]


# --- commands ---------------------------------------------------------------------------------------------------------

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = {
    m[1]: [line.strip() for line in m[2].split("\n") if line.startswith("\t") and not line.startswith("\t@echo")]
    for m in re.finditer(r"^([a-z0-9-]+):.*\n((?:\t.*\n)*)", MAKEFILE, re.M)
}


def looks_like_commands(b):
    """A block without a language is one if its first word is a program."""
    if b.language:
        return b.language in SHELL
    word = re.match(r"[A-Za-z0-9_./-]+", b.first)
    if not word or word[0] == "kandev-policy":
        return bool(word)
    return bool(shutil.which(word[0])) or (ROOT / word[0]).is_file() and os.access(ROOT / word[0], os.X_OK)


def commands(text):
    """The commands of a block: without comments, continued lines as one."""
    lines = [re.sub(r"(^|\s+)#.*", "", line) for line in text.replace("\\\n", " ").split("\n")]
    return [line.strip() for line in lines if line.strip()]


def check_by(b, file):
    path = ROOT / file
    if not path.exists():
        return fail(b.place, f"{file} is to run it, and isn't there")
    text = path.read_text()
    if file.endswith("guide_test.go"):  # which takes the block out of the page
        if '"go mod init"' not in text:
            fail(b.place, f"{file} doesn't run it")
        return
    for command in commands(b.text):
        target = re.fullmatch(r"make ([a-z0-9-]+)", command)
        runs = TARGETS.get(target[1]) if target else [command]
        if command in text or runs and all(run in text for run in runs):
            continue
        if target and target[1] == "test" and file == "tests/run.sh":
            continue  # the suite that this runs in
        fail(b.place, f"{file} doesn't run `{command}`")


def value(v):
    return v() if callable(v) else v


def run_block(b, how, env):
    with tempfile.TemporaryDirectory() as scratch:
        folder = ROOT if how.folder == "checkout" else Path(scratch)
        names = [folder / name for name in how.files]
        for name in names:
            if name.exists():
                return fail(b.place, f"{name.name} is in the way; remove it")
        try:
            for name, content in how.files.items():
                if content is not None:
                    (folder / name).parent.mkdir(exist_ok=True)
                    (folder / name).write_text(value(content))

            def bash(script):
                return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=env, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

            if how.before and (done := bash(how.before)).returncode != 0:
                return fail(b.place, f"what comes before fails:\n{done.stdout}")
            if b.language == "console":
                return compare_console(b, bash)
            # What is built on the way prints to standard output; only the last command's output is looked at.
            script = "" if b.language in CODE else b.text
            if how.after:
                script = f"{{\n{script}:\n}} >&2\n{how.after}"
            if how.prints is not None:
                *setup, last = [c for c in re.split(r"\n(?! )", script.strip()) if c]
                script = "{\n" + "\n".join(setup) + "\n} >/dev/null 2>&1\n" + last
            done = bash(script)
            if done.returncode != 0:
                return fail(b.place, f"exit status {done.returncode}\n{done.stdout}")
            if how.prints is not None:
                expected = value(how.prints)
                if done.stdout != expected:
                    return fail(b.place, f"prints\n{done.stdout}instead of\n{expected}")
                if b.language not in CODE and expected.strip() not in (ROOT / b.page).read_text():
                    return fail(b.place, "the page doesn't say what it prints")
            print(f"{b.place}: runs")
        finally:
            for name in names:
                name.unlink(missing_ok=True)


def compare_console(b, bash):
    for part in re.split(r"^\$ ", b.text, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        done = bash(command)
        if done.stdout != shown:
            return fail(b.place, f"`{command}` prints\n{done.stdout}instead of\n{shown}")
    print(f"{b.place}: prints what it shows")


def check_commands(env):
    unused = set(BLOCKS)
    for page in PAGES:
        for b in blocks(page):
            if not looks_like_commands(b) and b.language not in CODE:
                continue
            key = (page, b.first)
            if key not in BLOCKS and (page, b.language) in BLOCKS:
                key = (page, b.language)
            how = BLOCKS.get(key)
            unused.discard(key)
            if how is None:
                fail(b.place, f"no test runs this block; add it to BLOCKS in tests/docs.py:\n    {key!r}: Run(),")
            elif b.language == "":
                fail(b.place, "say that these are commands: ```sh")
            elif isinstance(how, Run):
                run_block(b, how, env)
            elif isinstance(how, By):
                check_by(b, how.file)
                print(f"{b.place}: run by {how.file}")
            else:
                for target in re.findall(r"^make ([a-z0-9-]+)", b.text, re.M):
                    if target not in TARGETS:
                        fail(b.place, f"make has no target {target}")
                print(f"{b.place}: not run: {how.why}")
    for key in unused:
        fail("tests/docs.py", f"{key!r} is in no page any more")


# --- what the text mentions -------------------------------------------------------------------------------------------

FOLDERS = "src|include|tests|go|docs|examples|\\.ci|\\.github"
GENERATED = re.compile(r"^(go/policy/lib/.*libkandev|target|bin|go/v)")


def check_mentions(env):
    helps = {}
    for page in PAGES:
        if page == "CHANGELOG.md":
            continue  # which speaks of what is no more, too
        for number, line in prose(page):
            place = f"{page}:{number}"
            if re.match(r" {4}\S", line) and not re.match(r" *([-*]|\d+\.) ", line) and looks_like_commands(Block(page, number, "", line.strip())):
                fail(place, "commands in an indented block, which nobody runs: use a fence")
            for code in re.findall(r"`([^`]+)`", line):
                if target := re.match(r"(?:\w+=\S+ )*make ([a-z0-9-]+)", code):
                    if target[1] not in TARGETS:
                        fail(place, f"make has no target {target[1]}")
                if command := COMMAND.match(code):
                    check_help(place, command, helps, env)
                path = re.fullmatch(rf"(?:{FOLDERS})/[\w./-]*", code)
                if path and not GENERATED.match(code) and not (ROOT / code).exists():
                    near = (ROOT / page).parent / code
                    if not near.exists():
                        fail(place, f"{code} doesn't exist")


COMMAND = re.compile(r"(?:bin/)?kandev-policy ([a-z]+(?: (?:check|show))?)\b(.*)")


def check_help(place, command, helps, env):
    words = command[1].split()
    key = " ".join(words)
    if key not in helps:
        done = subprocess.run(["kandev-policy", *words, "--help"], env=env, text=True, capture_output=True)
        helps[key] = done.stdout if done.returncode == 0 and f"kandev-policy {key}" in done.stdout else ""
        for example in re.findall(r"^  (kandev-policy .*)", helps[key], re.M):  # its own examples
            if match := COMMAND.match(example):
                check_help(f"kandev-policy {key} --help", match, helps, env)
    if not helps[key]:
        return fail(place, f"kandev-policy has no subcommand {key}")
    own = re.split(r" -- | \| ", command[2])[0]
    for flag in re.findall(r"(?<=\s)--[a-z-]+", own):
        if not re.search(rf"{flag}\b", helps[key]):
            fail(place, f"kandev-policy {key} has no flag {flag}")


# --- links ------------------------------------------------------------------------------------------------------------

def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = {}
    for _, line in prose(page):
        if heading := re.match(r"#{1,6} (.*)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            count = found.get(slug, 0)
            found[slug] = count + 1
            if count:
                found[f"{slug}-{count}"] = 1
    return found


def check_links():
    linked = set()
    for page in PAGES:
        for number, line in prose(page):
            place = f"{page}:{number}"
            line = re.sub(r"`[^`]*`", "`", line)
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue  # somebody else's
                path, _, anchor = target.partition("#")
                to = ((ROOT / page).parent / path).resolve() if path else ROOT / page
                if not to.exists() or not to.is_relative_to(ROOT):
                    fail(place, f"the link to {target} leads nowhere")
                    continue
                relative = to.relative_to(ROOT).as_posix()
                if page == "docs/README.md":
                    linked.add(relative)
                if anchor and anchor not in anchors(relative):
                    fail(place, f"{relative} has no heading for #{anchor}")
    for path in sorted((ROOT / "docs").glob("*.md")):
        relative = path.relative_to(ROOT).as_posix()
        if relative != "docs/README.md" and relative not in linked:
            fail("docs/README.md", f"{relative} is not linked")


def main():
    with tempfile.TemporaryDirectory() as tools:
        subprocess.run(["go", "build", "-o", f"{tools}/kandev-policy", "."], cwd=ROOT / "go/cmd/kandev-policy", check=True)
        env = {**os.environ, "POLICY": str(ROOT), "PATH": f"{tools}:{os.environ['PATH']}", "NO_COLOR": "1", "GOWORK": "off"}
        env.pop("MAKEFLAGS", None)
        check_links()
        check_mentions(env)
        check_commands(env)
    print(f"{len(PAGES)} pages, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
