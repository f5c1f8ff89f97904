/**
 * Compares the model with the journals: every acknowledged sample is recorded once, and every recorded sample was sent.
 */
import { isDeepStrictEqual } from "node:util";
import type { Acknowledged, Model } from "./model.ts";
import type { KnownResult } from "./told.ts";
import type { Data, ReadGroup, Row } from "./reader-state.ts";
import { readJournal } from "./reader.ts";
import type { Entry, HashOf, Reading, Segment } from "./reading.ts";
import type { KeptJournal } from "./store.ts";

/** A journal that was read, and where an incarnation lies in one. */
export interface Read extends KeptJournal {
  readonly reading: Reading;
}

interface Place {
  readonly journal: Read;
  readonly segment: Segment;
}

export interface Journals {
  readonly hashOf: HashOf;
  readonly all: readonly Read[];
  readonly byIncarnation: ReadonlyMap<string, Place>;
}

/** Returns whether a journal's result agrees with the client's knowledge. */
function agrees(written: Data | undefined, result: KnownResult | undefined): boolean {
  if (result === undefined) return true;
  if (result.kind === "terminal") return written === result.reason;
  const isSolved = Array.isArray(written);
  if (result.solved !== undefined && result.solved !== isSolved) return false;
  return (isSolved ? (written as Row)[0] : written) === result.reward;
}

export function readAll(kept: Iterable<KeptJournal>, hashOf: HashOf): Journals {
  const all = [...kept].map((journal) => ({ ...journal, reading: readJournal(journal.events, hashOf) }));
  const places = all.flatMap((journal) =>
    journal.reading.segments.map((segment) => [segment.incarnation, { journal, segment }] as const),
  );
  return { all, hashOf, byIncarnation: new Map(places) };
}

function nameOf({ cursor, sample }: Pick<Entry, "cursor" | "sample">): string {
  return `${cursor}/${sample}`;
}

/** Every journal is sound, and all that it counts was sent to it. */
function checkJournals({ all }: Journals, model: Model): void {
  for (const { runId, reading } of all) {
    for (const fault of reading.faults) model.violate(`the journal of ${runId}: ${fault}`);
    for (const { incarnation, entries } of reading.segments) {
      for (const { cursor, sample, digest, result } of entries) {
        const offered = model.offered(incarnation, cursor, sample, digest);
        const isSent = offered !== undefined && agrees(result, offered.result);
        if (!isSent)
          model.violate(`${runId} counts sample ${cursor}/${sample} "${digest}" that ${incarnation} was not sent`);
      }
    }
  }
}

/**
 * Checks that the journal has each sample that clients were told is recorded, under the incarnation that it was sent
 * to.
 */
function checkAcknowledged({ byIncarnation }: Journals, model: Model): void {
  const entries = new Map(
    [...byIncarnation].map(([name, { segment }]) => [name, new Map(segment.entries.map((e) => [nameOf(e), e]))]),
  );
  for (const known of model.acknowledged()) {
    const entry = entries.get(known.incarnation)?.get(nameOf(known));
    const isThere = entry?.digest === known.digest && agrees(entry.result, known.result);
    if (!isThere) model.violate(`lost: ${known.runId} ${known.incarnation} sample ${nameOf(known)} "${known.digest}"`);
  }
  for (const { runId, incarnation, cursor, advantages, rewardMean } of model.reports()) {
    const rows = byIncarnation.get(incarnation)?.segment.reported.filter((row) => row[0] === cursor) ?? [];
    const isThere = rows.length === 1 && isDeepStrictEqual(rows[0], [cursor, advantages, rewardMean ?? null] as Row);
    if (!isThere) model.violate(`lost: ${runId} ${incarnation} advantages of ${cursor}`);
  }
  for (const { incarnation, cursor } of model.closes()) {
    const isThere = byIncarnation.get(incarnation)?.segment.closed.includes(cursor);
    if (isThere !== true) model.violate(`lost: ${incarnation} ${cursor} was said to be closed`);
  }
}

/** Tasks that clients were given are those that were drawn. */
function checkTasks({ byIncarnation, hashOf }: Journals, model: Model): void {
  for (const { incarnation, cursor, key } of model.tasks()) {
    const drawn = byIncarnation.get(incarnation)?.segment.tasks.get(cursor);
    const isDrawn = drawn !== undefined && hashOf(drawn.key) === key.hash;
    if (!isDrawn) model.violate(`the task given at ${cursor} of ${incarnation} was never drawn`);
  }
}

/**
 * Checks the selected groups of each update batch that a client was told of. They are the first useful ones by cursor,
 * as many as the batch was to have, and none after a group that was open.
 */
function checkSelections({ byIncarnation }: Journals, model: Model): void {
  for (const { incarnation, batch, sampling, groups } of model.selections()) {
    const wanted = byIncarnation.get(incarnation)?.segment.prompts.get(batch);
    if (wanted === undefined)
      model.violate(`groups of batch ${batch} of ${incarnation} were given that was never drawn`);
    let left = wanted ?? 0;
    let open = false;
    for (const { cursor, closed, useful, selected } of groups) {
      open ||= !closed;
      const expected = sampling ? useful && !open && left > 0 : closed;
      if (expected) left--;
      if (selected !== expected)
        model.violate(`${incarnation} ${cursor} is ${selected ? "" : "not "}one to train on, against the rule`);
    }
  }
  for (const { incarnation, cursor } of model.reopens()) {
    const isThere = byIncarnation.get(incarnation)?.segment.reopened.includes(cursor);
    if (isThere !== true) model.violate(`lost: ${incarnation} ${cursor} was said to be open again`);
  }
}

/**
 * Returns the samples that a run's state must hold: acknowledged under its incarnation, or before the export that it
 * came from.
 */
export function mustHold(journals: Journals, model: Model, incarnation: string): readonly Acknowledged[] {
  const byIncarnation = Map.groupBy(model.acknowledged(), (known) => known.incarnation);
  const held: Acknowledged[] = [];
  let [name, before] = [incarnation, Infinity];
  for (;;) {
    held.push(...(byIncarnation.get(name) ?? []).filter(({ order }) => order < before));
    const base = journals.byIncarnation.get(name)?.segment.base;
    if (base === undefined) return held;
    [name, before] = [base.incarnation, Math.min(before, model.exportedAt(base) ?? 0)];
  }
}

/** Checks the last state of a run, with or without rollbacks. */
function checkState(journals: Journals, { reading, runId }: Read, model: Model): void {
  const groups = new Map<number, ReadGroup>();
  for (const { cursor, groups: list } of reading.run.batches)
    for (const [i, group] of list.entries()) groups.set(cursor + i, group);
  const last = reading.run.incarnations.at(-1) ?? "";
  const first = Math.min(...groups.keys());
  for (const { cursor, sample, digest, result } of mustHold(journals, model, last)) {
    const group = groups.get(cursor);
    // An imported state has forgotten groups that closed long before its export.
    if (group === undefined && cursor < first) continue;
    const there = group?.results[sample] ?? undefined;
    const isThere = group?.digests[sample] === digest && (there === undefined || agrees(there, result));
    if (!isThere) model.violate(`lost by an import: ${runId} ${last} sample ${cursor}/${sample} "${digest}"`);
  }
}

/** All that can be said of the journals alone. */
/** An import into a run that is there leaves its control, unless it was asked to restore that of the export. */
function checkImports({ byIncarnation }: Journals, model: Model): void {
  for (const [incarnation, restores] of model.imports()) {
    const { segment } = byIncarnation.get(incarnation) ?? {};
    if (segment !== undefined && segment.from > 0 && segment.keepsControl === restores)
      model.violate(`the import ${incarnation} ${restores ? "keeps the run's" : "restores the export's"} control`);
  }
}

export function judge(journals: Journals, model: Model): void {
  const { all, byIncarnation } = journals;
  const count = all.reduce((sum, { reading }) => sum + reading.segments.length, 0);
  // Two incarnations with one name could not be distinguished.
  if (count !== byIncarnation.size) return model.violate(`${count} incarnations have ${byIncarnation.size} names`);
  checkJournals(journals, model);
  checkAcknowledged(journals, model);
  checkTasks(journals, model);
  checkImports(journals, model);
  checkSelections(journals, model);
  for (const journal of all) checkState(journals, journal, model);
}
