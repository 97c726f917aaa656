// The released Claude ACP agent, once by itself and once under kandev-policy watch, with the example host and a scripted
// model on loopback: the traffic is the same, and watch sees each request.
//
//   node tests/e2e/watch.mjs [version ...]        default: latest
//
// Under watch the bytes are kept on both of its sides and compared as they are. The two runs are compared with each other
// without what differs by nature: ids, times, ports, folders, and the order of messages that don't wait for one another.
//
// It installs @agentclientprotocol/claude-agent-acp from npm into a temporary folder, so it is opt-in and not part of CI.
// Environment: E2E_KEEP=1 keeps the folder and shows what the programs write.
// Exit status: 0 all as expected (a skip says why), 1 something was not.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENT, install, runHost, workplace } from "./acp.mjs";
import { build, expect, finish, needTools, parse, root, skip } from "./harness.mjs";

const TAP = join(dirname(fileURLToPath(import.meta.url)), "tap.mjs");
const versions = process.argv.slice(2);
if (versions.length === 0) versions.push("latest");
needTools();
const host = build("examples/processmanager", "processmanager");
const command = build("cmd/kandev-policy", "kandev-policy");
const config = join(root, "config.json");
writeFileSync(config, JSON.stringify({
  agent_type: "claude-acp", port: 41000, injected_kandev_mcp: true,
  mcp_servers: [{ name: "kandev", type: "http", url: "http://localhost:41000/mcp" }],
}));

for (const version of versions) {
  const agent = install(version);
  if (!agent) continue;
  for (const protocol of [1, 2]) {
    console.log(`\n${AGENT} ${agent.version}, ACP v${protocol}`);
    if (protocol === 2 && !agent.v2) {
      skip("all", "this release speaks ACP v1 only");
      continue;
    }
    await compare(agent, protocol);
  }
}
finish();

async function compare(agent, protocol) {
  const script = () => [
    { name: "mcp__kandev__update_task_plan_kandev", input: { task_id: "t-1", content: "ein Plan für später → 漢字\n".repeat(200) } },
    { name: "Bash", input: { command: "touch made-by-bash; echo done", description: "a command" } },
    { name: "mcp__kandev__update_task_plan_kandev", input: { task_id: "t-1", content: "the plan" } },
  ];
  const one = [agent.node, agent.main];

  const bare = workplace(agent, protocol, "bare");
  const alone = join(dirname(bare.project), "tap");
  const bareTurn = await runHost(host, bare, protocol, [], script, [agent.node, TAP, alone, ...one]);

  const watched = workplace(agent, protocol, "watched");
  const [outer, inner, record] = ["outer", "inner", "record"].map((name) => join(dirname(watched.project), name));
  const turn = await runHost(host, watched, protocol, [], script,
    [agent.node, TAP, outer, command, "watch", "--config", config, "--record", record, "--", agent.node, TAP, inner, ...one]);

  for (const [name, what] of [["in", "host to agent"], ["out", "agent to host"], ["err", "the agent's standard error"]]) {
    const [without, within] = [readFileSync(`${outer}.${name}`), readFileSync(`${inner}.${name}`)];
    expect(`the same bytes on both sides of watch: ${what}`, without.equals(within), `${without.length} and ${within.length} bytes`);
  }
  const status = (tap) => (existsSync(`${tap}.status`) ? readFileSync(`${tap}.status`, "utf8") : "none");
  expect("the same exit status on both sides of watch", status(outer) === status(inner), `${status(outer)} and ${status(inner)}`);
  expect("and the one that the agent has by itself", status(outer) === status(alone), status(alone));

  for (const [name, what] of [["in", "host to agent"], ["out", "agent to host"]]) {
    const [without, within] = [normalised(`${alone}.${name}`), normalised(`${outer}.${name}`)];
    const differs = without.findIndex((line, i) => line !== within[i]);
    expect(`the same messages with and without watch: ${what}`, without.length > 0 && differs < 0 && without.length === within.length,
      differs < 0 ? `${without.length} and ${within.length}` : `${without[differs]} | ${within[differs]}`);
  }
  expect("the same calls approved and asked about", same(bareTurn.approved, turn.approved) && same(bareTurn.asked, turn.asked),
    `${turn.approved.length} and ${turn.asked.length}`);

  const decisions = readFileSync(record, "utf8").trim().split("\n").map((line) => parse(line)?.decision);
  const got = decisions.map((d) => `${d?.decision} ${d?.reason}`).join(", ");
  expect("watch sees each request", got === "select injected_mcp, ask not_mcp_tool, select injected_mcp", got);
}

// normalised are the messages of a recording without what differs from run to run, sorted.
function normalised(path) {
  return readFileSync(path, "utf8").trim().split("\n").map((line) => line
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/(toolu|msg)_\d+/g, "$1_N")
    .replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/g, "HOST:PORT")
    .replaceAll(/-(bare|watched)\b/g, "-PLACE"))
    .sort();
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
