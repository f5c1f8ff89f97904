/** Tasks of a teacher that were accepted for one run and one spec, and those that it has given out. */
import type { MadeTask } from "../../tasks/task.ts";

/** Given tasks that are remembered: more than a run makes ahead of its draw, for what it asks for again. */
const GIVEN_MAX = 4096;
/** Hashes of a run: what is older may come again, and the run's own memory of what it issued passes over it. */
const KNOWN_MAX = 2 ** 17;

/** The hashes of what was accepted for a run. */
export type Known = Set<string>;

export function learn(known: Known, hash: string): void {
  known.add(hash);
  if (known.size > KNOWN_MAX) forgetOldest(known);
}

export interface Shelf {
  /** Accepted, not yet given, oldest first. */
  readonly ready: MadeTask[];
  /** By place. */
  readonly given: Map<string, MadeTask>;
  /** Requests that are under way; it resolves to why none of them gave a task. */
  asking: Promise<Failure | undefined> | undefined;
  /** Requests so far. */
  requests: number;
}

export interface Failure {
  readonly message: string;
  readonly retryDelayMs: number;
}

export const newShelf = (): Shelf => ({ ready: [], given: new Map(), asking: undefined, requests: 0 });

/** The task of a place: the one it had, or the next that is ready. */
export function give({ ready, given }: Shelf, place: string): MadeTask | undefined {
  const task = given.get(place) ?? ready.shift();
  if (task === undefined) return undefined;
  given.set(place, task);
  if (given.size > GIVEN_MAX) forgetOldest(given);
  return task;
}

function forgetOldest(of: Set<string> | Map<string, unknown>): void {
  const [oldest] = of.keys();
  if (oldest !== undefined) of.delete(oldest);
}
