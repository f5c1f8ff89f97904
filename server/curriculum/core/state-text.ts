/**
 * How a run's state is written down, as a snapshot and in an export: lines of JSON, none of them long, so that whoever
 * reads or writes a large state can let others work in between.
 *
 *     {"format": 4, …, "batches": 2, "issued": [0, 1]}   all but what follows, by the state's own names; how much follows
 *     ["batch", index, cursor, seq, epoch, drawn_at_ms, probabilities, values, prompts, generations, groups,
 *      reserve]
 *     ["groups", group, …]                               of the batch before it
 *     ["reserve", task, …]                               likewise
 *     ["evaluation", arm, round, seq, epoch, opened_at_ms, cursor, tasks]
 *     ["evaluated", [ordinal, samples, digests, results], …]   of the round before it
 *     ["issued", generation, hashes]                     hashes joined by spaces; generation 0 is the older one
 *     ["memory", generation, records]                    hashes and records in turn, joined by spaces
 *
 * A batch's `groups` and `reserve` are how many it has, and a round's `tasks` how many have samples. The head says how
 * many rounds of evaluation there are, if any, as "evaluations", and in an export the hash of the last event as "journal". Groups, outcomes and tallies are lists, for they are many.
 */
import {
  checkFormat,
  type Codecs,
  decodeConfig,
  decodePolicyState,
  decodeRanges,
  decodeTask,
  encodeConfig,
  encodePolicyState,
  encodeTask,
  FORMAT,
} from "./codec.ts";
import { decodeRound, type ReadingRound, roundLines, roundOf, takeTask } from "./evaluation-text.ts";
import { decodeCounters, decodeGroup, encodeCounters, encodeGroup } from "./group-text.ts";
import { type HashLog, hashLists, issuedHashes, logged } from "./issued-hashes.ts";
import {
  FormatError,
  type Json,
  parseJson,
  readFlag,
  readList,
  readNumber,
  readNumbers,
  readObject,
  readOrNull,
  readText,
} from "./json.ts";
import { policyCodec } from "../policies/registry.ts";
import type { Batch, DrawnTask, Group } from "./batches.ts";
import type { RunState } from "./state.ts";
import { memoryFromTexts, memoryTexts } from "./task-memory.ts";
import type { InstanceKey } from "./types.ts";

/** Samples of groups, and hashes, that stand in one line: about 100 KB. */
const SAMPLES_PER_LINE = 4096;
const HASHES_PER_LINE = 8192;

/** Slices of a list, one after the other. */
function* slices<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

function* batchLines<Spec, Key extends InstanceKey>(
  batch: Batch<Key>,
  size: number,
  codecs: Codecs<Spec, Key>,
): Generator<Json> {
  const { index, cursor, seq, epoch, drawnAtMs, probabilities, values, groups, prompts, reserve } = batch;
  const counts = [prompts, batch.numGenerations, groups.length, reserve.length];
  yield ["batch", index, cursor, seq, epoch, drawnAtMs, probabilities, values, ...counts];
  for (const some of slices(groups, size)) yield ["groups", ...some.map((group) => encodeGroup(group, codecs))];
  for (const some of slices(reserve, SAMPLES_PER_LINE))
    yield ["reserve", ...some.map((task) => encodeTask(task, codecs.keys))];
}

function headOf<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
  journal: string | undefined,
): Json {
  const { config, configCreated, policy, policyState, arms, batches, issued, memory, ...rest } = state;
  const { groupsOpen: _counted, evaluations, ...plain } = rest;
  const { older, recent } = issued;
  return {
    format: FORMAT,
    ...plain,
    config: encodeConfig(config, codecs.specs),
    configCreated: configCreated === config ? null : encodeConfig(configCreated, codecs.specs),
    policy: policyCodec.encode(policy),
    policyState: encodePolicyState(policy, policyState),
    arms: arms.map(encodeCounters),
    batches: batches.length,
    issued: [older.count, recent.count],
    ...(memory && { memory: [memory.older.count, memory.recent.count] }),
    ...(evaluations.length > 0 && { evaluations: evaluations.length }),
    ...(journal !== undefined && { journal }),
  };
}

/** The lines of a state, without line feeds. `journal`: the hash of the event that led to it. */
export function* stateLines<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
  journal?: string,
): Generator<string> {
  yield JSON.stringify(headOf(state, codecs, journal));
  const perLine = Math.max(1, Math.floor(SAMPLES_PER_LINE / state.config.numGenerations));
  for (const batch of state.batches) for (const line of batchLines(batch, perLine, codecs)) yield JSON.stringify(line);
  for (const round of state.evaluations) {
    const { numGenerations = 1 } = state.config.evaluationArms[round.arm] ?? {};
    const tasksPerLine = Math.max(1, Math.floor(SAMPLES_PER_LINE / numGenerations));
    for (const line of roundLines(round, tasksPerLine)) yield JSON.stringify(line);
  }
  const { older, recent } = hashLists(state.issued);
  for (const [generation, hashes] of [older, recent].entries())
    for (const some of slices(hashes, HASHES_PER_LINE)) yield JSON.stringify(["issued", generation, some.join(" ")]);
  if (state.memory === null) return;
  for (const [generation, texts] of memoryTexts(state.memory).entries())
    for (const some of slices(texts, HASHES_PER_LINE)) yield JSON.stringify(["memory", generation, some.join(" ")]);
}

/** Takes the lines of a state, one by one. Whatever stateLines did not write is a FormatError. */
export interface StateReader<Spec, Key extends InstanceKey> {
  /** False: all of the state has been read, and the line is none of it. */
  take(line: string): boolean;
  end(): RunState<Spec, Key>;
}

/** A batch as it is being read. */
type Reading<Key extends InstanceKey> = Omit<Batch<Key>, "groups" | "reserve" | "open"> & {
  /** Of groups, and of tasks in reserve. */
  readonly counts: readonly [number, number];
  readonly groups: Group<Key>[];
  readonly reserve: DrawnTask<Key>[];
};

function decodeBatch<Key extends InstanceKey>(json: readonly Json[]): Reading<Key> {
  const [, index, cursor, seq, epoch, drawnAtMs, probabilities, values, ...counts] = json;
  const [prompts, numGenerations, groups, reserve] = counts;
  return {
    index: readNumber(index),
    cursor: readNumber(cursor),
    seq: readNumber(seq),
    epoch: readNumber(epoch),
    drawnAtMs: readNumber(drawnAtMs),
    probabilities: readNumbers(probabilities),
    values: readNumbers(values),
    prompts: readNumber(prompts),
    numGenerations: readNumber(numGenerations),
    counts: [readNumber(groups), readNumber(reserve)],
    groups: [],
    reserve: [],
  };
}

function batchOf<Key extends InstanceKey>({ counts: _counts, ...batch }: Reading<Key>): Batch<Key> {
  return { ...batch, open: batch.groups.filter(({ kind }) => kind === "open").length };
}

function decodeHead<Spec, Key extends InstanceKey>(
  from: { readonly [name: string]: Json },
  { specs }: Codecs<Spec, Key>,
): Omit<RunState<Spec, Key>, "batches" | "issued" | "memory" | "evaluations" | "groupsOpen"> {
  checkFormat(from["format"], "the state");
  const policy = policyCodec.decode(from["policy"] ?? null);
  const number = (name: string): number => readNumber(from[name]);
  const config = decodeConfig(from["config"], specs);
  return {
    config,
    configCreated: readOrNull(from["configCreated"], (json) => decodeConfig(json, specs)) ?? config,
    policy,
    policyState: decodePolicyState(policy, from["policyState"]),
    runId: readText(from["runId"]),
    version: number("version"),
    createdAtMs: number("createdAtMs"),
    weights: readNumbers(from["weights"]),
    masks: readList(from["masks"]).map((mask) => readOrNull(mask, readText)),
    paused: readFlag(from["paused"]),
    incarnations: readList(from["incarnations"]).map(readText),
    epoch: number("epoch"),
    rolledBack: decodeRanges(from["rolledBack"]),
    cursor: number("cursor"),
    prompts: number("prompts"),
    handedOut: number("handedOut"),
    batchesDrawn: number("batchesDrawn"),
    batchesClosed: number("batchesClosed"),
    batchesFolded: number("batchesFolded"),
    samplesRecorded: number("samplesRecorded"),
    probabilities: readOrNull(from["probabilities"], readNumbers),
    arms: readList(from["arms"]).map(decodeCounters),
    nextSeq: number("nextSeq"),
  };
}

interface Parts<Spec, Key extends InstanceKey> {
  readonly head: ReturnType<typeof decodeHead<Spec, Key>>;
  readonly batches: Reading<Key>[];
  /** The hashes of each generation. */
  readonly issued: readonly [HashLog, HashLog];
  /** Of each generation, a text for each record. */
  readonly memory: readonly [string[], string[]];
  readonly evaluations: ReadingRound[];
  /** How many of each the head says there are; a memory of null: none is kept. */
  readonly counts: {
    readonly batches: number;
    readonly issued: readonly number[];
    readonly memory: readonly number[] | null;
    readonly evaluations: number;
  };
}

/** Whether no more lines are to come. */
function isWhole<Spec, Key extends InstanceKey>(parts: Parts<Spec, Key>): boolean {
  const { batches, issued, memory, evaluations, counts } = parts;
  const last = batches.at(-1);
  if (batches.length < counts.batches || evaluations.length < counts.evaluations) return false;
  if ((evaluations.at(-1)?.left ?? 0) > 0) return false;
  if (last !== undefined && (last.groups.length < last.counts[0] || last.reserve.length < last.counts[1])) return false;
  if (!issued.every(({ log }, generation) => log.length >= (counts.issued[generation] ?? 0))) return false;
  return memory.every((texts, generation) => texts.length >= (counts.memory?.[generation] ?? 0));
}

function takePart<Spec, Key extends InstanceKey>(
  { head, batches, issued, memory, evaluations }: Parts<Spec, Key>,
  json: readonly Json[],
  codecs: Codecs<Spec, Key>,
): void {
  const [kind, ...rest] = json;
  const batch = batches.at(-1);
  const round = evaluations.at(-1);
  if (kind === "batch") batches.push(decodeBatch(json));
  else if (kind === "groups" && batch !== undefined) {
    for (const group of rest) {
      const cursor = batch.cursor + batch.groups.length;
      const { numGenerations } = batch;
      batch.groups.push(decodeGroup(group, { cursor, config: head.config, numGenerations }, codecs));
    }
  } else if (kind === "reserve" && batch !== undefined) {
    for (const task of rest) {
      const cursor = batch.cursor + batch.groups.length + batch.reserve.length;
      batch.reserve.push(decodeTask(task, { cursor, config: head.config }, codecs.keys));
    }
  } else if (kind === "evaluation") evaluations.push(decodeRound(json, head.config));
  else if (kind === "evaluated" && round !== undefined) for (const task of rest) takeTask(round, task);
  else if (kind === "issued") {
    const hashes = issued[readNumber(rest[0])];
    if (hashes === undefined) throw new FormatError("a state has two generations of hashes");
    logged(readText(rest[1]).split(" "), hashes);
  } else if (kind === "memory") {
    const texts = memory[readNumber(rest[0])];
    if (texts === undefined) throw new FormatError("a state has two generations of records");
    const words = readText(rest[1]).split(" ");
    for (let i = 0; i < words.length; i += 2) texts.push(`${words[i] ?? ""} ${words[i + 1] ?? ""}`);
  } else throw new FormatError(`a line of a state cannot be ${JSON.stringify(kind)} here`);
}

export function stateReader<Spec, Key extends InstanceKey>(codecs: Codecs<Spec, Key>): StateReader<Spec, Key> {
  let parts: Parts<Spec, Key> | undefined;
  return {
    take(line) {
      if (parts === undefined) {
        const json = readObject(parseJson(line));
        const head = decodeHead(json, codecs);
        const counts = {
          batches: readNumber(json["batches"]),
          issued: readNumbers(json["issued"]),
          memory: json["memory"] === undefined ? null : readNumbers(json["memory"]),
          evaluations: readNumber(json["evaluations"] ?? 0),
        };
        parts = { head, batches: [], issued: [logged([]), logged([])], memory: [[], []], evaluations: [], counts };
        return true;
      }
      if (isWhole(parts)) return false;
      takePart(parts, readList(parseJson(line)), codecs);
      return true;
    },
    end() {
      if (parts === undefined || !isWhole(parts)) throw new FormatError("the state ends too early");
      const batches = parts.batches.map(batchOf);
      const groupsOpen = batches.reduce((sum, { open }) => sum + open, 0);
      const memory = parts.counts.memory === null ? null : memoryFromTexts(...parts.memory);
      const evaluations = parts.evaluations.map(roundOf);
      return { ...parts.head, batches, groupsOpen, issued: issuedHashes(...parts.issued), memory, evaluations };
    },
  };
}

/** At once. Throws a FormatError for what stateLines did not write. */
export function decodeState<Spec, Key extends InstanceKey>(
  text: string,
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> {
  const reader = stateReader(codecs);
  for (const line of text.split("\n"))
    if (!reader.take(line)) throw new FormatError("the state has more lines than it says");
  return reader.end();
}
