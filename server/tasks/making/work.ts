/**
 * The tasks that one call wants, while they are made: which are done, which wait, how far their searches are, and what
 * tasks of their kind cost.
 */
import { LRUCache } from "lru-cache";
import type { Parameters } from "../../../envs/environment.ts";
import type { SearchProgress } from "../../../envs/instances.ts";
import type { JobSpec, SliceDone } from "./jobs.ts";
import type { MakeResult } from "../task.ts";

export interface MakeJob {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** Whose share of the workers it comes out of. */
  readonly caller: string;
}

/** What a thread made of a slice. "timeout": it ran into the thread's limit, and the thread was replaced. */
export type SliceOutcome =
  ({ readonly kind: "done" } & SliceDone) | { readonly kind: "timeout"; readonly limitMs: number };

/** A search that was broken off, and what it has cost. */
interface Begun {
  readonly progress: SearchProgress;
  readonly cpuMs: number;
}

/** Places of seeds that a thread makes the tasks of, in order, and the search that the first of them goes on with. */
export interface Turn {
  readonly places: readonly number[];
  readonly seeds: readonly bigint[];
  readonly begun: Begun | undefined;
}

export interface Work {
  readonly job: MakeJob;
  readonly kind: Kind;
  /** By seed; undefined: not yet made. */
  readonly results: (MakeResult | undefined)[];
  /** Places of seeds that no thread is on, the first to be made next. */
  readonly pending: number[];
  /** By place. */
  readonly begun: Map<number, Begun>;
  /** One of its slices ran into the limit: from then on each task has a slice, so that it is known which one does. */
  alone: boolean;
  /** Seeds without a result. */
  left: number;
  isQueued: boolean;
  settled: boolean;
  /** Answers the call; what has no result is cancelled. */
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/** How long a slice should take, milliseconds: long beside its messages, short beside what others may wait. */
const SLICE_MS = 10;
const SLICE_TASKS_MAX = 256;

/** Tasks for a slice of the usual length. */
export function sliceSize({ kind, alone }: Pick<Work, "kind" | "alone">): number {
  if (alone || kind.leastMs === undefined) return 1;
  return Math.max(1, Math.min(SLICE_TASKS_MAX, Math.floor(SLICE_MS / kind.leastMs)));
}

/** Takes out what is to be made next. */
export function takeTurn({ job, kind, alone, pending, begun }: Work): Turn {
  const size = sliceSize({ kind, alone });
  // Only the first of a slice can be gone on with.
  const next = begun.size === 0 ? -1 : pending.findIndex((place, i) => i > 0 && i < size && begun.has(place));
  const places = pending.splice(0, next < 0 ? size : next);
  const [first = -1] = places;
  const from = begun.get(first);
  begun.delete(first);
  return { places, seeds: places.map((place) => job.seeds[place]!), begun: from };
}

/** Puts down what came of a turn; the rest of it is to be made next. */
export function takeIn(work: Work, costs: Costs, turn: Turn, outcome: SliceOutcome): void {
  const done = outcome.kind === "done" ? takeResults(work, costs, turn, outcome) : takeTimeout(work, turn, outcome);
  work.left -= done;
  work.pending.unshift(...turn.places.slice(done));
}

function takeResults(work: Work, costs: Costs, { places, begun }: Turn, outcome: SliceDone): number {
  const { results } = outcome;
  const done = results.length;
  for (const [i, result] of results.entries()) work.results[places[i]!] = result;
  const cpuMs = outcome.cpuMs + (begun?.cpuMs ?? 0);
  // A search that was broken off costs what it has so far, at least.
  costs.took(work.kind, cpuMs, Math.max(1, done));
  const progress = outcome.paused;
  if (progress !== undefined) work.begun.set(places[done]!, { progress, cpuMs: done === 0 ? cpuMs : 0 });
  return done;
}

function takeTimeout(work: Work, { places }: Turn, { limitMs }: { readonly limitMs: number }): number {
  work.alone = true;
  if (places.length > 1) return 0;
  work.results[places[0]!] = { kind: "timeout", message: `making the task took longer than ${limitMs} ms` };
  return 1;
}

// What tasks cost to make, by what those before of their kind did.

/** Tasks of one environment and one set of parameters. */
export interface Kind {
  /** CPU of one once its code is warm, milliseconds; undefined: none was made yet. */
  leastMs: number | undefined;
  /** CPU of one lately, milliseconds. */
  recentMs: number;
}

export interface Costs {
  of(spec: Pick<JobSpec, "environment" | "version" | "parameters">): Kind;
  /** What so many tasks of a kind cost together. */
  took(kind: Kind, cpuMs: number, tasks: number): void;
}

/** Kinds that are remembered. */
const KINDS_MAX = 4096;
/** How much slower tasks than those before count: the first of a thread run cold code. */
const SLOWER_SHARE = 0.1;
/** How much the newest count in what tasks cost lately: one that met a busy machine makes no kind dear. */
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
