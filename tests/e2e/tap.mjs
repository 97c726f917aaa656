// node tap.mjs PREFIX COMMAND [ARG …]: runs a command and keeps what passes: PREFIX.in, PREFIX.out, PREFIX.err and, at the
// end, PREFIX.status.

import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";

const [prefix, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: "pipe" });
const copy = (from, to, name) => {
  const file = openSync(`${prefix}.${name}`, "w");
  from.on("data", (bytes) => {
    writeSync(file, bytes);
    if (!to.write(bytes)) {
      from.pause();
      to.once("drain", () => from.resume());
    }
  });
  from.on("end", () => closeSync(file));
};
copy(process.stdin, child.stdin, "in");
copy(child.stdout, process.stdout, "out");
copy(child.stderr, process.stderr, "err");
process.stdin.on("end", () => child.stdin.end());
child.stdin.on("error", () => {});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", () => process.exit(127));
child.on("close", (code, signal) => {
  writeFileSync(`${prefix}.status`, signal ?? String(code));
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});
