/** The command line. Run it by `gradus` beside it, which picks the Node. */
import { readFileSync } from "node:fs";
import { say } from "../server/runtime/terminal.ts";
import { run } from "./program.ts";

/** The npx that this was started by, through a shell or without one; undefined: none, or there is no /proc to tell. */
function npxAbove(pid = process.ppid, steps = 2): number | undefined {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("npm exec")) return pid;
    const [, above] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return steps > 1 && above !== undefined ? npxAbove(Number(above), steps - 1) : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * npx passes signals on, but a kill -9 of it is meant for this process too. By a signal, so that a terminal is left as it
 * was; `gradus serve` drains.
 */
function endWithNpx(): void {
  const npx = npxAbove();
  if (npx !== undefined) setInterval(() => isAlive(npx) || process.kill(process.pid, "SIGTERM"), 500).unref();
}

// A reader such as head may leave before all is written; a disk may be full.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  say(`gradus: standard output cannot be written: ${error.message}`);
  process.exit(1);
});

endWithNpx();
await run(process.argv.slice(2));
// Threads and programs of a start that failed would keep the process.
if (process.exitCode !== undefined && process.exitCode !== 0) process.exit();
