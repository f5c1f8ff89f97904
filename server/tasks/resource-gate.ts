/** The way to one resource: so many verifications at once, so many waiting, and none while it is down. */
import PQueue from "p-queue";
import type { Resource } from "../../envs/environment.ts";
import type { Facts, Failed } from "../../envs/facts.ts";
import { sleep } from "../curriculum/runs/watch.ts";
import {
  type AttemptOptions,
  attemptJob,
  ATTEMPTS_MAX,
  CANCELLED,
  type Job,
  type JobOutcome,
} from "./resource-attempt.ts";
import { createHealth, type Health } from "./resource-health.ts";

/** Before the second attempt, where the failure does not say how long to wait; then twice as long. */
const BACKOFF_MS = 250;
/** A failure that asks for a longer wait than this is told to the client, who holds no place meanwhile. */
const WAIT_MAX_MS = 5000;
/** What a verification takes, until some have been measured. */
const FIRST_GUESS_MS = 1000;
const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 60_000;
/** How much of the mean of past durations the last one is. */
const NEWEST_SHARE = 0.1;

const NEVER = new AbortController().signal;

export interface ResourceLoad {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
}

export interface Gate {
  /** Never rejects. */
  run(job: Job): Promise<JobOutcome>;
  load(): ResourceLoad;
  close(): void;
}

/** `onChange` is told why the resource is down, and undefined when it may be asked again. */
export function createGate(
  resource: Resource,
  options: AttemptOptions,
  onChange: (down: string | undefined) => void,
): Gate {
  const { clock } = options;
  const queue = new PQueue({ concurrency: resource.concurrencyMax });
  const room = createRoom(resource);
  const { probe, attemptsMax = ATTEMPTS_MAX } = resource;
  const health = createHealth({
    ...{ resource, clock, onChange },
    probe: probe && (() => probeOnce(resource, probe, options)),
  });

  /** One attempt, when its turn comes. Answers as soon as it can, and holds its place until the verifier has ended. */
  const inTurn = (job: Job, attempt: number): Promise<JobOutcome> => {
    const { signal } = job;
    if (signal?.aborted === true) return Promise.resolve(CANCELLED);
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    const leave = (): void => resolve(CANCELLED);
    signal?.addEventListener("abort", leave, { once: true });
    const work = async (): Promise<void> => {
      const refusal = health.refusal();
      if (refusal !== undefined) return resolve(refusal);
      const startedAtMs = clock.now();
      await attemptJob(resource, job, attempt, options, (outcome) => {
        room.measured(clock.now() - startedAtMs);
        tell(health, outcome);
        resolve(outcome);
      });
    };
    // A wait that was left has been answered.
    void queue.add(work, signal === undefined ? {} : { signal }).catch(() => undefined);
    return promise.finally(() => signal?.removeEventListener("abort", leave));
  };

  const attempts = async (job: Job): Promise<JobOutcome> => {
    for (let attempt = 1; ; attempt++) {
      const outcome = await inTurn(job, attempt);
      if (outcome.kind !== "failed" || !outcome.retryable) return outcome;
      const waitMs = outcome.retryDelayMs ?? BACKOFF_MS * 2 ** (attempt - 1);
      const late = clock.now() + waitMs >= (job.deadlineMs ?? Infinity);
      if (attempt >= attemptsMax || waitMs > WAIT_MAX_MS || late || health.refusal() !== undefined) return outcome;
      await sleep(clock, waitMs, job.signal ?? NEVER);
      if (job.signal?.aborted === true) return CANCELLED;
    }
  };

  return {
    run: async (job) => health.refusal() ?? room.full(job) ?? (await room.hold(job, () => attempts(job))),
    load: () => {
      const { pending: running } = queue;
      return { name: resource.name, running, ...room.load(running) };
    },
    close: () => health.close(),
  };
}

/** How much is let in. */
function createRoom({ name, concurrencyMax, waitingMax, heldBytesMax }: Resource) {
  let admitted = 0;
  let heldBytes = 0;
  let meanMs = FIRST_GUESS_MS;
  const overloaded = (what: string): Failed => {
    const delayMs = (meanMs * (admitted + 1)) / concurrencyMax;
    const retryDelayMs = Math.round(Math.min(DELAY_MAX_MS, Math.max(DELAY_MIN_MS, delayMs)));
    return { kind: "failed", reason: "overloaded", detail: `${what} for '${name}'`, retryable: true, retryDelayMs };
  };
  return {
    /** Why the job is not let in; undefined: it may be. */
    full: ({ bytes }: Job): Failed | undefined => {
      if (bytes > heldBytesMax) {
        const detail = `the completion has ${bytes} bytes, and at most ${heldBytesMax} are held for '${name}'`;
        return { kind: "failed", reason: "overloaded", detail, retryable: false };
      }
      if (admitted >= concurrencyMax + waitingMax) return overloaded(`${admitted} completions are verified or wait`);
      if (heldBytes + bytes > heldBytesMax) return overloaded(`${heldBytes} bytes of completions are held`);
      return undefined;
    },
    hold: async (job: Job, work: () => Promise<JobOutcome>): Promise<JobOutcome> => {
      admitted++;
      heldBytes += job.bytes;
      try {
        return await work();
      } finally {
        admitted--;
        heldBytes -= job.bytes;
      }
    },
    measured: (ms: number): void => {
      meanMs += NEWEST_SHARE * (ms - meanMs);
    },
    load: (running: number) => ({ waiting: Math.max(0, admitted - running), heldBytes }),
  };
}

/** Counts as the resource's failure what more of the same would not bring about, and what is not of this one answer. */
function tell(health: Health, outcome: JobOutcome): void {
  if (outcome.kind === "cancelled") return;
  if (outcome.kind !== "failed" || !outcome.retryable) health.answered();
  else if (outcome.reason !== "overloaded") health.failed(outcome);
}

function probeOnce(
  resource: Resource,
  probe: NonNullable<Resource["probe"]>,
  options: AttemptOptions,
): Promise<Failed | undefined> {
  const { promise, resolve } = Promise.withResolvers<Failed | undefined>();
  const answers: Facts = { kind: "feasible" };
  const job = {
    signal: undefined,
    deadlineMs: undefined,
    verify: async (context: Parameters<typeof probe>[0]) => (await probe(context)) ?? answers,
  };
  void attemptJob(resource, job, 1, options, (outcome) => resolve(outcome.kind === "failed" ? outcome : undefined));
  return promise;
}
