// The released Claude ACP agent against the example host, with a scripted model on loopback.
//
//   node tests/e2e/claude.mjs [version ...]        default: latest 0.75.1
//
// It installs @agentclientprotocol/claude-agent-acp from npm into a temporary folder, so it is opt-in and not part of CI.
// Environment: E2E_KEEP=1 keeps the folder and shows what the programs write to standard error.
// Exit status: 0 all as expected (a skip says why), 1 something was not.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT, install, runHost, workplace } from "./acp.mjs";
import { build, expect, finish, needTools, parse, skip, start } from "./harness.mjs";

const versions = process.argv.slice(2);
if (versions.length === 0) versions.push("latest", "0.75.1");
needTools();
const host = build("examples/processmanager", "processmanager");

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
finish();

// The injected server's calls proceed and run; the shell and a third party wait for the user.
async function ownAndForeignCalls(agent, protocol) {
  const place = workplace(agent, protocol, "calls");
  const other = await serve(place, "other");
  const turn = await runHost(host, place, protocol, ["-mcp", `other=http://127.0.0.1:${other.port}/mcp`], () => [
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
  const turn = await runHost(host, place, protocol, ["-injected-down"], (request) => {
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

// serve starts a server that is not the host's.
async function serve(place, name) {
  const child = start(host, ["-serve", name], { cwd: place.project, env: process.env });
  const port = await new Promise((resolve, reject) => {
    child.line = (text) => {
      const line = parse(text);
      if (line?.type === "listening") resolve(line.port);
    };
    child.ended.then(() => reject(new Error("the server ended")));
  });
  return {
    port,
    stop: async () => {
      let summary;
      child.line = (text) => (summary = parse(text) ?? summary);
      child.stdin.end();
      await child.ended;
      return summary;
    },
  };
}
