/**
 * Ends processes that would outlive a killed parent: a shell waits for the end of a pipe, which comes however the
 * parent died.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Runs a line of sh when this process has ended, with arguments as $1 and on. Returns a function that cancels that.
 * Neither keeps the process alive.
 */
export function whenGone(line: string, ...args: readonly string[]): () => void {
  const watcher = spawn("sh", ["-c", `cat >/dev/null; ${line}`, "sh", ...args], {
    // The shell has a process group of its own, because Ctrl-C is meant for this process; the pipe tells the shell of
    // its end.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return () => void watcher.kill("SIGKILL");
}
