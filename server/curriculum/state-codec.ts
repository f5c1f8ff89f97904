/**
 * Writes and reads a run's state in snapshots and exports, as a SavedRun of proto/gradus/internal/v1/run.proto. It
 * handles one part at a time, so that other work can run between the parts of a large state.
 */
import { isDeepStrictEqual } from "node:util";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import * as wire from "../../proto/gen/gradus/internal/v1/run_pb.js";
import { type Batch, blankSamples, type DrawnTask, type Group, recordedOf, shared, withSamples } from "./batches.ts";
import { pagesOf, withLeftOut, withResults } from "./evaluation-rounds.ts";
import { addHash, addPacked, HASH_BYTES, hashLog, issuedHashes, packedHashes } from "./issued-hashes.ts";
import { FormatError } from "./json.ts";
import { changesOf } from "./by-arm.ts";
import {
  bare,
  byArmFrom,
  bytesOf,
  type Codecs,
  configDraft,
  configFrom,
  type Draft,
  FORMAT,
  messageOf,
  otherFormat,
  policyFrom,
  factsFrom,
  lengthsFrom,
  policyStateFrom,
  policyStateText,
  policyText,
  rangeDraft,
  rangeFrom,
  required,
  resultsDraft,
  resultsFrom,
  sampleMessages,
  samplesFrom,
  taskFrom,
  taskMessage,
} from "./event-codec.ts";
import { freshTable } from "./row-arms.ts";
import { nothingMalformed } from "./malformed-samples.ts";
import { leftOutOf, listOf, placesIn, placesOfRanges, type RowList } from "./row-lists.ts";
import { isBlank, rowsOfPage, type RowTable, withListed, withPages } from "./row-table.ts";
import { type ArmCounters, type EvaluationRound, type RunState, toRanges } from "./state.ts";
import { memoryOf, memoryRecords, type TaskRecord } from "./task-memory.ts";
import type { InstanceKey, RunConfig } from "./types.ts";

type Part = Draft<wire.StatePart["part"]>;

/**
 * Maximum number of samples, or of entries of another list, in one part of a stored state. A part of this size has
 * about 100 KB.
 */
const SAMPLES_PER_PART = 4096;

/**
 * Yields successive parts of a list, with at most SAMPLES_PER_PART samples in each. `samples` is the number of samples
 * in each entry of the list.
 */
function* slices<T>(list: readonly T[], samples = 1): Generator<readonly T[]> {
  const size = Math.max(1, Math.floor(SAMPLES_PER_PART / samples));
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

function headDraft(state: RunState, { specs }: Codecs, journal: string): Draft<wire.StateHead> {
  const { config, configCreated, policy, probabilities, rolledBack, controlRolledBack } = state;
  return {
    ...state,
    format: FORMAT,
    config: configDraft(config, specs),
    configCreated: configCreated === config ? null : configDraft(configCreated, specs),
    policy: policyText(policy),
    policyState: policyStateText(policy, state.policyState),
    masks: state.masks.map((reason) => ({ reason })),
    rolledBack: rolledBack.map(rangeDraft),
    controlRolledBack: isDeepStrictEqual(controlRolledBack, rolledBack)
      ? null
      : { ranges: controlRolledBack.map(rangeDraft) },
    probabilities: probabilities ?? [],
    remembers: state.memory !== null,
    journal,
  };
}

function headFrom(message: wire.StateHead, { specs }: Codecs) {
  if (message.format !== FORMAT) throw otherFormat("the state", message.format);
  const { format: _format, journal: _journal, ...head } = bare(message);
  const config = configFrom(head.config, specs);
  const policy = policyFrom(head.policy);
  return {
    ...head,
    config,
    configCreated: head.configCreated === undefined ? config : configFrom(head.configCreated, specs),
    policy,
    policyState: policyStateFrom(policy, head.policyState),
    masks: head.masks.map(({ reason = null }) => reason),
    rolledBack: head.rolledBack.map(rangeFrom),
    controlRolledBack: (head.controlRolledBack?.ranges ?? head.rolledBack).map(rangeFrom),
    // States of older servers lack this field.
    malformed: malformedFrom(head.malformed),
    probabilities: head.probabilities.length === 0 ? null : head.probabilities,
  };
}

function malformedFrom(message: wire.MalformedRecord | undefined): RunState["malformed"] {
  if (message === undefined) return nothingMalformed;
  const { whole, ...counted } = bare(message);
  return { ...counted, whole: whole === undefined ? null : bare(whole) };
}

function sumsFrom<Sums extends wire.RewardSums | wire.Tally | wire.GroupOutcome>(sums: Sums) {
  return { ...bare(sums), solved: sums.solved ?? null };
}

function countersFrom(message: wire.ArmCounters): ArmCounters {
  const folded = sumsFrom(required(message.folded, "the sum of an arm's folded groups"));
  const { lengths, ...counters } = bare(message);
  return { ...counters, recent: message.recent.map(sumsFrom), folded, ...lengthsFrom(lengths) };
}

function groupDraft(group: Group, keys: Codecs["keys"]): Draft<wire.Group> {
  return {
    task: taskMessage(group.task, keys),
    handedOutAtMs: group.handedOutAtMs,
    samples: sampleMessages(recordedOf(group)),
    outcome: group.kind === "closed" ? { ...group.outcome, facts: group.outcome.facts ?? {} } : null,
    folded: group.kind === "closed" && group.folded,
    lengths: group.lengths,
  };
}

/** Throws a FormatError if a sample's index is not below `numGenerations`. */
function checkSamples(samples: readonly wire.Sample[], numGenerations: number): void {
  if (samples.some(({ index }) => index >= numGenerations))
    throw new FormatError(`a sample's index is not below ${numGenerations}, the number of its task's samples`);
}

function groupFrom(message: wire.Group, task: DrawnTask, numGenerations: number): Group {
  const { samples, handedOutAtMs, outcome, folded, lengths } = message;
  checkSamples(samples, numGenerations);
  const known = withSamples(blankSamples(numGenerations), samplesFrom(samples));
  const base = { task, handedOutAtMs: handedOutAtMs ?? null, ...known, ...lengthsFrom(lengths) };
  if (outcome === undefined) return { kind: "open", ...base, missing: numGenerations - samples.length };
  const { deviation = null, advantage = null, quality } = outcome;
  const { facts: all, ...sums } = sumsFrom(outcome);
  const facts = factsFrom(all);
  const cameTo = { ...sums, deviation, advantage, quality, ...(facts && { facts }) };
  return { kind: "closed", ...base, results: shared(known.results), outcome: cameTo, folded };
}

/** Returns the message fields of an update batch. `previous` is the batch before it in the run's state. */
function batchDraft(batch: Batch, previous: Batch | undefined): Draft<wire.Batch> {
  const { probabilities, values, toldBefore: told } = batch;
  const isPrevious = previous?.probabilities === told?.probabilities && previous?.values === told?.values;
  return {
    ...batch,
    probabilities: changesOf(told?.probabilities ?? null, probabilities),
    values: changesOf(told?.values ?? null, values),
    toldBefore:
      told === null
        ? { case: undefined }
        : isPrevious
          ? { case: "previous", value: true }
          : { case: "told", value: told },
  };
}

function batchFrom({ toldBefore: told, ...message }: wire.Batch, previous: Batch | undefined) {
  const before =
    told.case === undefined ? null : told.case === "told" ? bare(told.value) : required(previous, "the batch before");
  return {
    ...bare(message),
    probabilities: byArmFrom(message.probabilities, before && before.probabilities),
    values: byArmFrom(message.values, before && before.values),
    toldBefore: before && { probabilities: before.probabilities, values: before.values },
  };
}

function* batchParts(batch: Batch, previous: Batch | undefined, keys: Codecs["keys"]): Generator<Part> {
  yield { case: "batch", value: batchDraft(batch, previous) };
  for (const groups of slices(batch.groups, batch.numGenerations))
    yield { case: "tasks", value: { groups: groups.map((group) => groupDraft(group, keys)), reserve: [] } };
  for (const reserve of slices(batch.reserve))
    yield { case: "tasks", value: { groups: [], reserve: reserve.map((task) => taskMessage(task, keys)) } };
}

function* roundParts(round: EvaluationRound, { evaluationArms }: RunConfig): Generator<Part> {
  yield { case: "round", value: round };
  const tasks = round.pages.flat().flatMap((task, cursor) => (task === null ? [] : [{ cursor, task }]));
  for (const some of slices(tasks, evaluationArms[round.arm]?.numGenerations)) {
    const results = some.map(({ cursor, task }) => resultsDraft({ cursor, ...recordedOf(task) }));
    yield { case: "evaluated", value: { tasks: results } };
  }
}

function bytesIn({ buffer, byteOffset, byteLength }: Uint8Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Yields the parts of an arm's row table. Pages are left out if the table knows nothing about any of their rows. */
function* rowParts(arm: number, { pages }: RowTable): Generator<Part> {
  for (const [page, of] of pages.entries()) {
    if (isBlank(of)) continue;
    const { seen, solved, streak } = of;
    const value = { arm, page, seen: bytesIn(seen), solved: bytesIn(solved), streak: bytesIn(streak) };
    yield { case: "rows", value };
  }
}

function listDraft({ walks, gone, ...list }: RowList): Draft<wire.RowList> {
  const ofArms = [...walks].map(([arm, walk]) => ({ arm, ...walk }));
  return { ...list, walks: ofArms, gone: toRanges([...gone].sort((a, b) => a - b)).map(rangeDraft) };
}

function listFrom({ walks, gone, ...list }: wire.RowList): RowList {
  const ofArms = walks.map(({ arm, reached, passes }) => [arm, { reached, passes: passes.map(bare) }] as const);
  return { ...bare(list), walks: new Map(ofArms), gone: new Set(placesOfRanges(gone.map(rangeFrom))) };
}

function* stateParts(state: RunState, codecs: Codecs, journal: string): Generator<Part> {
  yield { case: "head", value: headDraft(state, codecs, journal) };
  for (const list of state.lists) yield { case: "rowList", value: listDraft(list) };
  for (const arm of state.arms) yield { case: "arm", value: { ...arm, lengths: arm.lengths } };
  for (const [i, batch] of state.batches.entries()) yield* batchParts(batch, state.batches[i - 1], codecs.keys);
  for (const round of state.evaluations) yield* roundParts(round, state.config);
  for (const piece of packedHashes(state.issued, SAMPLES_PER_PART))
    yield { case: "issued", value: { ...piece, hashes: [] } };
  for (const [generation, all] of memoryRecords(state.memory).entries())
    for (const records of slices(all)) yield { case: "memory", value: { generation, records } };
  for (const [arm, table] of state.rows.entries()) if (table !== null) yield* rowParts(arm, table);
  yield { case: "end", value: true };
}

/**
 * Yields a SavedRun in pieces, which the caller joins. `journal` is the hash of the event after which the state was
 * taken.
 */
export function* encodeState(state: RunState, codecs: Codecs, journal = ""): Generator<Uint8Array> {
  for (const part of stateParts(state, codecs, journal))
    yield bytesOf(wire.SavedRunSchema, { parts: [{ part }], records: [] });
}

/** Yields history records, which follow the state's pieces in a SavedRun. */
export function* encodeRecords(records: readonly Draft<wire.SavedRecord>[]): Generator<Uint8Array> {
  for (const record of records) yield bytesOf(wire.SavedRunSchema, { parts: [], records: [record] });
}

/** Piece of a SavedRun (an encoded state with its history), with its length and the byte position where it ends. */
export interface Piece {
  readonly kind: "part" | "record";
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly end: number;
}

/** Yields the pieces of a SavedRun that encodeState and encodeRecords wrote. */
export function* piecesOf(run: Uint8Array): Generator<Piece> {
  const reader = new BinaryReader(run);
  const next = (): Piece => {
    try {
      const [field, type] = reader.tag();
      if (type === WireType.LengthDelimited && (field === 1 || field === 2)) {
        const bytes = reader.bytes();
        return { kind: field === 1 ? "part" : "record", bytes, length: bytes.length, end: reader.pos };
      }
    } catch {
      // The data is cut off or has an unknown format. The error below says so.
    }
    throw otherFormat("the state");
  };
  while (reader.pos < reader.len) yield next();
}

export function decodeRecord(bytes: Uint8Array): { readonly seq: number; readonly body: string } {
  return bare(messageOf(wire.SavedRecordSchema, bytes, "a record of the history"));
}

/** Returns bytes as 16-bit numbers. The bytes may begin at any address. */
function numbersIn(bytes: Uint8Array): Uint16Array<ArrayBuffer> {
  // A slice of a Buffer would share its memory and might begin at an odd address, so the bytes are copied.
  return new Uint16Array(new Uint8Array(bytes).buffer);
}

function pageFrom({ page, seen, solved, streak }: wire.RowPage, { rows }: RunConfig["arms"][number]) {
  const size = rowsOfPage(page, rows?.rows ?? 0);
  if (size === 0 || seen.length !== 2 * size || solved.length !== 2 * size || streak.length !== size)
    throw new FormatError(`page ${page} of an arm's stored rows does not have ${size} rows`);
  return { seen: numbersIn(seen), solved: numbersIn(solved), streak: new Uint8Array(streak) };
}

/** Returns a state of which only the first part, `head`, is read. Its lists grow in place until all parts are read. */
function startReading(head: ReturnType<typeof headFrom>) {
  return {
    head,
    lists: [] as RowList[],
    isWhole: false,
    arms: [] as ArmCounters[],
    batches: [] as (Omit<Batch, "groups" | "reserve" | "open"> & {
      readonly groups: Group[];
      readonly reserve: DrawnTask[];
      open: number;
    })[],
    evaluations: [] as EvaluationRound[],
    issued: [hashLog(), hashLog()] as const,
    memory: [[], []] as readonly [TaskRecord[], TaskRecord[]],
    rowPages: head.config.arms.map(() => new Map<number, ReturnType<typeof pageFrom>>()),
  };
}

type Reading = ReturnType<typeof startReading>;

function takeTasks({ head: { config }, batches }: Reading, message: wire.BatchTasks, keys: Codecs["keys"]): void {
  const batch = required(batches.at(-1), "the batch of some tasks");
  const { cursor, groups, reserve, numGenerations } = batch;
  const taken = (task: wire.DrawnTask): DrawnTask =>
    taskFrom(task, cursor + groups.length + reserve.length, config, keys);
  for (const group of message.groups) {
    const read = groupFrom(group, taken(required(group.task, "a group's task")), numGenerations);
    groups.push(read);
    if (read.kind === "open") batch.open++;
  }
  for (const task of message.reserve) reserve.push(taken(task));
}

function roundFrom(message: wire.EvaluationRound, { head: { config }, lists }: Reading): EvaluationRound {
  const { evaluationArms } = config;
  const of = evaluationArms[message.arm];
  if (of === undefined)
    throw new FormatError(
      `a stored round refers to evaluation arm ${message.arm}, but the run has only ${evaluationArms.length}`,
    );
  const { tasks: size, numGenerations } = of;
  const blank = { ...bare(message), size, pages: pagesOf(size) };
  return withLeftOut(blank, leftOutOf({ config, lists }, message.arm), numGenerations);
}

function takeEvaluated({ head: { config }, evaluations }: Reading, { tasks }: wire.EvaluatedTasks): void {
  const round = required(evaluations.pop(), "the round of some tasks");
  const numGenerations = config.evaluationArms[round.arm]?.numGenerations ?? 0;
  for (const { cursor, samples } of tasks) {
    if (!(cursor < round.size)) throw new FormatError(`the set of an evaluation arm has no task ${cursor}`);
    checkSamples(samples, numGenerations);
  }
  evaluations.push(withResults(round, tasks.map(resultsFrom), numGenerations));
}

function takeIssued({ issued }: Reading, { generation, hashes, packed }: wire.IssuedHashes): void {
  const log = required(issued[generation], "a generation of hashes");
  for (const hash of hashes) addHash(log, hash);
  if (packed.length % HASH_BYTES !== 0)
    throw new FormatError("the stored hashes of issued tasks do not have 8 bytes each");
  addPacked(log, packed);
}

function takePart(reading: Reading, part: wire.StatePart["part"], codecs: Codecs): void {
  if (reading.isWhole) throw new FormatError("the stored state continues after its end");
  switch (part.case) {
    case "arm":
      reading.arms.push(countersFrom(part.value));
      return;
    case "batch":
      reading.batches.push({ ...batchFrom(part.value, reading.batches.at(-1)), groups: [], reserve: [], open: 0 });
      return;
    case "tasks":
      takeTasks(reading, part.value, codecs.keys);
      return;
    case "round":
      reading.evaluations.push(roundFrom(part.value, reading));
      return;
    case "evaluated":
      takeEvaluated(reading, part.value);
      return;
    case "rowList":
      reading.lists.push(listFrom(part.value));
      return;
    case "issued":
      takeIssued(reading, part.value);
      return;
    case "memory":
      required(reading.memory[part.value.generation], "a generation of records").push(...part.value.records.map(bare));
      return;
    case "rows":
      required(reading.rowPages[part.value.arm], "the arm of some rows").set(
        part.value.page,
        pageFrom(part.value, required(reading.head.config.arms[part.value.arm], "the arm of some rows")),
      );
      return;
    case "end":
      reading.isWhole = true;
      return;
    default:
      throw new FormatError(`the stored state has an unexpected field, ${JSON.stringify(part.case ?? null)}`);
  }
}

function stateFrom({ head, issued, memory, rowPages, isWhole: _whole, ...lists }: Reading): RunState {
  const { remembers, ...plain } = head;
  const tables = head.config.arms.map(freshTable);
  return {
    ...plain,
    ...lists,
    groupsOpen: lists.batches.reduce((sum, { open }) => sum + open, 0),
    issued: issuedHashes(...issued),
    memory: remembers ? memoryOf(...memory) : null,
    rows: tables.map((blank, arm) => {
      const table = blank && withPages(blank, rowPages[arm] ?? new Map<number, never>());
      const list = listOf(lists.lists, head.config.arms[arm]?.id ?? "");
      return table && list ? withListed(table, placesIn(list), list.gone) : table;
    }),
  };
}

/** Reads the parts of a state one by one. Throws a FormatError for data that encodeState did not write. */
export function stateReader<Spec, Key extends InstanceKey>(codecs: Codecs<Spec, Key>) {
  let reading: Reading | undefined;
  return {
    take(bytes: Uint8Array): void {
      const { part } = messageOf(wire.StatePartSchema, bytes, "the state");
      if (reading !== undefined) takePart(reading, part, codecs);
      else if (part.case === "head") reading = startReading(headFrom(part.value, codecs));
      else throw otherFormat("the state");
    },
    end(): RunState<Spec, Key> {
      if (reading?.isWhole !== true) throw new FormatError("the stored state is cut off");
      return stateFrom(reading) as RunState<Spec, Key>;
    },
  };
}
