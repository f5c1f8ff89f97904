/** Stops the PostgreSQL server that test files share, if one of them has started it. Used as vitest's globalSetup. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { whenGone } from "./watchdog.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder that holds the server's address, once the server has been started. */
    readonly sharedPostgres: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "gradus-shared-"));
  project.provide("sharedPostgres", folder);
  // If this process is killed, a shell does the work of the returned function.
  const callOff = whenGone(
    'data=$(readlink "$1/server") && kill -QUIT "$(head -n 1 "$data/data/postmaster.pid")"; sleep 1; rm -rf "$data" "$1"',
    folder,
  );
  return () => {
    const started = join(folder, "started");
    if (existsSync(started)) {
      const { pid, folder: data } = JSON.parse(readFileSync(started, "utf8")) as { pid: number; folder: string };
      // Ends the server at once, with its processes: nothing of it is kept.
      process.kill(pid, "SIGQUIT");
      rmSync(data, { recursive: true, maxRetries: 50, retryDelay: 100 });
    }
    rmSync(folder, { recursive: true });
    callOff();
  };
}
