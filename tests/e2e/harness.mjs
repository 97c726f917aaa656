// What the end-to-end scripts share: a temporary folder, programs that are gone at the end, and a verdict.
// Environment: E2E_KEEP=1 keeps the folder and shows what the programs write.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const GO = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "go");
export const keep = process.env.E2E_KEEP === "1";
export const root = realpathSync(mkdtempSync(join(tmpdir(), "kandev-e2e-")));
const children = new Set();
let failures = 0;

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  if (keep) return console.log(`kept: ${root}`);
  try {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    console.log(`left behind: ${root} (${error.code}: something still writes to it)`);
    process.exitCode ||= 1;
  }
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

// needTools ends the script where there is no npm or no Go.
export function needTools() {
  for (const tool of [["npm", "--version"], ["go", "version"]]) {
    try {
      execFileSync(tool[0], [tool[1]], { stdio: "ignore" });
    } catch {
      skip("everything", `${tool[0]} is not installed`);
      process.exit(0);
    }
  }
}

// build builds a program of the project and gives its path.
export function build(folder, name, what = ".") {
  const program = join(root, name);
  execFileSync("go", ["build", "-o", program, what], { cwd: join(GO, folder), stdio: "inherit" });
  return program;
}

// npm installs packages into a folder of their own and gives that; undefined if they can't be had.
export function npm(name, ...packages) {
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  try {
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], {
      cwd: folder, stdio: keep ? "inherit" : "ignore",
    });
  } catch (error) {
    return skip(packages[0], `npm can't install it here: ${String(error.message).split("\n")[0]}`);
  }
  return folder;
}

// release is the version of an installed package.
export function release(base) {
  return JSON.parse(readFileSync(join(base, "package.json"), "utf8")).version;
}

// start runs a program whose lines are handed to child.line and, from standard error, to child.note.
export function start(program, args, options) {
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  children.add(child);
  child.stdin.on("error", () => {});
  createInterface({ input: child.stdout }).on("line", (text) => {
    if (keep) console.error(`  | ${text.slice(0, 2000)}`);
    child.line?.(text);
  });
  createInterface({ input: child.stderr }).on("line", (text) => {
    if (keep) console.error(`  ! ${text.slice(0, 2000)}`);
    child.note?.(text);
  });
  child.ended = new Promise((resolve) => {
    child.on("error", () => resolve(-1));
    child.on("close", (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return child;
}

// ended waits for a program, but not for ever, and gives its exit status.
export async function ended(child, ms) {
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  const code = await child.ended;
  clearTimeout(timer);
  return code;
}

export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function expect(what, ok, detail = "") {
  if (!ok) failures++;
  console.log(`  ${ok ? "ok  " : "FAIL"}  ${what}${detail ? ` (${detail})` : ""}`);
}

export function skip(what, why) {
  console.log(`  skip  ${what}: ${why}`);
}

// finish says how it went and ends the script.
export function finish() {
  console.log(failures === 0 ? "\nAll as expected." : `\n${failures} not as expected.`);
  process.exit(failures === 0 ? 0 : 1);
}
