/**
 * Runs background jobs in this process, for a command, which has nobody else to answer. Only the code of requested jobs
 * is loaded.
 */
import type { Registry } from "../../envs/registry.ts";
import type { Aside } from "./threads.ts";

export function asideInProcess(registry: Registry): Aside {
  return {
    run: async (job) => ({ kind: "done", value: (await import("./jobs.ts")).runJob(registry, job) }),
    load: () => [],
    close: async () => undefined,
  };
}
