/**
 * Guards a resource: limits how many verifications run and wait, and refuses them while the
 * resource is down. The caller who got the least of its time is next. If the room is full, the
 * caller with the most waiting jobs loses one.
 */
import type { Resource } from "../../../envs/environment.ts";
import type { Facts, Failed } from "../../../envs/facts.ts";
import { sleep } from "../../base/waiting.ts";
import { type AttemptOptions, attemptJob, ATTEMPTS_MAX, CANCELLED, type Job, type JobOutcome } from "./attempt.ts";
import { fairTurns } from "../../base/fair-turns.ts";
import { createHealth, type Health } from "./resource-health.ts";
import { createLimits, type Limits } from "./limit.ts";

/** Delay before the second attempt if the failure names none. Doubles with each further attempt. */
const BACKOFF_MS = 250;
/** A longer retry delay than this goes back to the client, who holds no place meanwhile. */
const WAIT_MAX_MS = 5000;
/** Assumed duration of a verification, until one was measured. */
const FIRST_GUESS_MS = 1000;
const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 60_000;
/** Weight of the newest duration in the moving mean. */
const NEWEST_SHARE = 0.1;

const NEVER = new AbortController().signal;

export interface ResourceLoad {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
  /** True while the resource is not asked because it failed. */
  readonly down: boolean;
}

export interface Gate {
  /** Never rejects. */
  run(job: Job): Promise<JobOutcome>;
  load(): ResourceLoad;
  close(): void;
}

/** An attempt that waits for its turn. */
interface Entry {
  readonly job: Job;
  /** Runs the attempt. Resolves when its place is free again. Never rejects. */
  readonly begin: () => Promise<void>;
  /** Refuses the attempt, so that another caller's job gets its room. */
  readonly makeRoom: (refusal: Failed) => void;
}

/**
 * Creates the gate. `onChange` gets the reason when the resource goes down, and undefined when it
 * may be asked again.
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
   * Runs one attempt when its turn comes. Resolves at the first outcome, and holds the place until
   * the verifier has ended.
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

/** Returns whether the server itself retries. A timeout or an overload would only cost the same again. */
function helpsAgain({ retryable, reason }: Failed): boolean {
  return retryable && reason !== "timeout" && reason !== "overloaded";
}

/** Keeps the running verifications and chooses the next one. */
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
  /** Begins waiting entries while there is room: in all, or for the given caller up to `concurrencyEach`. */
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
    // Charge the expected time now: the real time is known only at the end, and the caller's next
    // job may come earlier.
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
    /** Returns whether a caller with more waiting jobs was made to give one up. */
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

/** Limits how many jobs, and how many bytes of completions, are admitted. */
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
    if (admitted >= concurrencyMax + waitingMax) return overloaded(`${admitted} completions are verified or wait`);
    if (heldBytes + bytes > heldBytesMax) return overloaded(`${heldBytes} bytes of completions are held`);
    return undefined;
  };
  return {
    /** Returns the job's share of the room, by count or by bytes, whichever is larger. */
    shareOf: ({ bytes }: Job): number => Math.max(1 / (concurrencyMax + waitingMax), bytes / Math.max(1, heldBytesMax)),
    /** Returns why the job is refused after `makeRoom` could free no room, or undefined if it may enter. */
    full: (job: Job, makeRoom: (job: Job, refusal: Failed) => boolean): Failed | undefined => {
      const { bytes } = job;
      if (bytes > heldBytesMax) {
        const detail = `the completion has ${bytes} bytes, and at most ${heldBytesMax} are held for '${name}'`;
        return { kind: "failed", reason: "overloaded", detail, retryable: false };
      }
      for (;;) {
        const refusal = lack(bytes);
        if (refusal === undefined || !makeRoom(job, refusal)) return refusal;
      }
    },
    /** Admits the job. Returns a function that releases its room once. */
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

/** A timer may fire this many milliseconds early by the clock. */
const TIMER_EARLY_MS = 2;

/**
 * Returns whether the caller's own deadline passed. This says nothing about the resource, which may
 * take longer.
 */
function isOwnLate(outcome: JobOutcome, { deadlineMs = Infinity }: Job, nowMs: number): boolean {
  return outcome.kind === "failed" && outcome.reason === "timeout" && nowMs >= deadlineMs - TIMER_EARLY_MS;
}

/**
 * Reports an outcome to the resource's health. Overloads and failures of this one answer (not
 * retryable) count as no failure.
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
