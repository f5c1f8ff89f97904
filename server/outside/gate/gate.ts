/**
 * Protects a resource (e.g. the sandbox). Limits how many verifications run and wait, and refuses them while the
 * resource is down.
 *
 * The caller that has used the resource least comes next. If the queue is full, a new job displaces the newest waiting
 * job of the caller with the most waiting, or of the same caller's connection with the most. If its own caller or
 * connection would then have as much waiting, the new job is refused instead.
 */
import type { Resource } from "../../../envs/resource.ts";
import type { Facts, Failed } from "../../../envs/facts.ts";
import { sleep } from "../../base/waiting.ts";
import { type AttemptOptions, attemptJob, ATTEMPTS_MAX, CANCELLED, type Job, type JobOutcome } from "./attempt.ts";
import { fairTurns } from "../../base/fair-turns.ts";
import { createHealth, type Health } from "./resource-health.ts";
import { createLimits, type Limits } from "./limit.ts";

/**
 * Delay between a job's first and second attempt, in milliseconds, unless the failure names another delay. Doubles with
 * each further attempt.
 */
const BACKOFF_MS = 250;
/**
 * Maximum delay before a retry, in milliseconds, during which the server keeps the job. If the delay is longer, the job
 * fails and the client must retry, so that the job does not block others.
 */
const WAIT_MAX_MS = 5000;
/** Duration, in milliseconds, that is assumed for a verification before any has been measured. */
const FIRST_GUESS_MS = 1000;
const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 60_000;
/** Weight of the newest duration in the moving average of durations, from 0 to 1. */
const NEWEST_SHARE = 0.1;

const NEVER = new AbortController().signal;

export interface ResourceLoad {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
  /** Whether the resource has failed and is not used for now. */
  readonly down: boolean;
}

export interface Gate {
  /** Verifies an answer, with retries. Never rejects. */
  run(job: Job): Promise<JobOutcome>;
  load(): ResourceLoad;
  close(): void;
}

/**
 * A job (e.g. one answer to verify) in the queue of a resource. Its next attempt starts when the fair queue chooses it.
 */
interface Entry {
  readonly job: Job;
  /**
   * Runs the job's next attempt. Resolves when the verifier has ended, so that another attempt can run in its place.
   * Never rejects.
   */
  readonly begin: () => Promise<void>;
  /** Refuses the waiting job with this failure, so that another caller's job can take its place in the queue. */
  readonly makeRoom: (refusal: Failed) => void;
}

/**
 * Creates the gate of a resource. `onChange` is called with the reason when the resource goes down, and with undefined
 * when it works again.
 */
export function createGate(
  resource: Resource,
  options: AttemptOptions,
  onChange: (down: string | undefined) => void,
): Gate {
  const { clock } = options;
  const { probe, attemptsMax = ATTEMPTS_MAX } = resource;
  const room = createRoom(resource);
  const attempting = { ...options, limits: createLimits(resource, clock) };
  const places = createPlaces(resource, options, room);
  const ask = probe && (() => probeOnce(resource, probe, attempting));
  const health = createHealth({ resource, clock, onChange, probe: ask });

  /**
   * Queues one attempt of a job, and resolves with its outcome. The attempt counts as running until the verifier has
   * really ended, even after a timeout.
   */
  const inTurn = (job: Job, attempt: number, leaveRoom: () => void): Promise<JobOutcome> => {
    const { signal } = job;
    if (signal?.aborted === true) return Promise.resolve(CANCELLED);
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    const begin = async (): Promise<void> => {
      const refusal = health.refusal();
      if (refusal !== undefined) return resolve(refusal);
      const startedAtMs = clock.now();
      await attemptJob(resource, job, attempt, attempting, (outcome) => {
        room.measured(clock.now() - startedAtMs);
        if (!isOwnLate(outcome, job, clock.now())) tell(health, outcome);
        resolve(outcome);
      });
    };
    const entry: Entry = {
      job,
      begin,
      makeRoom: (refusal) => {
        leaveRoom();
        resolve(refusal);
      },
    };
    const leave = (): void => {
      places.leave(entry);
      resolve(CANCELLED);
    };
    signal?.addEventListener("abort", leave, { once: true });
    places.enter(entry);
    return promise.finally(() => signal?.removeEventListener("abort", leave));
  };

  const attempts = async (job: Job, leaveRoom: () => void): Promise<JobOutcome> => {
    for (let attempt = 1; ; attempt++) {
      const outcome = await inTurn(job, attempt, leaveRoom);
      if (outcome.kind !== "failed" || !helpsAgain(outcome)) return outcome;
      const waitMs = outcome.retryDelayMs ?? BACKOFF_MS * 2 ** (attempt - 1);
      const late = clock.now() + waitMs >= (job.deadlineMs ?? Infinity);
      if (attempt >= attemptsMax || waitMs > WAIT_MAX_MS || late || health.refusal() !== undefined) return outcome;
      await sleep(clock, waitMs, job.signal ?? NEVER);
      if (job.signal?.aborted === true) return CANCELLED;
    }
  };

  return {
    async run(job) {
      const refusal = health.refusal() ?? room.full(job, places.makeRoom);
      if (refusal !== undefined) return refusal;
      const leaveRoom = room.enter(job);
      return attempts(job, leaveRoom).finally(leaveRoom);
    },
    load: () => {
      const running = places.running();
      return { name: resource.name, running, ...room.load(running), down: health.refusal() !== undefined };
    },
    close: () => health.close(),
  };
}

/**
 * Returns whether the server itself should retry after this failure. After a timeout or an overload it should not,
 * because a retry would take as long again.
 */
function helpsAgain({ retryable, reason }: Failed): boolean {
  return retryable && reason !== "timeout" && reason !== "overloaded";
}

/** Counts the running attempts, and chooses which waiting attempt runs next. */
function createPlaces({ concurrencyMax, concurrencyEach = 0 }: Resource, { clock }: AttemptOptions, room: Room) {
  const turns = fairTurns<Entry>();
  const runningOf = new Map<string, number>();
  let running = 0;
  const count = (caller: string, change: 1 | -1): void => {
    running += change;
    const own = (runningOf.get(caller) ?? 0) + change;
    if (own === 0) runningOf.delete(caller);
    else runningOf.set(caller, own);
  };
  /**
   * Starts waiting attempts of any caller while fewer than `concurrencyMax` run. At that limit, still starts attempts
   * of `caller` while fewer than `concurrencyEach` of this caller's run.
   */
  const dispatch = (caller: string): void => {
    for (;;) {
      const entry =
        (running < concurrencyMax ? turns.next() : undefined) ??
        ((runningOf.get(caller) ?? 0) < concurrencyEach ? turns.next(caller) : undefined);
      if (entry === undefined) return;
      void take(entry);
    }
  };
  const take = async ({ job, begin }: Entry): Promise<void> => {
    const { caller } = job.party;
    count(caller, 1);
    const startedAtMs = clock.now();
    // The expected time is charged to the caller at the start. The measured time replaces it at the end, when the
    // caller may already have started more jobs.
    const expectedMs = room.meanMs();
    turns.expect(job.party, expectedMs);
    await begin().finally(() => {
      turns.expect(job.party, -expectedMs);
      turns.charge(job.party, Math.max(0, clock.now() - startedAtMs));
      count(caller, -1);
      dispatch(caller);
    });
  };
  return {
    running: () => running,
    enter(entry: Entry): void {
      turns.add(entry.job.party, entry, room.shareOf(entry.job));
      dispatch(entry.job.party.caller);
    },
    leave: (entry: Entry): void => turns.remove(entry.job.party, entry),
    /**
     * Refuses the newest waiting job of the caller with the most waiting (or of the same caller's connection with the
     * most), in favour of `job`. Returns false, and refuses none, if `job` must be refused instead.
     */
    makeRoom: (job: Job, refusal: Failed): boolean => {
      const entry = turns.outweighed(job.party, room.shareOf(job));
      if (entry === undefined) return false;
      turns.remove(entry.job.party, entry);
      entry.makeRoom(refusal);
      return true;
    },
  };
}

type Room = ReturnType<typeof createRoom>;

/** Limits how many jobs a resource has, running and waiting together, and how many bytes their completions have. */
function createRoom({ name, concurrencyMax, waitingMax, heldBytesMax }: Resource) {
  let admitted = 0;
  let heldBytes = 0;
  let meanMs = FIRST_GUESS_MS;
  const overloaded = (what: string): Failed => {
    const delayMs = (meanMs * (admitted + 1)) / concurrencyMax;
    const retryDelayMs = Math.round(Math.min(DELAY_MAX_MS, Math.max(DELAY_MIN_MS, delayMs)));
    return { kind: "failed", reason: "overloaded", detail: `${what} for '${name}'`, retryable: true, retryDelayMs };
  };
  const lack = (bytes: number): Failed | undefined => {
    if (admitted >= concurrencyMax + waitingMax)
      return overloaded(`the maximum of ${admitted} completions are being verified or waiting`);
    if (heldBytes + bytes > heldBytesMax)
      return overloaded(`${heldBytes} bytes of memory are in use, near the maximum, by completions`);
    return undefined;
  };
  return {
    /**
     * Returns how much of the limits a job uses, from 0 to 1: its share of the jobs or its share of the bytes,
     * whichever is larger.
     */
    shareOf: ({ bytes }: Job): number => Math.max(1 / (concurrencyMax + waitingMax), bytes / Math.max(1, heldBytesMax)),
    /**
     * Returns the failure with which a job is refused; undefined if the limits allow the job. Calls `makeRoom` to
     * refuse another caller's job instead, if possible.
     */
    full: (job: Job, makeRoom: (job: Job, refusal: Failed) => boolean): Failed | undefined => {
      const { bytes } = job;
      if (bytes > heldBytesMax) {
        const detail = `the completion has ${bytes} bytes, but all completions for '${name}' together may have only ${heldBytesMax}`;
        return { kind: "failed", reason: "overloaded", detail, retryable: false };
      }
      for (;;) {
        const refusal = lack(bytes);
        if (refusal === undefined || !makeRoom(job, refusal)) return refusal;
      }
    },
    /** Adds a job and its bytes to the totals. Returns a function that subtracts them again. */
    enter: ({ bytes }: Job): (() => void) => {
      let inside = true;
      admitted++;
      heldBytes += bytes;
      return () => {
        if (!inside) return;
        inside = false;
        admitted--;
        heldBytes -= bytes;
      };
    },
    measured: (ms: number): void => {
      meanMs += NEWEST_SHARE * (ms - meanMs);
    },
    meanMs: () => meanMs,
    load: (running: number) => ({ waiting: Math.max(0, admitted - running), heldBytes }),
  };
}

/** Milliseconds by which timers may fire too early. */
const TIMER_EARLY_MS = 2;

/**
 * Returns whether a job failed only because its own caller set a short deadline. Such a failure says nothing about the
 * resource.
 */
function isOwnLate(outcome: JobOutcome, { deadlineMs = Infinity }: Job, nowMs: number): boolean {
  return outcome.kind === "failed" && outcome.reason === "timeout" && nowMs >= deadlineMs - TIMER_EARLY_MS;
}

/**
 * Tells the resource's health tracker whether an attempt succeeded. Overloads count neither as success nor as failure;
 * a failure that concerns only this answer counts as success.
 */
function tell(health: Health, outcome: JobOutcome): void {
  if (outcome.kind === "cancelled") return;
  if (outcome.kind !== "failed" || !outcome.retryable) health.answered();
  else if (outcome.reason !== "overloaded") health.failed(outcome);
}

function probeOnce(
  resource: Resource,
  probe: NonNullable<Resource["probe"]>,
  options: AttemptOptions & { readonly limits: Limits },
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
