// The released Claude ACP agent under the example host, with a scripted model.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ended, expect, npm, parse, release, root, start } from "./harness.mjs";
import { startModel } from "./model.mjs";

export const AGENT = "@agentclientprotocol/claude-agent-acp";
const TURN_MS = 180_000;

export function install(version) {
  const folder = npm(version, `${AGENT}@${version}`, "node@22");
  if (!folder) return;
  const base = join(folder, "node_modules", AGENT);
  return {
    version: release(base),
    node: join(folder, "node_modules", "node", "bin", "node"),
    main: join(base, "dist", "index.js"),
    v2: existsSync(join(base, "dist", "v2")),
  };
}

// workplace is a home and a project for one turn.
export function workplace(agent, protocol, name) {
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

// runHost lets the host run the agent, or the command that is given for it, for one turn, with a user who rejects what is
// asked.
export async function runHost(host, place, protocol, flags, script, command) {
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
    "-v", "-protocol", String(protocol), "-cwd", place.project, "-answer", "reject", "-settle", "3s", ...flags,
    "--", ...(command ?? [agent.node, agent.main]),
  ], { cwd: place.project, env });
  child.line = (text) => {
    const line = parse(text);
    if (line) line.type === "summary" ? (turn.summary = line) : turn.events.push(line);
  };
  child.note = (text) => {
    const line = parse(text);
    if (line?.msg === "permission approved automatically") turn.approved.push(line.tool);
    if (line?.msg === "permission request stays with the user") turn.asked.push(line.reason);
  };
  const code = await ended(child, TURN_MS);
  model.close();
  expect("the turn ends", code === 0 && turn.summary !== undefined, code === 0 ? "" : `exit status ${code}`);
  return turn;
}
