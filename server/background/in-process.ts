/**
 * Runs background jobs (pictures, simulations etc.) without a thread, for CLI commands, which have no other callers to
 * serve while a job runs. The jobs' code is loaded at the first job.
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
