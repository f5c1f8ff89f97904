/** The entry point of the command line. Start it by `gradus` in this folder, which chooses the Node version. */
import { readFileSync } from "node:fs";
import { say } from "../server/runtime/terminal.ts";
import { run } from "./program.ts";

/**
 * Returns the pid of the npx that started this process, directly or through a shell. Undefined if there is none, or no
 * /proc to tell.
 */
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
 * Ends this process when its npx was killed. The npx command passes signals on, except `kill -9`. A signal is used so that the
 * terminal is restored and `gradus serve` drains.
 */
function endWithNpx(): void {
  const npx = npxAbove();
  if (npx !== undefined) setInterval(() => isAlive(npx) || process.kill(process.pid, "SIGTERM"), 500).unref();
}

// A reader such as head may close the pipe early, and a disk may be full.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  say(`gradus: standard output cannot be written: ${error.message}`);
  process.exit(1);
});

endWithNpx();
await run(process.argv.slice(2));
// Threads and child processes of a failed start would keep this process alive.
if (process.exitCode !== undefined && process.exitCode !== 0) process.exit();
