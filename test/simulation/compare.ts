/** Compares a run that the independent reader made of the journal with the run that the server wrote down. */
import { isDeepStrictEqual } from "node:util";
import type { HistoryEntry } from "../../server/curriculum/history.ts";
import {
  alikeOf,
  type Data,
  isUseless,
  outcomeOf,
  type ReadBatch,
  type ReadGroup,
  type ReadRun,
  UNSAID,
} from "./reader-state.ts";

/** Minimum number of closed tasks that a server keeps (contract: RunConfig). */
const TASKS_KEPT = 1024;

type Plain = Omit<ReadRun, "batches" | "config">;

function show(value: unknown): string {
  const plain = value instanceof Map || value instanceof Set ? [...value] : value;
  return (JSON.stringify(plain) ?? "nothing").slice(0, 300);
}

/** Returns whether numbers are equal but for rounding: sums may be made in another order. */
function near(one: number | null | undefined, other: number | null | undefined): boolean {
  if (typeof one !== "number" || typeof other !== "number") return one === other;
  return Math.abs(one - other) <= 1e-9 * (1 + Math.abs(one));
}

function groupDifference(journal: ReadGroup, state: ReadGroup): string | undefined {
  const { closed: one, ...rest } = journal;
  const { closed: other, ...said } = state;
  if (!isDeepStrictEqual(rest, said)) return `${show(said)} in the state, ${show(rest)} in the journal`;
  const { deviation, advantage, ...sums } = one ?? {};
  const { deviation: otherDeviation, advantage: otherAdvantage, ...others } = other ?? {};
  const same = isDeepStrictEqual(sums, others) && near(deviation, otherDeviation) && near(advantage, otherAdvantage);
  return same ? undefined : `came to ${show(other)} in the state, ${show(one)} in the journal`;
}

function batchDifferences(journal: ReadBatch, state: ReadBatch): string[] {
  const { groups, values, ...rest } = journal;
  const { groups: said, values: known, ...others } = state;
  const differences = isDeepStrictEqual(rest, others) ? [] : [`batch ${show(others)}, in the journal ${show(rest)}`];
  if (values !== UNSAID && !isDeepStrictEqual(values, known))
    differences.push(`the values of batch ${rest.index}: ${show(known)}, in the journal ${show(values)}`);
  if (groups.length !== said.length)
    return [...differences, `batch ${rest.index} has ${said.length} groups, in the journal ${groups.length}`];
  for (const [i, group] of groups.entries()) {
    const found = groupDifference(group, said[i] as ReadGroup);
    if (found !== undefined) differences.push(`group ${rest.cursor + i}: ${found}`);
  }
  return differences;
}

/** Returns the faults of forgetting: a batch that the state has forgotten must be closed, and far enough back. */
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

/** Returns the differences of a journal's run and a saved state, each in words; empty: they are equal. */
export function differences(journal: ReadRun, state: ReadRun): string[] {
  const plain = ({ batches: _b, config: _c, ...rest }: ReadRun): Plain => rest;
  const [one, other] = [plain(journal), plain(state)];
  const found = (Object.keys(one) as (keyof Plain)[])
    .filter((name) => one[name] !== UNSAID && !isDeepStrictEqual(one[name], other[name]))
    .map((name) => `${name}: ${show(other[name])} in the state, ${show(one[name])} in the journal`);
  if (!isDeepStrictEqual(journal.config, state.config)) found.push("the configuration");
  const byIndex = new Map(journal.batches.map((batch) => [batch.index, batch]));
  for (const batch of state.batches) {
    const same = byIndex.get(batch.index);
    if (same === undefined) found.push(`batch ${batch.index} is in no event`);
    else found.push(...batchDifferences(same, batch));
  }
  return [...found, ...forgotten(journal, state)];
}

/**
 * Returns what the history says of a run and the journal does not: the history has each batch that was not undone, once
 * and unchanged.
 */
export function historyDifferences(
  { batches, batchesDrawn, config }: ReadRun,
  history: readonly HistoryEntry[],
): string[] {
  const told = history.filter((entry) => entry.kind === "batch").filter(({ rolledBack }) => !rolledBack);
  const indices = told.map(({ batch }) => batch);
  const all = Array.from({ length: batchesDrawn }, (_, index) => index);
  if (!isDeepStrictEqual(indices, all)) return [`the history has the batches ${show(indices)} of ${batchesDrawn}`];
  return batches.flatMap((batch) => {
    const { counts, rewardMean, ...entry } = told[batch.index] as (typeof told)[0];
    const { atMs, cursor, probabilities, closed, prompts, released, useful } = entry;
    const found = { atMs, cursor, probabilities, closed, prompts, released, useful, counts };
    const { rewardMean: mean, ...expected } = tellingOf(batch, alikeOf(config), counts.length);
    if (isDeepStrictEqual(expected, found) && near(mean, rewardMean)) return [];
    const one = show({ ...found, rewardMean });
    return [`the history of batch ${batch.index}: ${one}, in the journal ${show({ ...expected, rewardMean: mean })}`];
  });
}

/** Returns the record that the history must have of a batch. */
function tellingOf({ groups, reserve, ...batch }: ReadBatch, alike: Data, arms: number) {
  const { drawnAtMs: atMs, cursor, probabilities, prompts } = batch;
  const drawn = [...groups, ...reserve];
  const sums = groups.map(({ closed, results }) => closed ?? outcomeOf(results));
  const count = sums.reduce((total, each) => total + each.count, 0);
  const sum = sums.reduce((total, each) => total + each.sum, 0);
  return {
    atMs,
    cursor,
    probabilities,
    prompts,
    released: groups.length,
    closed: groups.every(({ closed }) => closed !== undefined),
    useful: groups.filter(({ closed }) => closed !== undefined && !isUseless(closed, alike)).length,
    counts: Array.from({ length: arms }, (_, arm) => drawn.filter((task) => task.arm === arm).length),
    rewardMean: count > 0 ? sum / count : undefined,
  };
}
