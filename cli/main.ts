/** Entry point of the command line. Start it by `gradus` in this folder, which chooses the Node version. */
import { readFileSync } from "node:fs";
import { say } from "../server/runtime/terminal.ts";
import { run } from "./program.ts";

/**
 * Returns the process id of the npx that started this process, directly or through a shell. Undefined if npx did not
 * start it, or if the system has no /proc.
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
 * Ends this process soon after the npx that started it was killed by `kill -9`, the only signal that npx cannot pass
 * on. SIGTERM is used, so that the terminal is restored and `gradus serve` finishes its requests.
 */
function endWithNpx(): void {
  const npx = npxAbove();
  if (npx !== undefined) setInterval(() => isAlive(npx) || process.kill(process.pid, "SIGTERM"), 500).unref();
}

// End quietly if a reader such as head closes the pipe early. Any other error, e.g. a full disk, is reported.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  say(`gradus: standard output cannot be written: ${error.message}`);
  process.exit(1);
});

endWithNpx();
await run(process.argv.slice(2));
// End the process after a failure, because threads and child processes of a failed start would keep it alive.
if (process.exitCode !== undefined && process.exitCode !== 0) process.exit();
