#!/usr/bin/env node
// Starts the command line with the Node that the project brings along, so that an older system Node does not matter.
// Plain JavaScript that old Nodes can read. It stands in for the program: signals, exit code and streams pass through.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const majorMin = 24;

/** The packaged Node, or the one that runs this if it is new enough. */
function findNode() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin", "node");
  } catch {
    return Number(process.versions.node.split(".")[0]) >= majorMin ? process.execPath : undefined;
  }
}

const node = findNode();
if (node === undefined) {
  console.error(`gradus: this needs Node ${majorMin} or newer, and this is ${process.version}: run npm install`);
  process.exit(1);
}

// Without the first, 11% more CPU for groups of 16 samples of 4 KB and eleven full collections where there is none; without
// the second, 2.6 times the CPU for groups of 1 MB, of which every 30 MB force a full collection (docs/decisions/0001-stack.md).
// NODE_OPTIONS refuses them.
const nodeFlags = JSON.parse(readFileSync(new URL("node-flags.json", import.meta.url), "utf8"));
const program = fileURLToPath(new URL("main.ts", import.meta.url));
// What Node compiled is kept, so that the next command starts in half the time. Beside the packages, and not in the
// temporary folder of the system, where others could put code; where nobody may write, nothing is kept.
const compiled = fileURLToPath(new URL("../node_modules/.cache/gradus", import.meta.url));
// The channel carries nothing: its end tells a server that this process was killed.
const child = spawn(node, [...nodeFlags, program, ...process.argv.slice(2)], {
  stdio: ["inherit", "inherit", "inherit", "ipc"],
  env: { NODE_COMPILE_CACHE: compiled, ...process.env },
});
child.on("error", (error) => {
  console.error(`gradus: ${node} cannot be started: ${error.message}`);
  process.exit(1);
});

const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2"];
for (const signal of signals) process.on(signal, () => child.kill(signal));

/** The npx that this was started by, through a shell or without one; undefined: none, or there is no /proc to tell. */
function npxAbove(pid = process.ppid, steps = 2) {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("npm exec")) return pid;
    const [, above] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return steps > 1 ? npxAbove(Number(above), steps - 1) : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// As this process is to the program, npx is to this one, for those who kill what they started.
const npx = npxAbove();
if (npx !== undefined) setInterval(() => isAlive(npx) || process.kill(process.pid, "SIGTERM"), 500).unref();
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
