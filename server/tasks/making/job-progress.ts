/**
 * Tracks a call that makes tasks: which tasks are made or waiting, and searches for an instance that a time limit
 * interrupted. Also estimates the CPU time of a task.
 */
import { LRUCache } from "lru-cache";
import type { Parameters } from "../../../envs/environment.ts";
import type { SearchProgress } from "../../../envs/instances.ts";
import type { JobSpec, SliceDone } from "./make-slice.ts";
import type { MakeResult } from "../task.ts";

export interface MakeJob {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** Name of the caller. Callers get equal shares of the workers. */
  readonly caller: string;
}

/**
 * Result of a slice, i.e. of the tasks that a worker thread got at once. "timeout" means that the slice reached the
 * worker's time limit and the worker was replaced.
 */
export type SliceOutcome =
  ({ readonly kind: "done" } & SliceDone) | { readonly kind: "timeout"; readonly limitMs: number };

/** Interrupted search for the instance of a seed, and the search's CPU time so far. */
interface InterruptedSearch {
  readonly progress: SearchProgress;
  readonly cpuMs: number;
}

/**
 * Slice of a call's work: some of the call's seeds, and their positions among all seeds of the call. `begun` is the
 * interrupted search for the first seed's instance.
 */
export interface JobSlice {
  readonly places: readonly number[];
  readonly seeds: readonly bigint[];
  readonly begun: InterruptedSearch | undefined;
}

export interface Work {
  readonly job: MakeJob;
  readonly kind: Kind;
  /** Result of each seed, in the order of the call. Undefined: the seed's task is not made yet. */
  readonly results: (MakeResult | undefined)[];
  /**
   * Positions of the seeds whose tasks are neither made nor being made by a worker, in the order in which they will be
   * made.
   */
  readonly pending: number[];
  /** Interrupted searches for an instance, by the position of their seed in the call. */
  readonly begun: Map<number, InterruptedSearch>;
  /**
   * Whether a slice of this call has reached the worker's time limit. If so, each further slice has only one task, so
   * that the slow task is found.
   */
  alone: boolean;
  /** Number of seeds whose tasks have no result yet. */
  left: number;
  isQueued: boolean;
  settled: boolean;
  /** Resolves the call's promise. Tasks without a result count as cancelled. */
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Intended duration of a slice (the tasks that a worker thread gets at once), in milliseconds. It is long compared with
 * sending messages to a worker, and short compared with waiting times of callers.
 */
const SLICE_MS = 10;
const SLICE_TASKS_MAX = 256;

/** Returns the number of tasks with which a slice takes about SLICE_MS. */
export function sliceSize({ kind, alone }: Pick<Work, "kind" | "alone">): number {
  if (alone || kind.leastMs === undefined) return 1;
  return Math.max(1, Math.min(SLICE_TASKS_MAX, Math.floor(SLICE_MS / kind.leastMs)));
}

/** Removes the next slice, i.e. the seeds that a worker gets at once, from a call's waiting work and returns it. */
export function takeTurn({ job, kind, alone, pending, begun }: Work): JobSlice {
  const size = sliceSize({ kind, alone });
  // A slice can continue an interrupted search only for its first seed, so it ends before the next such seed.
  const next = begun.size === 0 ? -1 : pending.findIndex((place, i) => i > 0 && i < size && begun.has(place));
  const places = pending.splice(0, next < 0 ? size : next);
  const [first = -1] = places;
  const from = begun.get(first);
  begun.delete(first);
  return { places, seeds: places.map((place) => job.seeds[place]!), begun: from };
}

/**
 * Records the result of a slice of a call's work. Seeds whose tasks the slice did not finish are the next to be made.
 */
export function takeIn(work: Work, costs: Costs, turn: JobSlice, outcome: SliceOutcome): void {
  const done = outcome.kind === "done" ? takeResults(work, costs, turn, outcome) : takeTimeout(work, turn, outcome);
  work.left -= done;
  work.pending.unshift(...turn.places.slice(done));
}

function takeResults(work: Work, costs: Costs, { places, begun }: JobSlice, outcome: SliceDone): number {
  const { results } = outcome;
  const done = results.length;
  for (const [i, result] of results.entries()) work.results[places[i]!] = result;
  const cpuMs = outcome.cpuMs + (begun?.cpuMs ?? 0);
  // If the slice finished no task, its CPU time counts as the cost of one task, because the interrupted task costs at
  // least that.
  costs.took(work.kind, cpuMs, Math.max(1, done));
  const progress = outcome.paused;
  if (progress !== undefined) work.begun.set(places[done]!, { progress, cpuMs: done === 0 ? cpuMs : 0 });
  return done;
}

function takeTimeout(work: Work, { places }: JobSlice, { limitMs }: { readonly limitMs: number }): number {
  work.alone = true;
  if (places.length > 1) return 0;
  work.results[places[0]!] = { kind: "timeout", message: `making the task took longer than ${limitMs} ms` };
  return 1;
}

// Functions that measure and estimate the CPU time of making a task, for each environment with its parameters.

/** Cost of a kind of task, i.e. of one environment with one set of parameters. */
export interface Kind {
  /** Estimated CPU time of one task in milliseconds, near the lowest measured. Undefined: no task was made yet. */
  leastMs: number | undefined;
  /** Moving average of the CPU time of one task, in milliseconds. */
  recentMs: number;
}

export interface Costs {
  of(spec: Pick<JobSpec, "environment" | "version" | "parameters">): Kind;
  /** Records the CPU time that several tasks of a kind took together. */
  took(kind: Kind, cpuMs: number, tasks: number): void;
}

/** Maximum number of kinds whose costs are remembered. */
const KINDS_MAX = 4096;
/**
 * Weight, in the estimate `leastMs`, of a task that took longer than the estimate. It is small, because the first tasks
 * of a thread run code that is not compiled yet.
 */
const SLOWER_SHARE = 0.1;
/**
 * Weight of the newest tasks in the moving average `recentMs`. It is small, so that one slow task on a busy machine
 * changes little.
 */
const RECENT_SHARE = 0.2;

export function createCosts(): Costs {
  const kinds = new LRUCache<string, Kind>({ max: KINDS_MAX });
  const names = new WeakMap<Parameters, string>();
  const nameOf = (parameters: Parameters): string => {
    const known = names.get(parameters) ?? JSON.stringify(parameters);
    names.set(parameters, known);
    return known;
  };
  return {
    of({ environment, version, parameters }) {
      const name = `${environment} ${version} ${nameOf(parameters)}`;
      const kind = kinds.get(name) ?? { leastMs: undefined, recentMs: 0 };
      kinds.set(name, kind);
      return kind;
    },
    took(kind, cpuMs, tasks) {
      const ms = cpuMs / tasks;
      const least = kind.leastMs ?? ms;
      kind.recentMs = kind.leastMs === undefined ? ms : kind.recentMs + RECENT_SHARE * (ms - kind.recentMs);
      kind.leastMs = least + (ms > least ? SLOWER_SHARE : 1) * (ms - least);
    },
  };
}
