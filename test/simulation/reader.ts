/**
 * An independent reader of a run's journal. It is written from the format's description at the head of
 * server/curriculum/events.ts, and shares no code with the server: what both make of a journal must be the same.
 */
import {
  type Data,
  type ReadArm,
  type ReadBatch,
  type ReadGroup,
  readHead,
  type ReadRun,
  readState,
  type Row,
  samplesOf,
  sizeOf,
  type Sums,
  sumsOf,
  taskOf,
} from "./reader-state.ts";

/** A sample as an event recorded it. */
export interface Entry {
  readonly cursor: number;
  readonly sample: number;
  readonly digest: string;
  readonly result: Data;
}

/** What happened to a run under one of its incarnations. */
export interface Segment {
  readonly incarnation: string;
  /** The event that it began with, counted from 0. */
  readonly from: number;
  /** Of an import: the incarnation whose state was put back, and how many events it had. */
  readonly base: { readonly incarnation: string; readonly version: number } | undefined;
  readonly entries: Entry[];
  /** Groups with reported advantages. */
  readonly reported: Row[];
  readonly closed: number[];
  /** The tasks of the run under this incarnation, by cursor, those that it took over among them. */
  readonly tasks: Map<number, Pick<ReadGroup, "arm" | "ordinal" | "key">>;
}

/** The instance's hash in a task's key, which the source of the tasks has written. */
export type HashOf = (key: Data) => string;

/** As the tests' source writes it. */
export const firstOf: HashOf = (key) => (key as readonly string[])[0] ?? "";

/** As the server's source writes it: in base64url. */
export const shortened: HashOf = (key) => Buffer.from(firstOf(key), "base64url").toString("hex");

export interface Reading {
  readonly run: ReadRun;
  readonly segments: readonly Segment[];
  /** What no sound journal has, such as a sample that is recorded twice. */
  readonly faults: readonly string[];
}

interface Reader {
  readonly hashOf: HashOf;
  run: ReadRun;
  readonly segments: Segment[];
  readonly faults: string[];
}

const RECENT_MAX = 256;

function segment(incarnation: string, from: number, base: Segment["base"], tasks: Segment["tasks"]): Segment {
  return { incarnation, from, base, entries: [], reported: [], closed: [], tasks };
}

function lastOf({ segments }: Reader): Segment {
  return segments.at(-1) as Segment;
}

function groupsOf(run: ReadRun): Map<number, ReadGroup> {
  return new Map(run.batches.flatMap(({ cursor, groups }) => groups.map((group, i) => [cursor + i, group])));
}

/** The group at a cursor. Batches are never dropped here, but an imported state may begin late. */
function groupAt({ batches, config }: ReadRun, cursor: number): ReadGroup | undefined {
  const index = Math.floor(cursor / Number(config["promptsPerUpdate"]));
  const first = batches[0]?.index ?? 0;
  const batch =
    batches[index - first]?.index === index ? batches[index - first] : batches.find((b) => b.index === index);
  return batch?.groups[cursor - batch.cursor];
}

function takesFeedback(policy: Data): boolean {
  return typeof policy === "object" && policy !== null && "bandit" in policy;
}

/** Closes a group, and counts it where it has a reward. */
function close(run: ReadRun, group: ReadGroup, sums: Sums): void {
  group.closed = sums;
  if (sums.count === 0) return;
  const arm = run.arms[group.arm] as ReadArm;
  arm.groups++;
  arm.recent = [...arm.recent, sums].slice(-RECENT_MAX);
}

/** Batches that are closed without a gap. */
function countClosed(run: ReadRun): void {
  const open = run.batches.find(
    ({ index, groups }) => index >= run.batchesClosed && groups.some(({ closed }) => closed === undefined),
  );
  run.batchesClosed = open?.index ?? run.batchesDrawn;
}

function created(row: Row, reader: Partial<Reader>): ReadRun {
  const [runId, incarnation, atMs, config] = row as unknown as [string, string, number, ReadRun["config"]];
  const arms = config["arms"] as readonly { readonly weight: number }[];
  const policy = config["policy"] as { readonly [kind: string]: Data };
  const none: ReadArm = {
    ...{ issued: 0, repeats: 0, nextOrdinal: 0, groups: 0, recent: [] },
    folded: { groups: 0, count: 0, sum: 0, solved: 0 },
  };
  reader.segments?.push(segment(incarnation, 0, undefined, new Map()));
  return {
    ...{ runId, config, policy, createdAtMs: atMs, version: 0 },
    policyState: "bandit" in policy ? arms.map(() => 0) : "staged" in policy ? [0, 0] : null,
    weights: arms.map(({ weight }) => weight),
    masks: arms.map(() => null),
    ...{ paused: false, incarnations: [incarnation], epoch: 0, rolledBack: [], cursor: 0, handedOut: 0 },
    ...{ batchesDrawn: 0, batchesClosed: 0, batchesFolded: 0, samplesRecorded: 0, probabilities: null },
    ...{ arms: arms.map(() => ({ ...none })), batches: [], issued: new Set(), nextSeq: 0 },
  };
}

/** What a draw folds in: marks it, and adds it to the arms where the policy learns from it. */
function fold(run: ReadRun, through: Data): void {
  const ranges = through as readonly (readonly [number, number])[];
  const isDue = ({ index }: ReadBatch, cursor: number): boolean =>
    typeof through === "number"
      ? run.batchesFolded <= index && index < through
      : ranges.some(([first, last]) => first <= cursor && cursor <= last);
  for (const batch of run.batches) {
    for (const [i, group] of batch.groups.entries()) {
      if (group.closed === undefined || !isDue(batch, batch.cursor + i)) continue;
      if (typeof through !== "number") group.folded = true;
      const { count, sum, solved } = group.closed;
      if (count === 0 || !takesFeedback(run.policy)) continue;
      const arm = run.arms[group.arm] as ReadArm;
      const { folded } = arm;
      arm.folded = {
        ...{ groups: folded.groups + 1, count: folded.count + count, sum: folded.sum + sum },
        solved: solved === null || folded.solved === null ? null : folded.solved + solved,
      };
    }
  }
  if (typeof through === "number") run.batchesFolded = through;
}

function drawn(reader: Reader, row: Row): void {
  const { run } = reader;
  const [index, atMs, cursor, probabilities = null, policyState = null, due = null, tasks] = row;
  if (index !== run.batchesDrawn || cursor !== run.cursor)
    reader.faults.push(
      `batch ${JSON.stringify(index)} is drawn at ${JSON.stringify(cursor)}, after ${run.batchesDrawn} at ${run.cursor}`,
    );
  fold(run, due);
  const { generations } = sizeOf(run);
  const groups = (tasks as Row).map((task, i): ReadGroup => {
    const read = taskOf(task);
    const arm = run.arms[read.arm] as ReadArm;
    arm.issued++;
    arm.repeats += Number(read.repeat);
    arm.nextOrdinal = read.ordinal + 1;
    const hash = reader.hashOf(read.key);
    if (read.repeat !== run.issued.has(hash))
      reader.faults.push(`task ${run.cursor + i} is a repeat, or is not, wrongly`);
    run.issued.add(hash);
    lastOf(reader).tasks.set(run.cursor + i, read);
    const none = (): null[] => new Array<null>(generations).fill(null);
    return { ...read, handedOutAtMs: null, digests: none(), results: none(), closed: undefined, folded: false };
  });
  const places = { index: Number(index), cursor: run.cursor, seq: run.nextSeq, epoch: run.epoch };
  run.batches.push({ ...places, drawnAtMs: Number(atMs), probabilities, groups });
  run.cursor += groups.length;
  run.batchesDrawn++;
  run.nextSeq++;
  Object.assign(run, { probabilities, policyState });
}

function feedback(reader: Reader, row: Row): void {
  const { run } = reader;
  for (let at = 0; at + 3 < row.length; at += 4) {
    const cursor = Number(row[at]);
    const group = groupAt(run, cursor);
    for (const { sample, digest, result } of samplesOf(row.slice(at + 1, at + 4))) {
      lastOf(reader).entries.push({ cursor, sample, digest, result });
      run.samplesRecorded++;
      if (group?.results === undefined || group.closed !== undefined)
        reader.faults.push(`sample ${sample} of ${cursor} is recorded although its group is not open`);
      else if (group.digests[sample] !== null) reader.faults.push(`sample ${sample} of ${cursor} is counted twice`);
      else [group.digests[sample], group.results[sample]] = [digest, result];
    }
    const isWhole = group?.closed === undefined && group?.results?.every((result) => result !== null) === true;
    if (isWhole) close(run, group, sumsOf(group.results ?? []));
  }
  countClosed(run);
}

function reported(reader: Reader, rows: readonly Row[]): void {
  for (const row of rows) {
    const [cursor, advantages, mean] = row as unknown as [number, Row, number | null];
    lastOf(reader).reported.push(row);
    const count = mean === null ? 0 : Math.max(1, advantages.length);
    reader.run.samplesRecorded += advantages.length;
    const group = groupAt(reader.run, cursor);
    if (group?.closed !== undefined) reader.faults.push(`advantages of ${cursor} are counted although it is closed`);
    else if (group !== undefined) close(reader.run, group, { count, sum: count * (mean ?? 0), solved: null });
  }
  countClosed(reader.run);
}

function closed(reader: Reader, ranges: readonly (readonly [number, number])[]): void {
  for (const [first, last] of ranges) {
    for (let cursor = first; cursor <= last; cursor++) {
      lastOf(reader).closed.push(cursor);
      const group = groupAt(reader.run, cursor);
      if (group?.closed === undefined && group !== undefined) close(reader.run, group, sumsOf(group.results ?? []));
    }
  }
  countClosed(reader.run);
}

function handOut(run: ReadRun, through: number, atMs: number): void {
  for (const [cursor, group] of groupsOf(run))
    if (run.handedOut <= cursor && cursor < through) group.handedOutAtMs = atMs;
  run.handedOut = through;
}

function imported(reader: Partial<Reader>, row: Row, text: string, from: number): ReadRun {
  const [runId, incarnation, epoch, atMs] = row as unknown as [string, string, number, number];
  const before = reader.run;
  const state = readState(text);
  const shares = before?.incarnations.includes(state.incarnations.at(-1) ?? "") ?? false;
  const offset = before === undefined || shares ? 0 : before.nextSeq;
  const moved = state.rolledBack.map(([a, b]) => [a + offset, b + offset] as const);
  const undone: (readonly [number, number])[] = [];
  if (before !== undefined && !shares) undone.push([0, offset - 1]);
  if (before !== undefined && shares && before.nextSeq > state.nextSeq)
    undone.push([state.nextSeq, before.nextSeq - 1]);
  for (const batch of state.batches) {
    batch.seq += offset;
    for (const group of batch.groups) if (group.handedOutAtMs !== null) group.handedOutAtMs = atMs;
  }
  reader.segments?.push(segment(incarnation, from, readHead(text), groupsOf(state)));
  return {
    ...state,
    ...{ runId, epoch, version: before?.version ?? 0, createdAtMs: before?.createdAtMs ?? atMs },
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack: shares ? [...moved, ...undone] : [...undone, ...moved],
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}

/** Events that change how the run goes on, each of which takes a place in the history. */
function control(run: ReadRun, kind: string, [one = null, two = null]: Row): void {
  run.nextSeq++;
  const mask = (reason: string | null): void =>
    void (run.masks = run.masks.map((old, i) => (i === one ? reason : old)));
  if (kind === "paused" || kind === "resumed") run.paused = kind === "paused";
  else if (kind === "weights_set") run.weights = one;
  else if (kind === "advanced") run.policyState = one;
  else if (kind === "arm_masked") mask(two as string);
  else if (kind === "arm_unmasked") mask(null);
  else if (kind === "policy_updated") updatePolicy(run, one as { readonly [kind: string]: Data });
  else throw new Error(`there is no event "${kind}"`);
}

function updatePolicy(run: ReadRun, policy: { readonly [kind: string]: Data }): void {
  const inherits = "bandit" in policy && takesFeedback(run.policy);
  const fresh = "bandit" in policy ? run.arms.map(() => 0) : "staged" in policy ? [0, run.cursor] : null;
  if (!inherits) run.policyState = fresh;
  run.policy = policy;
}

/** Reads a journal from its beginning. */
export function readJournal(events: readonly string[], hashOf: HashOf): Reading {
  const reader: Partial<Reader> & Omit<Reader, "run"> = { hashOf, segments: [], faults: [] };
  for (const [i, text] of events.entries()) {
    const end = text.indexOf("\n");
    const [format, kind, ...row] = JSON.parse(end < 0 ? text : text.slice(0, end)) as Row;
    if (format !== 3) throw new Error(`an event of format ${JSON.stringify(format)}`);
    if (kind === "created") reader.run = created(row, reader);
    else if (kind === "imported") reader.run = imported(reader, row, text.slice(end + 1), i);
    else if (reader.run === undefined) throw new Error(`a journal begins with "${kind as string}"`);
    else change(reader as Reader, kind as string, row);
    reader.run.version++;
  }
  if (reader.run === undefined) throw new Error("a journal is empty");
  return reader as Reader;
}

function change(reader: Reader, kind: string, row: Row): void {
  const [one, two] = row;
  if (kind === "drawn") drawn(reader, row);
  else if (kind === "handed_out") handOut(reader.run, Number(one), Number(two));
  else if (kind === "fed") feedback(reader, row);
  else if (kind === "reported") reported(reader, one as readonly Row[]);
  else if (kind === "closed") {
    closed(reader, one as readonly (readonly [number, number])[]);
    reader.run.nextSeq++;
  } else control(reader.run, kind, row);
}
