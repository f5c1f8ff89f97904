/** The state after an import: what it undoes, and where its history stands. */
import type { Imported } from "./events.ts";
import type { Group } from "./batches.ts";
import { incarnationOf, type Range, type RunState } from "./state.ts";
import type { InstanceKey } from "./types.ts";

/** Whether a run's history begins with that of an exported state: if so, all that came after the export is undone. */
function sharesHistory(before: RunState | undefined, state: RunState): boolean {
  return before?.incarnations.includes(incarnationOf(state)) ?? false;
}

/** By how many places an imported history comes after that of the run whose place it takes. */
export function historyOffset(before: RunState | undefined, state: RunState): number {
  return before === undefined || sharesHistory(before, state) ? 0 : before.nextSeq;
}

/** What was already undone when the state was exported, and all that the run here has and the state has not. */
function rolledBackBy(before: RunState | undefined, state: RunState): readonly Range[] {
  if (before === undefined) return state.rolledBack;
  if (sharesHistory(before, state))
    return before.nextSeq > state.nextSeq
      ? [...state.rolledBack, [state.nextSeq, before.nextSeq - 1]]
      : state.rolledBack;
  const offset = before.nextSeq;
  const moved = state.rolledBack.map(([from, to]): Range => [from + offset, to + offset]);
  return [[0, offset - 1], ...moved];
}

/** Tasks that were outstanding when the state was exported are outstanding again, and their time runs again. */
export function imported<Spec, Key extends InstanceKey>(
  before: RunState<Spec, Key> | undefined,
  { runId, incarnation, epoch, atMs, state }: Imported<Spec, Key>,
): RunState<Spec, Key> {
  const offset = historyOffset(before, state);
  const batches = state.batches.map((batch) => ({
    ...batch,
    seq: batch.seq + offset,
    groups: batch.groups.map((group): Group<Key> =>
      group.handedOutAtMs === null ? group : { ...group, handedOutAtMs: atMs },
    ),
  }));
  return {
    ...state,
    runId,
    epoch,
    batches,
    // Any server may say which rows its pools have: the one that told of those in the export may be another store's.
    lists: state.lists.map((list) => ({ ...list, loadedAtMs: 0 })),
    evaluations: state.evaluations.map((round) => ({ ...round, seq: round.seq + offset })),
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
    // Those whose exports have their history at the same places as this run.
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack: rolledBackBy(before, state),
    // The import's own record comes after all that there was.
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}
