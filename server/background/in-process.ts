/**
 * Runs background jobs in this process, for a command, which has nobody else to answer. Only the code of requested jobs
 * is loaded.
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
