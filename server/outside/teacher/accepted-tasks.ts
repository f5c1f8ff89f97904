/** Tasks of a teacher that were accepted for one run and one spec, and the tasks already given out. */
import type { MadeTask } from "../../tasks/task.ts";

/** Maximum given tasks to remember for repeated requests. A run prepares fewer tasks ahead of its draws. */
const GIVEN_MAX = 4096;
/**
 * Maximum task hashes to remember per run. An older task may return; the run's own memory of issued
 * tasks then skips it.
 */
const KNOWN_MAX = 2 ** 17;

/** Hashes of the tasks accepted for a run. */
export type KnownTasks = Set<string>;

export function learn(known: KnownTasks, hash: string): void {
  known.add(hash);
  if (known.size > KNOWN_MAX) forgetOldest(known);
}

export interface AcceptedTasks {
  /** Accepted tasks that are not yet given, oldest first. */
  readonly ready: MadeTask[];
  /** Given tasks, by place. */
  readonly given: Map<string, MadeTask>;
  /** The open requests. Resolves to a failure if none of them gave a task. */
  asking: Promise<Failure | undefined> | undefined;
  /** Number of requests so far. */
  requests: number;
}

export interface Failure {
  readonly message: string;
  readonly retryDelayMs: number;
}

export const noAcceptedTasks = (): AcceptedTasks => ({ ready: [], given: new Map(), asking: undefined, requests: 0 });

/** Returns the task already given for this place, or else the next ready one. */
export function give({ ready, given }: AcceptedTasks, place: string): MadeTask | undefined {
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
