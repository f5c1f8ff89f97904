/**
 * What asynchronous environments ask. Each resource has limits of its own, on how much it is asked at once and how much
 * waits for it, so that one that is slow or down holds up nobody else's verifications.
 */
import PQueue from "p-queue";
import type { Facts, Failed, Resource, VerifyContext } from "../../envs/environment.ts";
import type { Clock } from "../curriculum/runs/ports.ts";
import { sleep } from "../curriculum/runs/waiting.ts";
import { createHealth } from "./resource-health.ts";
import { bug } from "./sample-result.ts";

/** One verification. */
export interface Job {
  /** Of the completion: what it holds while it waits. */
  readonly bytes: number;
  /** Aborted when nobody needs the result any more; undefined: it is needed whoever waits. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds since the epoch; undefined: only the resource's own limit counts. */
  readonly deadlineMs: number | undefined;
  /** May be called several times, one after the other. */
  readonly verify: (context: VerifyContext) => Promise<Facts | Failed>;
}

export interface Cancelled {
  readonly kind: "cancelled";
}

export type JobOutcome = Facts | Failed | Cancelled;

/** `down`: why it is not asked for now; undefined: it is. */
export type ResourceListener = (name: string, down: string | undefined) => void;

export interface ResourceLoad {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
}

export interface Resources {
  /** Verifies when the resource has room, and tries again where that helps. Never rejects. */
  run(resource: Resource, job: Job): Promise<JobOutcome>;
  /** Tells of each resource that goes down or may be asked again; what it returns ends that. */
  onChange(listener: ResourceListener): () => void;
  load(): readonly ResourceLoad[];
  close(): void;
}

/** Attempts at one verification; after that it is the client's to try again, later. */
export const ATTEMPTS_MAX = 3;
/** Before the second attempt, where the failure does not say how long to wait; then twice as long. */
const BACKOFF_MS = 250;
/** A failure that asks for a longer wait than this is told to the client, who does not hold a place meanwhile. */
const WAIT_MAX_MS = 5000;
/** What a verification takes, until some have been measured. */
const FIRST_GUESS_MS = 1000;
const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 60_000;
/** How much of the mean of past durations the last one is. */
const NEWEST_SHARE = 0.1;

const NEVER = new AbortController().signal;
const CANCELLED: Cancelled = Object.freeze({ kind: "cancelled" });

export interface ResourcesOptions {
  readonly clock: Clock;
  /** Told of each verification that threw. */
  readonly onFailure: (error: unknown, resource: string) => void;
}

export function createResources(options: ResourcesOptions): Resources {
  const gates = new Map<string, Gate>();
  const listeners = new Set<ResourceListener>();
  const gateOf = (resource: Resource): Gate => {
    const known = gates.get(resource.name);
    if (known !== undefined) {
      if (known.resource !== resource) throw new Error(`two resources are named '${resource.name}'`);
      return known;
    }
    const gate = createGate(resource, options, (down) => {
      for (const listener of listeners) listener(resource.name, down);
    });
    gates.set(resource.name, gate);
    return gate;
  };
  return {
    run: (resource, job) => gateOf(resource).run(job),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    load: () => [...gates.values()].map((gate) => gate.load()),
    close: () => {
      for (const gate of gates.values()) gate.close();
    },
  };
}

interface Gate {
  readonly resource: Resource;
  run(job: Job): Promise<JobOutcome>;
  load(): ResourceLoad;
  close(): void;
}

function createGate(
  resource: Resource,
  { clock, onFailure }: ResourcesOptions,
  onChange: (down: string | undefined) => void,
): Gate {
  const { name, concurrencyMax, waitingMax, heldBytesMax } = resource;
  const queue = new PQueue({ concurrency: concurrencyMax });
  const asking = asker(resource, clock, onFailure);
  const { probe } = resource;
  const health = createHealth({
    ...{ resource, clock, onChange },
    probe: probe && (() => asking.probe((context) => probe.call(resource, context))),
  });
  let admitted = 0;
  let heldBytes = 0;
  let meanMs = FIRST_GUESS_MS;

  const overloaded = (what: string): Failed => {
    const delayMs = (meanMs * (admitted + 1)) / concurrencyMax;
    const retryDelayMs = Math.round(Math.min(DELAY_MAX_MS, Math.max(DELAY_MIN_MS, delayMs)));
    return { kind: "failed", reason: "overloaded", detail: `${what} for '${name}'`, retryable: true, retryDelayMs };
  };
  const full = ({ bytes }: Job): Failed | undefined => {
    if (bytes > heldBytesMax) {
      const detail = `the completion has ${bytes} bytes, and at most ${heldBytesMax} are held for '${name}'`;
      return { kind: "failed", reason: "overloaded", detail, retryable: false };
    }
    if (admitted >= concurrencyMax + waitingMax) return overloaded(`${admitted} completions wait or are verified`);
    if (heldBytes + bytes > heldBytesMax) return overloaded(`${heldBytes} bytes of completions wait`);
    return undefined;
  };

  /** One attempt, when its turn comes. Answers as soon as it can, and holds its place until the asking has ended. */
  const inTurn = (job: Job, attempt: number): Promise<JobOutcome> => {
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    const leave = (): void => resolve(CANCELLED);
    const { signal } = job;
    if (signal?.aborted === true) return Promise.resolve(CANCELLED);
    signal?.addEventListener("abort", leave, { once: true });
    const work = async (): Promise<void> => {
      const refusal = health.refusal();
      if (refusal !== undefined) return resolve(refusal);
      const startedAtMs = clock.now();
      await asking.ask(job, attempt, (outcome) => {
        meanMs += NEWEST_SHARE * (clock.now() - startedAtMs - meanMs);
        if (isFailing(outcome)) health.failed(outcome);
        else if (outcome.kind !== "cancelled") health.answered();
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
      if (attempt >= ATTEMPTS_MAX || waitMs > WAIT_MAX_MS || late || health.refusal() !== undefined) return outcome;
      await sleep(clock, waitMs, job.signal ?? NEVER);
      if (job.signal?.aborted === true) return CANCELLED;
    }
  };

  return {
    resource,
    async run(job) {
      const refusal = health.refusal() ?? full(job);
      if (refusal !== undefined) return refusal;
      admitted++;
      heldBytes += job.bytes;
      try {
        return await attempts(job);
      } finally {
        admitted--;
        heldBytes -= job.bytes;
      }
    },
    load: () => ({ name, running: queue.pending, waiting: admitted - Math.min(admitted, queue.pending), heldBytes }),
    close: () => health.close(),
  };
}

/** A failure of the resource: not one that more of the same would bring about, nor of this one answer. */
function isFailing(outcome: JobOutcome): outcome is Failed {
  return outcome.kind === "failed" && outcome.retryable && outcome.reason !== "overloaded";
}

/** Asks a resource within its time limit. */
function asker(resource: Resource, clock: Clock, onFailure: ResourcesOptions["onFailure"]) {
  const { name, timeLimitMs } = resource;
  const timedOut: Failed = {
    ...({ kind: "failed", reason: "timeout", retryable: true } as const),
    detail: `'${name}' took longer than ${timeLimitMs} ms`,
  };

  /** Resolves when the asking has ended; `answer` is called once, at the latest at the limit. */
  const ask = async (
    { signal: caller, deadlineMs = Infinity, verify }: Omit<Job, "bytes">,
    attempt: number,
    answer: (outcome: JobOutcome) => void,
  ): Promise<void> => {
    const limit = new AbortController();
    let answered = false;
    const once = (outcome: JobOutcome): void => {
      if (!answered) answer(caller?.aborted === true ? CANCELLED : outcome);
      answered = true;
    };
    const cancelTimer = clock.setTimer(timeLimitMs, () => {
      limit.abort(new Error(timedOut.detail));
      once(timedOut);
    });
    const signal = caller === undefined ? limit.signal : AbortSignal.any([caller, limit.signal]);
    const untilMs = Math.min(deadlineMs, clock.now() + timeLimitMs);
    try {
      once(await verify({ signal, deadlineMs: untilMs, attempt, attemptsMax: ATTEMPTS_MAX }));
    } catch (error) {
      // What is aborted may reject, and nobody listens.
      if (!signal.aborted) onFailure(error, name);
      once(bug);
    } finally {
      cancelTimer();
    }
  };

  const probe = (work: (context: VerifyContext) => Promise<Failed | undefined>): Promise<Failed | undefined> => {
    const { promise, resolve } = Promise.withResolvers<Failed | undefined>();
    const fine: Facts = { kind: "feasible" };
    const verify = async (context: VerifyContext): Promise<Facts | Failed> => (await work(context)) ?? fine;
    const answer = (outcome: JobOutcome): void => resolve(outcome.kind === "failed" ? outcome : undefined);
    void ask({ signal: undefined, deadlineMs: undefined, verify }, 1, answer);
    return promise;
  };
  return { ask, probe };
}
