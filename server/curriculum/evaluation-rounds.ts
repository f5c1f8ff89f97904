/**
 * Opens, fills and finds evaluation rounds. In a round, completions of all tasks of an evaluation arm's fixed set are
 * scored. Rounds run beside training and do not influence it.
 */
import { blankSamples, type GroupResults, type TaskSamples, withSamples } from "./batches.ts";
import { leftOutOf } from "./row-lists.ts";
import type { EvaluationPage, EvaluationResults, EvaluationRound, RunState } from "./state.ts";
import type { InstanceKey } from "./types.ts";

/**
 * Number of rounds kept for each evaluation arm. A slow evaluator can thus finish a round after another evaluator has
 * opened the next round.
 */
export const ROUNDS_KEPT = 2;

/**
 * Number of tasks in a page, i.e. a part of the list of a round's results. The list is never changed in place: new
 * results copy only their page, which costs less than copying the whole list. The last page is filled up with null.
 */
const PAGE = 256;

const EMPTY_PAGE: EvaluationPage = Object.freeze(new Array<null>(PAGE).fill(null));

/** Returns the empty pages of an evaluation set with `size` tasks. */
export function pagesOf(size: number): readonly EvaluationPage[] {
  return new Array<EvaluationPage>(Math.ceil(size / PAGE)).fill(EMPTY_PAGE);
}

function withTasks(
  before: readonly EvaluationPage[],
  tasks: ReadonlyMap<number, TaskSamples>,
): readonly EvaluationPage[] {
  const changed = new Map<number, (TaskSamples | null)[]>();
  for (const [ordinal, task] of tasks) {
    const place = Math.floor(ordinal / PAGE);
    const page = changed.get(place) ?? [...(before[place] ?? EMPTY_PAGE)];
    changed.set(place, page);
    page[ordinal % PAGE] = task;
  }
  return before.map((page, place) => changed.get(place) ?? page);
}

/** Returns the samples of one task of a round. Null: no sample has arrived. */
export function evaluatedAt({ pages }: Pick<EvaluationRound, "pages">, ordinal: number): TaskSamples | null {
  return pages[Math.floor(ordinal / PAGE)]?.[ordinal % PAGE] ?? null;
}

/** Returns the rounds of an evaluation arm that the state still has, oldest first. */
export function roundsOf({ evaluations }: Pick<RunState, "evaluations">, arm: number): readonly EvaluationRound[] {
  return evaluations.filter((one) => one.arm === arm);
}

export function findRound(
  { evaluations }: Pick<RunState, "evaluations">,
  { arm, round }: Pick<EvaluationRound, "arm" | "round">,
): EvaluationRound | undefined {
  return evaluations.find((one) => one.arm === arm && one.round === round);
}

/**
 * Returns the state with a newly opened round. Of the earlier rounds of its evaluation arm, only the newest is kept.
 */
export function withRound<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { arm, round, atMs }: { readonly arm: number; readonly round: number; readonly atMs: number },
): RunState<Spec, Key> {
  const { evaluations, epoch, cursor, nextSeq: seq } = state;
  const { tasks: size = 0, numGenerations = 0 } = state.config.evaluationArms[arm] ?? {};
  const dropped = new Set(roundsOf(state, arm).slice(0, 1 - ROUNDS_KEPT));
  const blank = { arm, round, seq, epoch, cursor, openedAtMs: atMs, size, pages: pagesOf(size) };
  const opened = withLeftOut(blank, leftOutOf(state, arm), numGenerations);
  return { ...state, evaluations: [...evaluations.filter((one) => !dropped.has(one)), opened] };
}

/**
 * Returns the round with its set of left-out tasks and its number of missing samples. `leftOut` holds the numbers of
 * the tasks whose data rows were removed from their pool; the round does not wait for them.
 */
export function withLeftOut(
  round: Omit<EvaluationRound, "leftOut" | "missing">,
  leftOut: ReadonlySet<number>,
  numGenerations: number,
): EvaluationRound {
  let missing = (round.size - leftOut.size) * numGenerations;
  for (const [page, tasks] of round.pages.entries())
    for (const [at, task] of tasks.entries())
      if (task !== null && !leftOut.has(page * PAGE + at))
        missing -= task.results.filter((result) => result !== null).length;
  return { ...round, leftOut, missing };
}

/** Returns the state after results for an evaluation round have arrived. */
export function withEvaluated<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  event: EvaluationResults,
): RunState<Spec, Key> {
  const numGenerations = state.config.evaluationArms[event.arm]?.numGenerations ?? 0;
  const evaluations = state.evaluations.map((round) =>
    round.arm === event.arm && round.round === event.round ? withResults(round, event.tasks, numGenerations) : round,
  );
  return { ...state, evaluations };
}

/** Returns the round with new results. Each task of the round has `numGenerations` samples. */
export function withResults(
  round: EvaluationRound,
  tasks: readonly GroupResults[],
  numGenerations: number,
): EvaluationRound {
  const changed = new Map<number, TaskSamples>();
  let { missing } = round;
  for (const results of tasks) {
    const { cursor } = results;
    const before = changed.get(cursor) ?? evaluatedAt(round, cursor) ?? blankSamples(numGenerations);
    changed.set(cursor, withSamples(before, results));
    if (!round.leftOut.has(cursor)) missing -= results.indices.length;
  }
  return { ...round, pages: withTasks(round.pages, changed), missing };
}
