/** Counts the sandbox's jobs and test cases by outcome, for the metrics. */
import type { Failed } from "../../../envs/facts.ts";
import type { Sandbox, SandboxReply } from "../../../envs/ports.ts";
import { byName, counter, countUp, one, type SampledMetric } from "../../runtime/sampled-metrics.ts";

export interface SandboxFigures {
  /** Number of jobs by outcome: "ran", or the reason for the failure. */
  readonly jobs: ReadonlyMap<string, number>;
  /** Number of test cases by the kind of their result, e.g. "returned", "raised" or "exceeded". */
  readonly cases: ReadonlyMap<string, number>;
  /** Total time of the jobs in seconds. Includes waiting in the queue. */
  readonly seconds: number;
}

export interface CountedSandbox extends Sandbox {
  figures(): SandboxFigures;
}

export function counted(sandbox: Sandbox, clock: () => number = () => performance.now()): CountedSandbox {
  const [jobs, cases] = [new Map<string, number>(), new Map<string, number>()];
  let seconds = 0;
  const count = (reply: SandboxReply | Failed): void => {
    countUp(jobs, reply.kind === "ran" ? "ran" : reply.reason);
    if (reply.kind === "ran") for (const { kind } of reply.results) countUp(cases, kind);
  };
  return {
    async ask(job, context) {
      const startedAtMs = clock();
      const reply = await sandbox.ask(job, context);
      seconds += (clock() - startedAtMs) / 1000;
      count(reply);
      return reply;
    },
    figures: () => ({ jobs, cases, seconds }),
  };
}

export function sandboxMetrics(figures: () => SandboxFigures): readonly SampledMetric[] {
  return [
    counter(
      "gradus_sandbox_jobs_total",
      "Programs given to the sandbox, by outcome: ran, or the reason of the failure.",
      () => byName("outcome", figures().jobs),
    ),
    counter("gradus_sandbox_cases_total", "Test cases that programs were run with, by outcome.", () =>
      byName("result", figures().cases),
    ),
    counter("gradus_sandbox_seconds_total", "Seconds that the jobs took, including the wait in the queue.", () =>
      one(figures().seconds),
    ),
  ];
}
