/**
 * Keeps the tasks that a teacher model proposed and the server accepted, for one run and one kind of task. Also
 * remembers which of them were handed out to the run.
 */
import type { MadeTask } from "../../tasks/task.ts";

/**
 * Maximum number of handed-out tasks that are remembered, so that a repeated request gets the same task. Runs prepare
 * fewer tasks than that in advance.
 */
const GIVEN_MAX = 4096;
/**
 * Maximum number of task hashes that are remembered per run, so that no task is accepted twice. A forgotten task is
 * caught later, because the run remembers issued tasks.
 */
const KNOWN_MAX = 2 ** 17;

/** Hashes of the tasks that were accepted for a run. */
export type KnownTasks = Set<string>;

export function learn(known: KnownTasks, hash: string): void {
  known.add(hash);
  if (known.size > KNOWN_MAX) forgetOldest(known);
}

export interface AcceptedTasks {
  /** Accepted tasks that are not handed out yet, the oldest first. */
  readonly ready: MadeTask[];
  /** Handed-out tasks. The key is the name of a place in the run: an arm, and the number of the task within the arm. */
  readonly given: Map<string, MadeTask>;
  /**
   * Resolves when the requests to the teacher that are in progress have ended: to a failure if none of them gave a
   * task, otherwise to undefined. Undefined: no request is in progress.
   */
  asking: Promise<Failure | undefined> | undefined;
  /** Number of teacher requests so far. */
  requests: number;
}

export interface Failure {
  readonly message: string;
  readonly retryDelayMs: number;
}

export const noAcceptedTasks = (): AcceptedTasks => ({ ready: [], given: new Map(), asking: undefined, requests: 0 });

/**
 * Returns the task that was handed out for this place in the run before, or else the next accepted task. Undefined: no
 * accepted task is left.
 */
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
