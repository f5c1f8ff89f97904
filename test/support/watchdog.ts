/**
 * Ends processes that would outlive a killed parent: a shell waits for the end of a pipe, which comes however the
 * parent died.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Has a line of sh run when this process has ended, with arguments as $1 and on. What it gives calls that off; neither keeps
 * the process alive.
 */
export function whenGone(line: string, ...args: readonly string[]): () => void {
  const watcher = spawn("sh", ["-c", `cat >/dev/null; ${line}`, "sh", ...args], {
    // A group of its own: Ctrl-C is meant for this process, and it hears of that by the pipe.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return () => void watcher.kill("SIGKILL");
}
