// The released Codex and Claude Code as unattended reviewers, with the hook and the bridge of this project, a small real
// MCP server named kcap-review, and a scripted model on loopback.
//
//   node tests/e2e/hooks.mjs [codex[@VERSION] | claude[@VERSION] ...]        default: codex claude
//
// It installs @openai/codex and @anthropic-ai/claude-code-<platform> from npm into a temporary folder, so it is opt-in and
// not part of CI. Environment: E2E_KEEP=1 keeps the folder and shows what the programs write; E2E_MODULES names a folder
// with a node_modules to use in place of an installation.
// Exit status: 0 all as expected (a skip says why), 1 something was not.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import * as harness from "./harness.mjs";
import { build, finish, needTools, parse, release, root, start } from "./harness.mjs";
import { startModel } from "./model.mjs";
import { startResponses } from "./responses.mjs";

const TURN_MS = 120_000;
const agents = process.argv.slice(2);
if (agents.length === 0) agents.push("codex", "claude");
needTools();
const command = build("cmd/kandev-policy", "kandev-policy");
const server = build("cmd/kandev-policy", "mcpserver", "./testdata/mcpserver");

for (const wanted of agents) {
  const [name, version = "latest"] = wanted.split("@");
  if (name === "codex") await codex(version);
  else if (name === "claude") await claude(version);
  else expect(`an agent called ${name}`, false, "expected codex or claude");
}
finish();

// --- Codex ------------------------------------------------------------------------------------------------------------

async function codex(version) {
  const base = install("@openai/codex", version);
  if (!base) return;
  const program = [process.execPath, [join(base, "bin", "codex.js")]];
  console.log(`\nCodex ${release(base)}`);
  const bridge = await startBridge("codex");
  const url = await bridge.mint("codex", "kcap-review");
  const calls = (request) => [
    mcpCall(request, "kcap-review", "get_pr_summary", { pr: 7 }),
    mcpCall(request, "other", "search", { query: "x" }),
    mcpCall(request, "kcap-review", "list_pr_files", { pr: 7 }),
  ];

  console.log(" codex exec, which never asks a person");
  let turn = await codexExec(program, "live", url, calls);
  expectTurn(turn, bridge, {
    allowed: ["kcap_review get_pr_summary", "kcap_review list_pr_files"],
    denied: { "other search": "server_not_allowlisted" },
    ran: ["kcap-review get_pr_summary", "kcap-review list_pr_files"],
    told: ["get_pr_summary was called", "This reviewer may not use that MCP server.", "list_pr_files was called"],
  });

  console.log(" codex app-server, which asks the hook about the shell too");
  turn = await codexApp(program, "shell", url, (request) => [
    shellCall(request, "touch made-by-shell"),
    mcpCall(request, "kcap-review", "get_pr_summary", { pr: 7 }),
  ]);
  expectTurn(turn, bridge, {
    allowed: ["kcap_review get_pr_summary"],
    denied: { "": "bare_tool_denied" },
    ran: ["kcap-review get_pr_summary"],
    told: ["This reviewer may only use the MCP tools of its launch.", "get_pr_summary was called"],
  });
  expect("the shell command didn't run", !existsSync(join(turn.project, "made-by-shell")));
  expect("no approval was asked of the client", turn.asked.length === 0, turn.asked.join(", "));

  console.log(" codex exec, after the revocation");
  await bridge.revoke(1);
  turn = await codexExec(program, "revoked", url, calls);
  expectTurn(turn, bridge, {
    allowed: [], denied: {}, unknown: 3, ran: [],
    told: Array(3).fill("The permission bridge gave no answer, so the request was denied."),
  });
  await bridge.stop();
}

function codexHome(name, model) {
  const place = workplace(`codex-${name}`);
  const quote = JSON.stringify;
  const mcp = (id, ...tools) => `[mcp_servers.${id}]
command = ${quote(server)}
args = ${quote([id, ...tools])}
env = { MCP_CALLS = ${quote(place.calls)} }
`;
  writeFileSync(join(place.home, "config.toml"), `model = "gpt-5.1-codex"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = ${quote(model.url)}
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1

[projects.${quote(place.project)}]
trust_level = "trusted"

${mcp("kcap-review", "get_pr_summary", "list_pr_files")}
${mcp("other", "search")}`);
  const hook = { type: "command", command: `${command} hook --vendor codex` };
  writeFileSync(join(place.home, "hooks.json"), JSON.stringify({ hooks: { PermissionRequest: [{ hooks: [hook] }] } }));
  place.env = { PATH: process.env.PATH, HOME: place.home, CODEX_HOME: place.home, FAKE_KEY: "dummy", TMPDIR: root, LANG: "C.UTF-8" };
  return place;
}

async function codexExec([program, args], name, url, script) {
  const model = await startResponses(script);
  const place = codexHome(name, model);
  const child = start(program, [...args, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-C", place.project, "go"], {
    cwd: place.project, env: { ...place.env, KCAP_DAEMON_URL: url },
  });
  child.stdin.end();
  const code = await ended(child);
  model.close();
  return { ...finished(place), code, told: outputs(model.requests), asked: [] };
}

// codexApp runs one turn as a client does that would have to ask a person.
async function codexApp(program, name, url, script) {
  const model = await startResponses(script);
  const place = codexHome(name, model);
  await trustHooks(program, place);
  const app = await appServer(program, place, url);
  const thread = await app.request("thread/start", { cwd: place.project, approvalPolicy: "on-request", sandbox: "read-only" });
  await app.request("turn/start", { threadId: thread.result?.thread?.id, input: [{ type: "text", text: "go", text_elements: [] }] });
  await app.completed;
  const code = await app.stop();
  model.close();
  return { ...finished(place), code, told: outputs(model.requests), asked: app.asked };
}

// trustHooks does what a person does in Codex's own list of hooks.
async function trustHooks(program, place) {
  const app = await appServer(program, place, "");
  const list = await app.request("hooks/list", { cwds: [place.project] });
  await app.stop();
  const hooks = (list.result?.data ?? []).flatMap((entry) => entry.hooks);
  const trusted = hooks.map((hook) => `\n[hooks.state.${JSON.stringify(hook.key)}]\ntrusted_hash = ${JSON.stringify(hook.currentHash)}\n`);
  appendFileSync(join(place.home, "config.toml"), trusted.join(""));
}

// appServer talks JSON-RPC with codex app-server, and declines what it asks the client.
async function appServer([program, args], place, url) {
  const child = start(program, [...args, "app-server"], { cwd: place.project, env: { ...place.env, KCAP_DAEMON_URL: url } });
  const app = { asked: [] };
  const waiting = new Map();
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  app.completed = new Promise((resolve) => {
    child.ended.then(resolve);
    child.line = (text) => {
      const message = parse(text);
      if (!message) return;
      if (message.method && message.id !== undefined) {
        app.asked.push(message.method);
        send({ id: message.id, result: { decision: "decline", action: "decline" } });
      } else if (message.method === "turn/completed") resolve();
      else waiting.get(message.id)?.(message);
    };
  });
  let id = 0;
  app.request = (method, params) => new Promise((resolve) => {
    waiting.set(++id, resolve);
    child.ended.then(() => resolve({}));
    send({ id, method, params });
  });
  app.stop = () => {
    child.stdin.end();
    return ended(child);
  };
  await app.request("initialize", { clientInfo: { name: "e2e", title: null, version: "1" }, capabilities: null });
  send({ method: "initialized" });
  return app;
}

// mcpCall is the call of a server's tool in the spelling that the agent has offered to the model.
function mcpCall(request, name, tool, input) {
  const alike = (text) => text?.replaceAll("-", "_");
  for (const offered of request.tools) {
    if (offered.type === "namespace" && alike(offered.name)?.includes(alike(name)) && offered.tools.some((t) => t.name === tool)) {
      return { namespace: offered.name, name: tool, arguments: input };
    }
    if (alike(offered.name) === alike(`mcp__${name}__${tool}`)) return { name: offered.name, arguments: input };
  }
  throw new Error(`${name} ${tool} is not offered: ${request.tools.map((t) => t.name ?? t.type)}`);
}

function shellCall(request, line) {
  const more = { sandbox_permissions: "require_escalated", justification: "needed" };
  const names = request.tools.map((tool) => tool.name);
  if (names.includes("exec_command")) return { name: "exec_command", arguments: { cmd: line, ...more } };
  if (names.includes("shell_command")) return { name: "shell_command", arguments: { command: line, ...more } };
  return { name: "shell", arguments: { command: ["bash", "-lc", line], ...more } };
}

// outputs are what the model was told about its calls.
function outputs(requests) {
  const last = requests.at(-1)?.input ?? [];
  return last.filter((item) => item.type.endsWith("_output")).map((item) => JSON.stringify(item.output));
}

// --- Claude Code ------------------------------------------------------------------------------------------------------

async function claude(version) {
  const base = install(`@anthropic-ai/claude-code-${platform()}-${arch()}`, version);
  if (!base) return;
  console.log(`\nClaude Code ${release(base)}`);
  const program = join(base, "claude");
  const bridge = await startBridge("claude");
  const url = await bridge.mint("claude", "kcap-review");
  const script = () => [
    { name: "mcp__kcap-review__get_pr_summary", input: { pr: 7 } },
    { name: "mcp__other__search", input: { query: "x" } },
    { name: "Bash", input: { command: "touch made-by-shell; echo done", description: "test" } },
    { name: "mcp__kcap-review__list_pr_files", input: { pr: 7 } },
  ];

  console.log(" claude -p, with a live token");
  let turn = await claudePrint(program, "live", url, script);
  expectTurn(turn, bridge, {
    allowed: ["kcap-review get_pr_summary", "kcap-review list_pr_files"],
    denied: { "other search": "server_not_allowlisted", "": "bare_tool_denied" },
    ran: ["kcap-review get_pr_summary", "kcap-review list_pr_files"],
    told: ["get_pr_summary was called", "This reviewer may not use that MCP server.",
      "This reviewer may only use the MCP tools of its launch.", "list_pr_files was called"],
  });
  expect("the shell command didn't run", !existsSync(join(turn.project, "made-by-shell")));

  console.log(" claude -p, after the revocation");
  await bridge.revoke(1);
  turn = await claudePrint(program, "revoked", url, script);
  expectTurn(turn, bridge, {
    allowed: [], denied: {}, unknown: 4, ran: [],
    told: Array(4).fill("The permission bridge gave no answer, so the request was denied."),
  });
  expect("the shell command didn't run", !existsSync(join(turn.project, "made-by-shell")));
  await bridge.stop();
}

async function claudePrint(program, name, url, script) {
  const requests = [];
  const model = await startModel((request) => {
    requests.push(request);
    return script();
  });
  const place = workplace(`claude-${name}`);
  mkdirSync(join(place.home, ".claude"));
  const key = "dummy-key-of-the-end-to-end-test";
  writeFileSync(join(place.home, ".claude.json"), JSON.stringify({
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [place.project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }));
  const hook = { type: "command", command: `${command} hook --vendor claude` };
  writeFileSync(join(place.home, ".claude", "settings.json"), JSON.stringify({
    permissions: { defaultMode: "default" },
    hooks: { PermissionRequest: [{ matcher: "*", hooks: [hook] }] },
  }));
  const mcp = (id, ...tools) => ({ command: server, args: [id, ...tools], env: { MCP_CALLS: place.calls } });
  const config = join(place.home, "mcp.json");
  writeFileSync(config, JSON.stringify({
    mcpServers: { "kcap-review": mcp("kcap-review", "get_pr_summary", "list_pr_files"), other: mcp("other", "search") },
  }));
  const child = start(program, ["-p", "go", "--output-format", "stream-json", "--verbose", "--mcp-config", config,
    "--strict-mcp-config", "--permission-mode", "default"], {
    cwd: place.project,
    env: {
      PATH: process.env.PATH, HOME: place.home, TMPDIR: root, LANG: "C.UTF-8", KCAP_DAEMON_URL: url,
      ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: key, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", DISABLE_ERROR_REPORTING: "1", IS_SANDBOX: "1", ENABLE_TOOL_SEARCH: "false",
    },
  });
  child.stdin.end();
  const code = await ended(child);
  model.close();
  const told = (requests.at(-1)?.messages ?? []).flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    .filter((block) => block.type === "tool_result").map((block) => JSON.stringify(block.content));
  return { ...finished(place), code, told, asked: [] };
}

// --- both -------------------------------------------------------------------------------------------------------------

// expectTurn compares a turn with what the bridge decided, what the servers ran, and what the model was told.
function expectTurn(turn, bridge, { allowed, denied, unknown = 0, ran, told }) {
  const records = bridge.records.splice(0);
  const tool = (r) => (r.tool ? `${r.server} ${r.tool}` : "");
  expect("the turn goes on to its end", turn.code === 0, turn.code === 0 ? "" : `exit status ${turn.code}`);
  const gotAllowed = records.filter((r) => r.decision === "allow").map(tool);
  expect(`allowed: ${allowed.join(", ") || "nothing"}`, same(gotAllowed, allowed), gotAllowed.join(", "));
  const gotDenied = records.filter((r) => r.decision === "deny" && r.status !== "404");
  for (const [name, reason] of Object.entries(denied)) {
    expect(`denied: ${name || "the shell"} (${reason})`, gotDenied.some((r) => tool(r) === name && r.reason === reason));
  }
  expect("nothing else was decided", gotDenied.length === Object.keys(denied).length && gotDenied.every((r) => denied[tool(r)] === r.reason),
    gotDenied.map((r) => `${tool(r)} ${r.reason}`).join(", "));
  if (unknown > 0) expect(`answered as an unknown token: ${turn.told.length} of ${unknown}`, turn.told.length === unknown);
  expect(`run by the servers: ${ran.join(", ") || "nothing"}`, same(turn.ran, ran), turn.ran.join(", "));
  expect("the model was told so", turn.told.length === told.length && told.every((text, i) => turn.told[i].includes(text)), turn.told.join(" | "));
  expect("nobody was asked", bridge.questions.length === 0, bridge.questions.join(", "));
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

function workplace(name) {
  const base = join(root, name);
  const place = { home: join(base, "home"), project: join(base, "project"), calls: join(base, "calls") };
  mkdirSync(place.home, { recursive: true });
  mkdirSync(place.project);
  return place;
}

function finished(place) {
  const ran = existsSync(place.calls) ? readFileSync(place.calls, "utf8").trim().split("\n") : [];
  return { project: place.project, ran };
}

// startBridge runs kandev-policy bridge and types into it.
async function startBridge(vendor) {
  const child = start(command, ["bridge", "--enable", vendor], { cwd: root, env: process.env });
  const bridge = { records: [], questions: [] };
  let answer = () => {};
  const next = (text) => new Promise((resolve) => {
    answer = resolve;
    if (text) child.stdin.write(`${text}\n`);
  });
  child.note = (line) => {
    if (!line.includes('msg="permission request"')) return;
    bridge.records.push(Object.fromEntries([...line.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map((m) => [m[1], m[2]])));
  };
  const shared = next();
  child.line = (line) => (/ asks about /.test(line) ? bridge.questions.push(line) : answer(line));
  await shared;
  bridge.mint = async (...words) => (await next(`mint ${words.join(" ")}`)).split(" ")[3];
  bridge.revoke = (number) => next(`revoke ${number}`);
  bridge.stop = () => {
    child.stdin.end("quit\n");
    return ended(child);
  };
  return bridge;
}

function install(name, version) {
  const folder = process.env.E2E_MODULES ?? harness.npm(`npm-${name.replaceAll("/", "-")}-${version}`, `${name}@${version}`);
  return folder && join(folder, "node_modules", name);
}

// expect says more only of what is not as expected.
function expect(what, ok, detail = "") {
  harness.expect(what, ok, ok ? "" : detail);
}

function ended(child) {
  return harness.ended(child, TURN_MS);
}
