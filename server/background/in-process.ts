/**
 * Runs background jobs in this process instead of a thread, for CLI commands, which answer nobody else meanwhile. The
 * code of jobs is loaded at the first job.
 */
import type { Registry } from "../../envs/registry.ts";
import type { Background } from "./background-threads.ts";

export function backgroundInProcess(registry: Registry): Background {
  return {
    run: async (job) => ({ kind: "done", value: (await import("./background-jobs.ts")).runJob(registry, job) }),
    load: () => [],
    close: async () => undefined,
  };
}
