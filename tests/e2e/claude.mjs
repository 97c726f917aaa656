// The released Claude ACP agent against the example host, with a scripted model on loopback.
//
//   node tests/e2e/claude.mjs [version ...]        default: latest 0.75.1
//
// It installs @agentclientprotocol/claude-agent-acp from npm into a temporary folder, so it is opt-in and not part of CI.
// Environment: E2E_KEEP=1 keeps the folder and shows what the programs write to standard error.
// Exit status: 0 all as expected (a skip says why), 1 something was not.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync, existsSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startModel } from "./model.mjs";

const AGENT = "@agentclientprotocol/claude-agent-acp";
const HOST = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "go", "examples", "processmanager");
const TURN_MS = 180_000;
const keep = process.env.E2E_KEEP === "1";
const root = realpathSync(mkdtempSync(join(tmpdir(), "kandev-e2e-")));
const children = new Set();
let failures = 0;

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  if (keep) return console.log(`kept: ${root}`);
  try {
    rmSync(root, { recursive: true, force: true });
  } catch (error) {
    console.log(`left behind: ${root} (${error.code}: something still writes to it)`);
    process.exitCode ||= 1;
  }
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const versions = process.argv.slice(2);
if (versions.length === 0) versions.push("latest", "0.75.1");
for (const tool of [["npm", "--version"], ["go", "version"]]) {
  try {
    execFileSync(tool[0], [tool[1]], { stdio: "ignore" });
  } catch {
    skip("everything", `${tool[0]} is not installed`);
    process.exit(0);
  }
}
const host = join(root, "processmanager");
execFileSync("go", ["build", "-o", host, "."], { cwd: HOST, stdio: "inherit" });

for (const version of versions) {
  const agent = install(version);
  if (!agent) continue;
  for (const protocol of [1, 2]) {
    console.log(`\n${AGENT} ${agent.version}, ACP v${protocol}`);
    if (protocol === 2 && !agent.v2) {
      skip("all scenarios", `this release speaks ACP v1 only`);
      continue;
    }
    await ownAndForeignCalls(agent, protocol);
    await repositoryServer(agent, protocol);
  }
}
console.log(failures === 0 ? "\nAll as expected." : `\n${failures} not as expected.`);
process.exit(failures === 0 ? 0 : 1);

// The injected server's calls proceed and run; the shell and a third party wait for the user.
async function ownAndForeignCalls(agent, protocol) {
  const place = workplace(agent, protocol, "calls");
  const other = await serve(place, "other");
  const turn = await run(place, protocol, ["-mcp", `other=http://127.0.0.1:${other.port}/mcp`], () => [
    { name: "mcp__kandev__update_task_plan_kandev", input: { task_id: "t-1", content: "the plan" } },
    { name: "mcp__kandev__archive_workspace_kandev", input: {} },
    { name: "Bash", input: { command: "touch made-by-bash; echo mcp__kandev__update_task_plan_kandev", description: "mcp__kandev__update_task_plan_kandev" } },
    { name: "mcp__other__update_task_plan_kandev", input: { task_id: "t-1", content: "not the plan" } },
  ]);
  const outside = await other.stop();
  const asked = turn.events.filter((e) => e.type === "permission_request");
  const calls = turn.summary?.calls ?? [];
  expect("a plan update: approved without a pending event", turn.approved.includes("update_task_plan_kandev") && !asked.some((e) => e.title?.includes("mcp__kandev__update") && e.raw_input?.content));
  expect("  and executed by the injected server", calls.some((c) => c.tool === "update_task_plan_kandev" && !c.failed) && turn.summary?.tasks[0].plan === "the plan");
  expect("an administrator's tool: approved, and refused by the server", turn.approved.includes("archive_workspace_kandev") && calls.some((c) => c.tool === "archive_workspace_kandev" && c.failed));
  expect("a Bash call with a look-alike text: left pending", asked.some((e) => e.raw_input?.command?.startsWith("touch")));
  expect("  and, rejected by the user, not run", !existsSync(join(place.project, "made-by-bash")));
  expect("a third party's tool of the same name: left pending", asked.some((e) => e.raw_input?.content === "not the plan"));
  expect("  and, rejected by the user, not run", outside?.calls.length === 0);
  expect("nothing else was asked", asked.length === 2 && turn.summary?.pending_allocated === 2);
}

// A repository brings an agent whose own server is called kandev, and the injected one can't be reached.
async function repositoryServer(agent, protocol) {
  const place = workplace(agent, protocol, "repository");
  const own = await serve(place, "kandev");
  mkdirSync(join(place.project, ".claude", "agents"), { recursive: true });
  writeFileSync(
    join(place.project, ".claude", "agents", "planner.md"),
    `---\nname: planner\ndescription: Plans tasks\nmcpServers:\n  - kandev:\n      type: http\n      url: http://127.0.0.1:${own.port}/mcp\n---\nYou plan tasks.\n`,
  );
  const plan = { name: "mcp__kandev__update_task_plan_kandev", input: { task_id: "t-1", content: "the repository's" } };
  const turn = await run(place, protocol, ["-injected-down"], (request) => {
    const names = request.tools.map((tool) => tool.name);
    const launcher = names.find((name) => name === "Agent" || name === "Task");
    if (names.includes(plan.name)) return [plan];
    return launcher ? [{ name: launcher, input: { description: "plan", prompt: "plan it", subagent_type: "planner", run_in_background: false } }] : [];
  });
  const outside = await own.stop();
  const asked = turn.events.filter((e) => e.type === "permission_request");
  expect("a repository's own kandev server in place of the injected one: left pending", asked.some((e) => e.raw_input?.content === "the repository's"));
  expect("  for the reason", turn.asked.length > 0, [...new Set(turn.asked)].join(", "));
  expect("  and, rejected by the user, not run", outside?.calls.length === 0);
  expect("  nothing was approved automatically", turn.approved.length === 0);
}

function install(version) {
  const folder = join(root, version);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  try {
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", `${AGENT}@${version}`, "node@22"], {
      cwd: folder, stdio: keep ? "inherit" : "ignore",
    });
  } catch (error) {
    skip(`${AGENT}@${version}`, `npm can't install it here: ${String(error.message).split("\n")[0]}`);
    return;
  }
  const base = join(folder, "node_modules", AGENT);
  return {
    version: JSON.parse(readFileSync(join(base, "package.json"), "utf8")).version,
    node: join(folder, "node_modules", "node", "bin", "node"),
    main: join(base, "dist", "index.js"),
    v2: existsSync(join(base, "dist", "v2")),
  };
}

function workplace(agent, protocol, name) {
  const base = join(root, `${agent.version}-v${protocol}-${name}`);
  const place = { agent, home: join(base, "home"), project: join(base, "project") };
  mkdirSync(join(place.home, ".claude"), { recursive: true });
  mkdirSync(place.project, { recursive: true });
  writeFileSync(join(place.home, ".claude.json"), JSON.stringify({
    hasCompletedOnboarding: true,
    projects: { [place.project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }));
  writeFileSync(join(place.home, ".claude", "settings.json"), JSON.stringify({ permissions: { defaultMode: "default" } }));
  return place;
}

// serve starts a server that is not the host's.
async function serve(place, name) {
  const child = start(host, ["-serve", name], { cwd: place.project, env: process.env });
  const port = await new Promise((resolve, reject) => {
    child.line = (line) => line.type === "listening" && resolve(line.port);
    child.ended.then(() => reject(new Error("the server ended")));
  });
  return {
    port,
    stop: async () => {
      let summary;
      child.line = (line) => (summary = line);
      child.stdin.end();
      await child.ended;
      return summary;
    },
  };
}

// run lets the host run the agent for one turn, with a user who rejects what is asked.
async function run(place, protocol, flags, script) {
  const model = await startModel(script);
  const { agent } = place;
  const env = {
    PATH: `${dirname(agent.node)}:${process.env.PATH}`, HOME: place.home, TMPDIR: root, LANG: "C.UTF-8",
    ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "dummy", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", DISABLE_ERROR_REPORTING: "1", IS_SANDBOX: "1", ENABLE_TOOL_SEARCH: "false",
  };
  if (process.env.LD_LIBRARY_PATH) env.LD_LIBRARY_PATH = process.env.LD_LIBRARY_PATH;
  const turn = { events: [], approved: [], asked: [], summary: undefined };
  const child = start(host, [
    "-v", "-protocol", String(protocol), "-cwd", place.project, "-answer", "reject", "-settle", "3s", ...flags, "--", agent.node, agent.main,
  ], { cwd: place.project, env });
  child.line = (line) => (line.type === "summary" ? (turn.summary = line) : turn.events.push(line));
  child.note = (line) => {
    if (line.msg === "permission approved automatically") turn.approved.push(line.tool);
    if (line.msg === "permission request stays with the user") turn.asked.push(line.reason);
  };
  const timer = setTimeout(() => child.kill("SIGKILL"), TURN_MS);
  const code = await child.ended;
  clearTimeout(timer);
  model.close();
  expect("the turn ends", code === 0 && turn.summary !== undefined, code === 0 ? "" : `exit status ${code}`);
  return turn;
}

// start runs a program whose lines on standard output, and JSON lines on standard error, are handed to child.line and note.
function start(program, args, options) {
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  children.add(child);
  child.stdin.on("error", () => {});
  const parse = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  createInterface({ input: child.stdout }).on("line", (text) => {
    if (keep) console.error(`  | ${text}`);
    const line = parse(text);
    if (line) child.line?.(line);
  });
  createInterface({ input: child.stderr }).on("line", (text) => {
    if (keep) console.error(`  ! ${text}`);
    const line = parse(text);
    if (line) child.note?.(line);
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

function expect(what, ok, detail = "") {
  if (!ok) failures++;
  console.log(`  ${ok ? "ok  " : "FAIL"}  ${what}${detail ? ` (${detail})` : ""}`);
}

function skip(what, why) {
  console.log(`  skip  ${what}: ${why}`);
}
