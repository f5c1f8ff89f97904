/**
 * The sandbox on this machine. Runs jobs (programs with their test cases) in up to `concurrency` Python processes,
 * called zygotes. A zygote forks a child process for each run of a program. Further jobs wait in a queue.
 */
import PQueue from "p-queue";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import type { AskContext, Sandbox, SandboxJob, SandboxReply } from "../../../envs/ports.ts";
import { assertNever } from "../../../envs/lib/assert-never.ts";
import { JOB_BYTES_MAX } from "./zygote-frames.ts";
import { type KernelIsolation, type StartedZygote, startZygote, type Zygote, type ZygoteOptions } from "./zygote.ts";

export interface EmbeddedOptions extends ZygoteOptions {
  /** Maximum number of jobs that run at the same time. */
  readonly concurrency: number;
  /** Called when a zygote process ended unexpectedly, with the reason. */
  readonly onFault?: (why: string) => void;
}

export interface Embedded extends Sandbox {
  readonly found: KernelIsolation;
  /** Returns the sandbox processes (zygotes) that are running. */
  zygotes(): readonly Zygote[];
  close(): Promise<void>;
}

export type OpenedEmbedded =
  { readonly kind: "opened"; readonly sandbox: Embedded } | { readonly kind: "missing"; readonly why: string };

/**
 * Opens the sandbox with one zygote process. Further zygotes are started when there is work for them, or to replace
 * ended ones.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<OpenedEmbedded> {
  const first = await startZygote(options);
  if (first.kind === "failed") return { kind: "missing", why: first.why };
  return { kind: "opened", sandbox: createEmbedded(first.zygote, options) };
}

function createEmbedded(first: Zygote, options: EmbeddedOptions): Embedded {
  const queue = new PQueue({ concurrency: options.concurrency });
  const all = new Set([first]);
  const idle = [first];
  let closed = false;

  const take = async (): Promise<StartedZygote> => {
    for (let zygote = idle.pop(); zygote !== undefined; zygote = idle.pop()) {
      if (zygote.alive()) return { kind: "started", zygote };
      all.delete(zygote);
    }
    const started = await startZygote(options);
    if (started.kind === "failed") return started;
    if (!closed) all.add(started.zygote);
    else await started.zygote.close();
    return started;
  };

  const attempt = async (job: SandboxJob, { signal }: AskContext): Promise<SandboxReply | Failed> => {
    if (signal.aborted || closed) return CANCELLED;
    const started = await take();
    if (started.kind === "failed") return failed(started.why);
    const { zygote } = started;
    const outcome = await zygote.run(job, signal);
    if (zygote.alive()) idle.push(zygote);
    else all.delete(zygote);
    switch (outcome.kind) {
      case "ran":
        return outcome;
      case "cancelled":
        return CANCELLED;
      case "too_large":
        return { ...failed(`the job has more than ${JOB_BYTES_MAX} bytes`), retryable: false };
      case "fault":
        if (!closed) options.onFault?.(outcome.why);
        return failed(outcome.why);
      case "busy":
        return { ...failed(outcome.why), reason: "overloaded", resource: undefined, retryDelayMs: BUSY_DELAY_MS };
      default:
        return assertNever(outcome);
    }
  };

  return {
    found: first.found,
    zygotes: () => [...all],
    // The queue does not get the abort signal, because it would then start the next job while the process of a
    // cancelled job still runs.
    ask: (job, context) => queue.add(() => attempt(job, context)),
    async close() {
      closed = true;
      await Promise.all([...all].map((zygote) => zygote.close()));
    },
  };
}

/**
 * Delay in milliseconds after which clients should try again if the machine is busy. It lets other programs finish
 * first.
 */
const BUSY_DELAY_MS = 10_000;

const CANCELLED: Failed = Object.freeze({
  kind: "failed",
  reason: "timeout",
  detail: "the caller stopped waiting for the sandbox",
  retryable: true,
});

function failed(why: string): Failed {
  return unavailable("sandbox", `the sandbox: ${why}`);
}
