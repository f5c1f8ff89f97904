/**
 * An independent reader of a run's journal. It is written from the format's description at the head of
 * server/curriculum/events.ts, and shares no code with the server: what both make of a journal must be the same.
 */
import {
  alikeOf,
  type Config,
  type Data,
  freshGroup,
  isUseless,
  outcomeOf,
  type ReadArm,
  type ReadBatch,
  type ReadGroup,
  readHead,
  type ReadOutcome,
  type ReadRun,
  readState,
  type ReadTask,
  type Row,
  samplesOf,
  taskOf,
  UNSAID,
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
  readonly reopened: number[];
  /** The tasks that may be given out under this incarnation, by cursor, those that it took over among them. */
  readonly tasks: Map<number, ReadTask>;
  /** How many groups of each update batch are to train on. */
  readonly prompts: Map<number, number>;
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

function segment(incarnation: string, from: number, base: Segment["base"], state?: ReadRun): Segment {
  const tasks = new Map<number, ReadTask>(state === undefined ? [] : groupsOf(state));
  const prompts = new Map(state?.batches.map((batch) => [batch.index, batch.prompts]));
  return { incarnation, from, base, entries: [], reported: [], closed: [], reopened: [], tasks, prompts };
}

function lastOf({ segments }: Reader): Segment {
  return segments.at(-1) as Segment;
}

function groupsOf(run: ReadRun): Map<number, ReadGroup> {
  return new Map(run.batches.flatMap(({ cursor, groups }) => groups.map((group, i) => [cursor + i, group])));
}

/** The batch that a cursor lies in. Batches are never dropped here, but an imported state may begin late. */
function batchAt({ batches }: ReadRun, cursor: number): ReadBatch | undefined {
  // Mostly it is one of the last.
  return batches.findLast((batch) => batch.cursor <= cursor);
}

function groupAt(run: ReadRun, cursor: number): ReadGroup | undefined {
  const batch = batchAt(run, cursor);
  return batch?.groups[cursor - batch.cursor];
}

/** Whether groups are folded in: under policies that learn, and filters that look back. */
function takesFeedback(policy: Data): boolean {
  const { bandit, competence } = policy as Config;
  return bandit !== undefined || competence !== undefined || looksBack(policy);
}

function looksBack(policy: Data): boolean {
  const filter = (policy as Config)["filter"] as Config | undefined;
  return filter?.["skipSolved"] === true || Number(filter?.["skipFailedAfter"] ?? 0) > 0;
}

/** Closes a group, and counts it where it has a reward. */
function close(run: ReadRun, group: ReadGroup, outcome: ReadOutcome): void {
  group.closed = outcome;
  const { count, sum, solved } = outcome;
  if (count === 0) return;
  const arm = run.arms[group.arm] as ReadArm;
  arm.groups++;
  arm.recent = [...arm.recent, { count, sum, solved }].slice(-RECENT_MAX);
}

/** Gives out of the reserves one more task for each group that closed useless. */
function release(reader: Reader): void {
  const { run } = reader;
  const alike = alikeOf(run.config);
  for (const batch of run.batches) {
    if (batch.reserve.length === 0) continue;
    const { groups, reserve, prompts, cursor, generations } = batch;
    const useless = groups.filter(({ closed }) => closed !== undefined && isUseless(closed, alike)).length;
    while (groups.length < prompts + useless) {
      const task = reserve.shift();
      if (task === undefined) break;
      lastOf(reader).tasks.set(cursor + groups.length, task);
      groups.push(freshGroup(task, generations));
      issue(run, task);
    }
  }
}

function issue(run: ReadRun, { arm, repeat }: ReadTask): void {
  const counters = run.arms[arm] as ReadArm;
  counters.issued++;
  counters.repeats += Number(repeat);
}

/** Batches that are closed without a gap. */
function countClosed(run: ReadRun): void {
  const open = run.batches.find(
    ({ index, groups }) => index >= run.batchesClosed && groups.some(({ closed }) => closed === undefined),
  );
  run.batchesClosed = open?.index ?? run.batchesDrawn;
}

const noArm = (): ReadArm => ({
  ...{ issued: 0, repeats: 0, nextOrdinal: 0, groups: 0, recent: [] },
  folded: { groups: 0, count: 0, sum: 0, solved: 0 },
});

function armsOf(config: Config): readonly Config[] {
  return config["arms"] as readonly Config[];
}

function created(row: Row, reader: Partial<Reader>): ReadRun {
  const [runId, incarnation, atMs, config] = row as unknown as [string, string, number, Config];
  const arms = armsOf(config);
  const policy = config["policy"] ?? null;
  reader.segments?.push(segment(incarnation, 0, undefined));
  return {
    ...{ runId, config, configCreated: null, policy, policyState: firstState(policy, arms.length, 0) },
    ...{ createdAtMs: atMs, version: 0 },
    weights: arms.map(({ weight }) => Number(weight)),
    masks: arms.map(() => null),
    ...{ paused: false, incarnations: [incarnation], epoch: 0, rolledBack: [], cursor: 0, prompts: 0, handedOut: 0 },
    ...{ batchesDrawn: 0, batchesClosed: 0, batchesFolded: 0, samplesRecorded: 0, probabilities: null },
    ...{ arms: arms.map(noArm), batches: [], issued: [new Set(), new Set()], nextSeq: 0 },
    memory: looksBack(policy) ? new Map() : null,
  };
}

/** A policy's state before its first draw, where it is plain. */
function firstState(policy: Data, arms: number, prompts: number): Data {
  const { mixture, staged, forgetting } = policy as Config;
  if (mixture !== undefined) return null;
  if (staged !== undefined || forgetting !== undefined) return [0, prompts];
  return isAverages(policy) ? new Array<number>(arms).fill(0) : UNSAID;
}

/** A bandit that keeps moving averages and nothing else: its state is its values. */
function isAverages(policy: Data): boolean {
  const bandit = (policy as Config)["bandit"] as Config | undefined;
  const { rule = "BANDIT_RULE_EMA_SOFTMAX", signal, rescale } = bandit ?? {};
  const plain = rule === "BANDIT_RULE_EMA_SOFTMAX" && signal !== "BANDIT_SIGNAL_LEARNING_PROGRESS";
  return bandit !== undefined && plain && rescale === undefined;
}

/** The closed groups that a draw folds in, in order, with their update batches. */
function due(run: ReadRun, through: Data) {
  const ranges = through as readonly (readonly [number, number])[];
  const isDue = ({ index }: ReadBatch, cursor: number): boolean =>
    typeof through === "number"
      ? run.batchesFolded <= index && index < through
      : ranges.some(([first, last]) => first <= cursor && cursor <= last);
  return run.batches.flatMap((batch) =>
    batch.groups.flatMap((group, i) =>
      group.closed !== undefined && isDue(batch, batch.cursor + i) ? [{ batch, group, outcome: group.closed }] : [],
    ),
  );
}

/** What a draw folds in: marks it, and adds it to the arms and to what is remembered, where the policy learns from it. */
function fold({ hashOf, run }: Reader, through: Data): void {
  const late = run.config["lateFeedback"] as Config | null;
  for (const { batch, group, outcome } of due(run, through)) {
    if (typeof through !== "number") group.folded = true;
    const isLate = late !== null && run.batchesDrawn - 1 - batch.index > Number(late["batchesMax"]);
    if (!takesFeedback(run.policy) || (isLate && late["weight"] === 0)) continue;
    const { count, sum, solved } = outcome;
    if (count === 0) continue;
    const arm = run.arms[group.arm] as ReadArm;
    const { folded } = arm;
    arm.folded = {
      ...{ groups: folded.groups + 1, count: folded.count + count, sum: folded.sum + sum },
      solved: solved === null || folded.solved === null ? null : folded.solved + solved,
    };
    if (run.memory === null || solved === null) continue;
    const hash = hashOf(group.key);
    const before = run.memory.get(hash) ?? 0;
    const now = solved === count ? -1 : solved > 0 ? 0 : Math.max(0, before) + 1;
    if (now !== before) run.memory.set(hash, now);
  }
  if (typeof through === "number") run.batchesFolded = through;
}

/** How many tasks a draw must have, and how many of them are to train on. */
function checkSize({ run, faults }: Reader, tasks: number, prompts: number): void {
  const { config } = run;
  const sampling = config["dynamicSampling"] as Config | null;
  const length = Number(config["length"]);
  const expected = Math.min(Number(config["promptsPerUpdate"]), length === 0 ? Infinity : length - run.prompts);
  const slots = Math.ceil(expected * Number(sampling?.["oversampleMax"] ?? 1));
  if (prompts !== expected || tasks !== slots)
    faults.push(`batch ${run.batchesDrawn} has ${prompts} prompts and ${tasks} tasks, not ${expected} and ${slots}`);
}

function checkDrawn(reader: Reader, cursor: number, task: ReadTask, restarts: boolean, here: Set<string>): void {
  const { run, faults, hashOf } = reader;
  const fault = (what: string): void => void faults.push(`task ${cursor} ${what}`);
  const arm = run.arms[task.arm] as ReadArm;
  if (armsOf(run.config)[task.arm]?.["removed"] === true) fault("is of an arm that was removed");
  else if (run.weights[task.arm] === 0) fault("is of an arm of weight 0");
  if (run.masks[task.arm] !== null) fault("is of an arm that is masked");
  if (!restarts && task.ordinal < arm.nextOrdinal) fault("is drawn again");
  const hash = hashOf(task.key);
  if (task.repeat !== (here.has(hash) || run.issued.some((hashes) => hashes.has(hash))))
    fault("is a repeat, or is not, wrongly");
  here.add(hash);
}

function valuesOf({ policy, arms }: ReadRun, policyState: Data): Data {
  if ((policy as Config)["bandit"] === undefined) return arms.map(() => 0);
  return isAverages(policy) ? policyState : UNSAID;
}

function drawn(reader: Reader, row: Row): void {
  const { run, faults } = reader;
  const [index, atMs, cursor, probabilities = null, policyState = null, through = null, list] = row;
  const tasks = (list as Row).map(taskOf);
  const [prompts, restarts] = [Number(row[7] ?? tasks.length), row[8] === 1];
  if (index !== run.batchesDrawn || cursor !== run.cursor)
    faults.push(
      `batch ${JSON.stringify(index)} is drawn at ${JSON.stringify(cursor)}, after ${run.batchesDrawn} at ${run.cursor}`,
    );
  const sum = (probabilities as readonly number[]).reduce((total, share) => total + share, 0);
  if (Math.abs(sum - 1) > 1e-9) faults.push(`the probabilities of batch ${run.batchesDrawn} make ${sum}`);
  checkSize(reader, tasks.length, prompts);
  fold(reader, through);
  const generations = Number(run.config["numGenerations"]);
  const here = new Set<string>();
  if (restarts) for (const arm of run.arms) arm.nextOrdinal = 0;
  for (const [i, task] of tasks.entries()) {
    checkDrawn(reader, run.cursor + i, task, restarts, here);
    (run.arms[task.arm] as ReadArm).nextOrdinal = task.ordinal + 1;
    if (i >= prompts) continue;
    issue(run, task);
    lastOf(reader).tasks.set(run.cursor + i, task);
  }
  if (restarts) run.issued = [run.issued[1], new Set()];
  for (const hash of here) run.issued[1].add(hash);
  lastOf(reader).prompts.set(run.batchesDrawn, prompts);
  run.batches.push({
    ...{ index: Number(index), cursor: run.cursor, seq: run.nextSeq, epoch: run.epoch, drawnAtMs: Number(atMs) },
    ...{ probabilities, values: valuesOf(run, policyState), prompts, generations },
    groups: tasks.slice(0, prompts).map((task) => freshGroup(task, generations)),
    reserve: tasks.slice(prompts),
  });
  run.cursor += tasks.length;
  run.prompts += prompts;
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
      if (group === undefined || group.closed !== undefined)
        reader.faults.push(`sample ${sample} of ${cursor} is recorded although its group is not open`);
      else if (group.digests[sample] !== null) reader.faults.push(`sample ${sample} of ${cursor} is counted twice`);
      else [group.digests[sample], group.results[sample]] = [digest, result];
    }
    if (group !== undefined && group.closed === undefined && group.results.every((result) => result !== null))
      close(run, group, outcomeOf(group.results));
  }
  release(reader);
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
    else if (group === undefined) reader.faults.push(`advantages of ${cursor} are counted although it is in reserve`);
    else {
      const sizes = (advantages as readonly number[]).map(Math.abs);
      const advantage = sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
      close(reader.run, group, { count, sum: count * (mean ?? 0), solved: null, deviation: null, advantage });
    }
  }
  release(reader);
  countClosed(reader.run);
}

function closed(reader: Reader, ranges: readonly (readonly [number, number])[]): void {
  for (const [first, last] of ranges) {
    for (let cursor = first; cursor <= last; cursor++) {
      lastOf(reader).closed.push(cursor);
      const group = groupAt(reader.run, cursor);
      if (group === undefined || group.closed !== undefined) reader.faults.push(`${cursor} is closed and was not open`);
      else close(reader.run, group, outcomeOf(group.results));
    }
  }
  release(reader);
  countClosed(reader.run);
}

/** Groups are open again, with what they had; what their arms counted of them is taken away. */
function reopened(reader: Reader, ranges: readonly (readonly [number, number])[], atMs: number): void {
  const { run, faults } = reader;
  for (const [first, last] of ranges) {
    for (let cursor = first; cursor <= last; cursor++) {
      lastOf(reader).reopened.push(cursor);
      const batch = batchAt(run, cursor);
      const group = groupAt(run, cursor);
      const outcome = group?.closed;
      if (batch === undefined || group === undefined || outcome === undefined) {
        faults.push(`${cursor} is opened again although it was open`);
        continue;
      }
      if (!group.results.includes(null)) faults.push(`${cursor} is opened again although it is whole`);
      const isFolded = run.config["lag"] === "unbounded" ? group.folded : batch.index < run.batchesFolded;
      if (isFolded) faults.push(`${cursor} is opened again although a draw has folded it in`);
      Object.assign(group, { closed: undefined, handedOutAtMs: atMs });
      run.batchesClosed = Math.min(run.batchesClosed, batch.index);
      if (outcome.count === 0) continue;
      const arm = run.arms[group.arm] as ReadArm;
      const at = arm.recent.findLastIndex(
        ({ count, sum, solved }) => count === outcome.count && sum === outcome.sum && solved === outcome.solved,
      );
      arm.groups--;
      arm.recent = arm.recent.filter((_, i) => i !== at);
    }
  }
}

function handOut(run: ReadRun, from: number, through: number, atMs: number): void {
  for (const [cursor, group] of groupsOf(run))
    if (from <= cursor && cursor < through) group.handedOutAtMs ??= atMs;
  run.handedOut = Math.max(run.handedOut, through);
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
  reader.segments?.push(segment(incarnation, from, readHead(text), state));
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
  else if (kind === "weights_set") run.weights = one as readonly number[];
  else if (kind === "advanced") run.policyState = one;
  else if (kind === "arm_masked") mask(two as string);
  else if (kind === "arm_unmasked") mask(null);
  else if (kind === "policy_updated") updatePolicy(run, one);
  else if (kind === "reshaped") reshape(run, one as Config, two);
  else throw new Error(`there is no event "${kind}"`);
}

function updatePolicy(run: ReadRun, policy: Data): void {
  const [kind] = Object.keys(policy as Config).filter((name) => name !== "constraints" && name !== "filter");
  // What it keeps is not said; after a policy of another kind it keeps nothing.
  const keeps = kind !== undefined && kind !== "mixture" && (run.policy as Config)[kind] !== undefined;
  run.policyState = keeps ? UNSAID : firstState(policy, run.arms.length, run.prompts);
  run.policy = policy;
  run.memory = looksBack(policy) ? (run.memory ?? new Map()) : null;
}

/** Arms that are new come behind those there are. */
function reshape(run: ReadRun, config: Config, policy: Data): void {
  const arms = armsOf(config);
  const before = run.arms.length;
  run.configCreated ??= run.config;
  run.config = config;
  run.arms = arms.map((_, i) => run.arms[i] ?? noArm());
  run.weights = arms.map(({ weight, removed }, i) => (removed === true ? 0 : (run.weights[i] ?? Number(weight))));
  run.masks = arms.map((_, i) => run.masks[i] ?? null);
  if (run.probabilities !== null)
    run.probabilities = arms.map((_, i) => (run.probabilities as readonly number[])[i] ?? 0);
  if (arms.length > before && (run.policy as Config)["bandit"] !== undefined) run.policyState = UNSAID;
  if (policy !== null) updatePolicy(run, policy);
}

/** Reads a journal from its beginning. */
export function readJournal(events: readonly string[], hashOf: HashOf): Reading {
  const reader: Partial<Reader> & Omit<Reader, "run"> = { hashOf, segments: [], faults: [] };
  for (const [i, text] of events.entries()) {
    const end = text.indexOf("\n");
    const [format, kind, ...row] = JSON.parse(end < 0 ? text : text.slice(0, end)) as Row;
    if (format !== 4) throw new Error(`an event of format ${JSON.stringify(format)}`);
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
  else if (kind === "handed_out") handOut(reader.run, Number(one), Number(two), Number(row[2]));
  else if (kind === "fed") feedback(reader, row);
  else if (kind === "reported") reported(reader, one as readonly Row[]);
  else if (kind === "closed") {
    closed(reader, one as readonly (readonly [number, number])[]);
    reader.run.nextSeq++;
  } else if (kind === "reopened") {
    reopened(reader, one as readonly (readonly [number, number])[], Number(two));
    reader.run.nextSeq++;
  } else control(reader.run, kind, row);
}
