/** Whether a run as the independent reader has it from the journal is the run as the server wrote it down. */
import { isDeepStrictEqual } from "node:util";
import type { HistoryEntry } from "../../server/curriculum/view.ts";
import type { ReadBatch, ReadGroup, ReadRun } from "./reader-state.ts";

/** Closed tasks that a server keeps at least (contract: RunConfig). */
const TASKS_KEPT = 1024;

type Plain = Omit<ReadRun, "batches" | "issued" | "config">;

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 300);
}

function groupDifference(journal: ReadGroup, state: ReadGroup): string | undefined {
  const { results, ...rest } = journal;
  const { results: kept, ...said } = state;
  if (!isDeepStrictEqual(rest, said)) return `${show(said)} in the state, ${show(rest)} in the journal`;
  if (kept === undefined || results === undefined) return undefined;
  return isDeepStrictEqual(results, kept) ? undefined : `results ${show(kept)}, in the journal ${show(results)}`;
}

function batchDifferences(journal: ReadBatch, state: ReadBatch): string[] {
  const { groups, ...rest } = journal;
  const { groups: said, ...others } = state;
  const differences = isDeepStrictEqual(rest, others) ? [] : [`batch ${show(others)}, in the journal ${show(rest)}`];
  if (groups.length !== said.length) return [...differences, `batch ${rest.index} has ${said.length} groups`];
  for (const [i, group] of groups.entries()) {
    const found = groupDifference(group, said[i] as ReadGroup);
    if (found !== undefined) differences.push(`group ${rest.cursor + i}: ${found}`);
  }
  return differences;
}

/** What a state has forgotten must be closed, and far enough back. */
function forgotten(journal: ReadRun, state: ReadRun): string[] {
  const kept = new Set(state.batches.map(({ index }) => index));
  const gone = journal.batches.filter(({ index }) => !kept.has(index));
  const differences = gone
    .filter(({ groups }) => groups.some(({ closed }) => closed === undefined))
    .map(({ index }) => `batch ${index} is forgotten although it is open`);
  const closedTasks = state.batches.reduce((sum, { groups }) => sum + groups.length, 0);
  if (gone.length > 0 && closedTasks < TASKS_KEPT) differences.push(`only ${closedTasks} tasks are kept`);
  return differences;
}

/** What differs, each in words; none: they are the same. */
export function differences(journal: ReadRun, state: ReadRun): string[] {
  const plain = ({ batches: _b, issued: _i, config: _c, ...rest }: ReadRun): Plain => rest;
  const [one, other] = [plain(journal), plain(state)];
  const found = (Object.keys(one) as (keyof Plain)[])
    .filter((name) => !isDeepStrictEqual(one[name], other[name]))
    .map((name) => `${name}: ${show(other[name])} in the state, ${show(one[name])} in the journal`);
  if (!isDeepStrictEqual(journal.config, state.config)) found.push("the configuration");
  if (!isDeepStrictEqual(journal.issued, state.issued)) found.push("the instances that were issued");
  const byIndex = new Map(journal.batches.map((batch) => [batch.index, batch]));
  for (const batch of state.batches) {
    const same = byIndex.get(batch.index);
    if (same === undefined) found.push(`batch ${batch.index} is in no event`);
    else found.push(...batchDifferences(same, batch));
  }
  return [...found, ...forgotten(journal, state)];
}

/** What the history says of a run that the journal does not: each batch that was not undone is told once, as it is. */
export function historyDifferences({ batches, batchesDrawn }: ReadRun, history: readonly HistoryEntry[]): string[] {
  const told = history.filter((entry) => entry.kind === "batch").filter(({ rolledBack }) => !rolledBack);
  const indices = told.map(({ batch }) => batch);
  const all = Array.from({ length: batchesDrawn }, (_, index) => index);
  if (!isDeepStrictEqual(indices, all)) return [`the history has the batches ${show(indices)} of ${batchesDrawn}`];
  return batches.flatMap(({ index, cursor, drawnAtMs, probabilities, groups }) => {
    const { counts, ...entry } = told[index] as (typeof told)[0];
    const closed = groups.every((group) => group.closed !== undefined);
    const expected = { cursor, atMs: drawnAtMs, probabilities, closed };
    const found = { cursor: entry.cursor, atMs: entry.atMs, probabilities: entry.probabilities, closed: entry.closed };
    const drawn = counts.map((_, arm) => groups.filter((group) => group.arm === arm).length);
    if (isDeepStrictEqual(expected, found) && isDeepStrictEqual(drawn, counts)) return [];
    return [
      `the history of batch ${index}: ${show({ ...found, counts })}, in the journal ${show({ ...expected, drawn })}`,
    ];
  });
}
