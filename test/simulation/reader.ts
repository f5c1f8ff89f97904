/**
 * An independent reader of a run's journal. It is written from the format's description at the head of
 * server/curriculum/core/events.ts, and shares no code with the server: what both make of a journal must be the same.
 */
import { drawn } from "./reader-draws.ts";
import { feedback, reported, closed, reopened } from "./reader-groups.ts";
import { type Data, type Row, UNSAID, type Config, type ReadRun, readHead, readState } from "./reader-state.ts";
import {
  type HashOf,
  type Reading,
  type Reader,
  segment,
  groupsOf,
  looksBack,
  noArm,
  armsOf,
  firstState,
} from "./reading.ts";

function created(row: Row, reader: Partial<Reader>): ReadRun {
  const [runId, incarnation, atMs, config] = row as unknown as [string, string, number, Config];
  const arms = armsOf(config);
  const policy = config["policy"] ?? null;
  reader.segments?.push(segment(incarnation, 0, undefined));
  return {
    runId,
    config,
    configCreated: null,
    policy,
    policyState: firstState(policy, arms.length, 0),
    createdAtMs: atMs,
    version: 0,
    weights: arms.map(({ weight }) => Number(weight)),
    masks: arms.map(() => null),
    paused: false,
    incarnations: [incarnation],
    epoch: 0,
    rolledBack: [],
    cursor: 0,
    prompts: 0,
    handedOut: 0,
    batchesDrawn: 0,
    batchesClosed: 0,
    batchesFolded: 0,
    samplesRecorded: 0,
    probabilities: null,
    arms: arms.map(noArm),
    batches: [],
    issued: [new Set(), new Set()],
    nextSeq: 0,
    memory: looksBack(policy) ? new Map() : null,
  };
}

function handOut(run: ReadRun, from: number, through: number, atMs: number): void {
  for (const [cursor, group] of groupsOf(run)) if (from <= cursor && cursor < through) group.handedOutAtMs ??= atMs;
  run.handedOut = Math.max(run.handedOut, through);
}

export function imported(reader: Partial<Reader>, row: Row, text: string, from: number): ReadRun {
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
    runId,
    epoch,
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
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
