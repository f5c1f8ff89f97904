/**
 * Tasks of one call while they are made: the finished and the waiting ones, the state of their searches, and the cost
 * of their kind.
 */
import { LRUCache } from "lru-cache";
import type { Parameters } from "../../../envs/environment.ts";
import type { SearchProgress } from "../../../envs/instances.ts";
import type { JobSpec, SliceDone } from "./make-slice.ts";
import type { MakeResult } from "../task.ts";

export interface MakeJob {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** Name of the caller whose share of the workers the job uses. */
  readonly caller: string;
}

/** Result of a slice. "timeout": it reached the thread's time limit, and the thread was replaced. */
export type SliceOutcome =
  ({ readonly kind: "done" } & SliceDone) | { readonly kind: "timeout"; readonly limitMs: number };

/** A search that was interrupted, and its cost so far. */
interface InterruptedSearch {
  readonly progress: SearchProgress;
  readonly cpuMs: number;
}

/** A slice of a call's work: the places of its seeds, in order, and the search that its first seed continues. */
export interface JobSlice {
  readonly places: readonly number[];
  readonly seeds: readonly bigint[];
  readonly begun: InterruptedSearch | undefined;
}

export interface Work {
  readonly job: MakeJob;
  readonly kind: Kind;
  /** Results by place of the seed. Undefined: not made yet. */
  readonly results: (MakeResult | undefined)[];
  /** Places of the seeds that no thread is working on, the next one first. */
  readonly pending: number[];
  /** Interrupted searches by place. */
  readonly begun: Map<number, InterruptedSearch>;
  /** Whether a slice has reached the time limit. Each task then gets its own slice, so that the slow one is found. */
  alone: boolean;
  /** Number of seeds without a result. */
  left: number;
  isQueued: boolean;
  settled: boolean;
  /** Resolves the call. Tasks without a result are cancelled. */
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/** Intended length of a slice, in milliseconds: long compared with its messages, and short compared with waits. */
const SLICE_MS = 10;
const SLICE_TASKS_MAX = 256;

/** Returns the number of tasks in a slice of the intended length. */
export function sliceSize({ kind, alone }: Pick<Work, "kind" | "alone">): number {
  if (alone || kind.leastMs === undefined) return 1;
  return Math.max(1, Math.min(SLICE_TASKS_MAX, Math.floor(SLICE_MS / kind.leastMs)));
}

/** Removes the next slice from the work. */
export function takeTurn({ job, kind, alone, pending, begun }: Work): JobSlice {
  const size = sliceSize({ kind, alone });
  // Only the first seed of a slice can continue a search.
  const next = begun.size === 0 ? -1 : pending.findIndex((place, i) => i > 0 && i < size && begun.has(place));
  const places = pending.splice(0, next < 0 ? size : next);
  const [first = -1] = places;
  const from = begun.get(first);
  begun.delete(first);
  return { places, seeds: places.map((place) => job.seeds[place]!), begun: from };
}

/** Records the outcome of a turn. Its unfinished seeds come next. */
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
  // An interrupted search costs at least the time it took so far.
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

// Costs of tasks, measured by kind.

/** Tasks of one environment and one set of parameters. */
export interface Kind {
  /** CPU time of one task with compiled code, in milliseconds. Undefined: none was made yet. */
  leastMs: number | undefined;
  /** Recent CPU time of one task, in milliseconds. */
  recentMs: number;
}

export interface Costs {
  of(spec: Pick<JobSpec, "environment" | "version" | "parameters">): Kind;
  /** Records the CPU time of several tasks of a kind together. */
  took(kind: Kind, cpuMs: number, tasks: number): void;
}

/** Maximum number of kinds that are remembered. */
const KINDS_MAX = 4096;
/** Weight of tasks that are slower than earlier ones. The first tasks of a thread run code that is not compiled yet. */
const SLOWER_SHARE = 0.1;
/** Weight of the newest task in the recent cost. A single task on a busy machine does not make its kind expensive. */
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
