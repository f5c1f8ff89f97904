/** How a run's state is written down, as a snapshot or an export: JSON. Its parts serve the journal too. */
import { deriveSeed } from "../../envs/lib/rng.ts";
import { hashLists, issuedHashes } from "./issued-hashes.ts";
import {
  type Codec,
  FormatError,
  isList,
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
import { definitionOf, policyCodec } from "./policies/registry.ts";
import type { GroupOutcome, RewardSums } from "./signals.ts";
import { epochAt, type ArmCounters, type Batch, type DrawnTask, type Group, type GroupResults } from "./state.ts";
import type { RunState, SampleResult, Tally } from "./state.ts";
import type { Arm, InstanceKey, Lag, Policy, RunConfig, Source } from "./types.ts";

/** Of events and states alike. Another number: another server's, to be read by that one. */
export const FORMAT = 2;

/** Which instance of an arm is meant. */
export interface TaskPlace<Spec> {
  readonly arm: Arm<Spec>;
  /** Counted from 0. */
  readonly ordinal: number;
  /** f(run seed, arm, ordinal): makes the instance, whatever the policy does. */
  readonly seed: bigint;
  /** The run's seed: fixes the order in which an arm with rows goes through them. */
  readonly runSeed: bigint;
}

export function placeOf<Spec>(arm: Arm<Spec>, ordinal: number, runSeed: bigint): TaskPlace<Spec> {
  return { arm, ordinal, runSeed, seed: deriveSeed("instance", runSeed, arm.id, ordinal) };
}

/** How the caller's part of a run is written. */
export interface Codecs<Spec, Key extends InstanceKey> {
  readonly specs: Codec<Spec>;
  readonly keys: {
    encode(key: Key): Json;
    /** What follows from the place is not written with the key. */
    decode(json: Json, place: TaskPlace<Spec>): Key;
  };
}

export function checkFormat(format: Json | undefined, what: string): void {
  if (format === FORMAT) return;
  const found = typeof format === "number" ? `of format ${format}` : "of no format";
  throw new FormatError(`${what} is ${found}, and this server reads format ${FORMAT}: use the server that wrote it`);
}

// Configurations.

export function encodeConfig<Spec>(config: RunConfig<Spec>, specs: Codec<Spec>): Json {
  const { arms, policy, seed, lag, groupTimeoutMs, ...plain } = config;
  return {
    ...plain,
    arms: arms.map(({ spec, resource, ...arm }) => ({ ...arm, spec: specs.encode(spec), resource: resource ?? null })),
    policy: policyCodec.encode(policy),
    // Decimal digits: a JSON number would lose bits above 2^53.
    seed: seed.toString(),
    lag: lag.kind === "batches" ? lag.count : "unbounded",
    groupTimeoutMs: groupTimeoutMs ?? null,
  };
}

function decodeSource(json: Json | undefined): Source {
  if (json === "synthetic" || json === "real" || json === "teacher") return json;
  throw new FormatError(`there is no source ${JSON.stringify(json)}`);
}

function decodeArm<Spec>(json: Json, specs: Codec<Spec>): Arm<Spec> {
  const { id, spec = null, source, weight, hard, rewardRange, resource } = readObject(json);
  const { min, max } = readObject(rewardRange);
  return {
    id: readText(id),
    spec: specs.decode(spec),
    source: decodeSource(source),
    weight: readNumber(weight),
    hard: readFlag(hard),
    rewardRange: { min: readNumber(min), max: readNumber(max) },
    resource: readOrNull(resource, readText) ?? undefined,
  };
}

export function decodeConfig<Spec>(json: Json | undefined, specs: Codec<Spec>): RunConfig<Spec> {
  const from = readObject(json);
  const lag: Lag =
    from["lag"] === "unbounded" ? { kind: "unbounded" } : { kind: "batches", count: readNumber(from["lag"]) };
  return {
    arms: readList(from["arms"]).map((arm) => decodeArm(arm, specs)),
    policy: policyCodec.decode(from["policy"] ?? null),
    seed: BigInt(readText(from["seed"])),
    numGenerations: readNumber(from["numGenerations"]),
    length: readNumber(from["length"]),
    promptsPerUpdate: readNumber(from["promptsPerUpdate"]),
    lag,
    feedbackSource: from["feedbackSource"] === "reported" ? "reported" : "step",
    groupTimeoutMs: readOrNull(from["groupTimeoutMs"], readNumber) ?? undefined,
    timeToLiveMs: readNumber(from["timeToLiveMs"]),
    given: readText(from["given"]),
  };
}

export function encodePolicyState(policy: Policy, state: unknown): Json {
  return definitionOf(policy).state.encode(state);
}

export function decodePolicyState(policy: Policy, json: Json | undefined): unknown {
  return definitionOf(policy).state.decode(json ?? null);
}

// Tasks and samples.

export function encodeTask<Key extends InstanceKey>(
  task: DrawnTask<Key>,
  keys: Pick<Codecs<unknown, Key>["keys"], "encode">,
): Json {
  const { arm, ordinal, key, repeat } = task;
  return repeat ? [arm, ordinal, keys.encode(key), 1] : [arm, ordinal, keys.encode(key)];
}

export function decodeTask<Spec, Key extends InstanceKey>(
  json: Json,
  at: { readonly cursor: number; readonly epoch: number; readonly config: RunConfig<Spec> },
  keys: Codecs<Spec, Key>["keys"],
): DrawnTask<Key> {
  const [arm, ordinal, key = null, repeat] = readList(json);
  const { cursor, epoch, config } = at;
  const task = { cursor, epoch, arm: readNumber(arm), ordinal: readNumber(ordinal), repeat: repeat === 1 };
  const of = config.arms[task.arm];
  if (of === undefined) throw new FormatError(`a task is of arm ${task.arm}, and the run has ${config.arms.length}`);
  return { ...task, key: keys.decode(key, placeOf(of, task.ordinal, config.seed)) };
}

function encodeResult(result: SampleResult): Json {
  if (result.kind === "terminal") return result.reason;
  return result.solved ? [result.reward] : result.reward;
}

function decodeResult(json: Json | undefined): SampleResult {
  if (typeof json === "string") return { kind: "terminal", reason: json };
  if (isList(json)) return { kind: "reward", reward: readNumber(json[0]), solved: true };
  return { kind: "reward", reward: readNumber(json), solved: false };
}

/** Which samples, their digests, and their results; of one sample alone the digest and the result without a list. */
export function encodeResults({ indices, digests, results }: Omit<GroupResults, "cursor">): readonly Json[] {
  const [start = 0] = indices;
  const [digest = "", result] = [digests[0], results[0]];
  if (indices.length === 1 && result !== undefined) return [start, digest, encodeResult(result)];
  const isRun = indices.every((index, i) => index === start + i);
  return [isRun ? start : indices, digests, results.map(encodeResult)];
}

export function decodeResults([places, digests, results]: readonly (Json | undefined)[]): Omit<GroupResults, "cursor"> {
  if (typeof digests === "string")
    return { indices: [readNumber(places)], digests: [digests], results: [decodeResult(results)] };
  const texts = readList(digests).map(readText);
  const values = readList(results);
  const indices = isList(places) ? readNumbers(places) : texts.map((_, i) => readNumber(places) + i);
  if (indices.length !== texts.length || values.length !== texts.length)
    throw new FormatError("the lists of a group's samples are not of one length");
  return { indices, digests: texts, results: values.map(decodeResult) };
}

export function decodeRanges(json: Json | undefined): readonly (readonly [number, number])[] {
  return readList(json).map((range) => {
    const [from, to] = readList(range);
    return [readNumber(from), readNumber(to)];
  });
}

// States: an object of the state's own names; groups, outcomes and tallies as lists, for they are many.

function encodeSums({ count, sum, solved }: RewardSums): readonly Json[] {
  return [count, sum, solved];
}

function decodeSums(json: Json | undefined): RewardSums {
  const [count, sum, solved] = readList(json);
  return { count: readNumber(count), sum: readNumber(sum), solved: readOrNull(solved, readNumber) };
}

/**
 * An open group: its task, when it was given out, and its samples as in a feedback event. A closed one: its task, when it
 * was given out, the digests by sample_index, and its outcome with whether it is folded in.
 */
function encodeGroup<Spec, Key extends InstanceKey>(group: Group<Key>, { keys }: Codecs<Spec, Key>): Json {
  const task = encodeTask(group.task, keys);
  if (group.kind === "closed") {
    const { handedOutAtMs, digests, outcome, folded } = group;
    return [task, handedOutAtMs, digests, [...encodeSums(outcome), outcome.deviation, outcome.advantage, folded]];
  }
  const recorded = group.results.flatMap((result, index) => {
    const digest = group.digests[index];
    return result === null || digest === undefined || digest === null ? [] : [{ index, digest, result }];
  });
  const columns = {
    indices: recorded.map(({ index }) => index),
    digests: recorded.map(({ digest }) => digest),
    results: recorded.map(({ result }) => result),
  };
  return [task, group.handedOutAtMs, ...encodeResults(columns)];
}

function decodeOutcome(json: Json): GroupOutcome {
  const [count, sum, solved, deviation, advantage] = readList(json);
  return {
    ...decodeSums([count ?? null, sum ?? null, solved ?? null]),
    deviation: readOrNull(deviation, readNumber),
    advantage: readOrNull(advantage, readNumber),
  };
}

function decodeGroup<Spec, Key extends InstanceKey>(
  json: Json,
  at: { readonly cursor: number; readonly epoch: number; readonly config: RunConfig<Spec> },
  { keys }: Codecs<Spec, Key>,
): Group<Key> {
  const [task = null, handedOut, ...rest] = readList(json);
  const base = { task: decodeTask(task, at, keys), handedOutAtMs: readOrNull(handedOut, readNumber) };
  if (rest.length === 2) {
    const [list, outcome = null] = rest;
    const digests = readList(list).map((digest) => readOrNull(digest, readText));
    return {
      kind: "closed",
      ...base,
      digests,
      outcome: decodeOutcome(outcome),
      folded: readFlag(readList(outcome)[5]),
    };
  }
  const digests = new Array<string | null>(at.config.numGenerations).fill(null);
  const results = new Array<SampleResult | null>(at.config.numGenerations).fill(null);
  const recorded = decodeResults(rest);
  for (const [i, index] of recorded.indices.entries()) {
    digests[index] = recorded.digests[i] ?? null;
    results[index] = recorded.results[i] ?? null;
  }
  return { kind: "open", ...base, digests, results, missing: results.length - recorded.indices.length };
}

function encodeBatch<Spec, Key extends InstanceKey>(batch: Batch<Key>, codecs: Codecs<Spec, Key>): Json {
  const { index, cursor, seq, probabilities, values, groups } = batch;
  return [index, cursor, seq, probabilities, values, groups.map((group) => encodeGroup(group, codecs))];
}

function decodeBatch<Spec, Key extends InstanceKey>(
  json: Json,
  { config, epochs }: Pick<RunState<Spec, Key>, "config" | "epochs">,
  codecs: Codecs<Spec, Key>,
): Batch<Key> {
  const [index, first, seq, probabilities, values, list] = readList(json);
  const from = readNumber(first);
  const groups = readList(list).map((group, i) => {
    const cursor = from + i;
    return decodeGroup(group, { cursor, epoch: epochAt(epochs, cursor), config }, codecs);
  });
  return {
    index: readNumber(index),
    cursor: from,
    seq: readNumber(seq),
    probabilities: readNumbers(probabilities),
    values: readNumbers(values),
    groups,
    open: groups.filter(({ kind }) => kind === "open").length,
  };
}

function encodeCounters({ issued, repeats, nextOrdinal, groups, recent, folded }: ArmCounters): Json {
  return [issued, repeats, nextOrdinal, groups, recent.map(encodeSums), [folded.groups, ...encodeSums(folded)]];
}

function decodeTally(json: Json | undefined): Tally {
  const [groups, ...sums] = readList(json);
  return { groups: readNumber(groups), ...decodeSums(sums) };
}

function decodeCounters(json: Json): ArmCounters {
  const [issued, repeats, nextOrdinal, groups, recent, folded] = readList(json);
  return {
    issued: readNumber(issued),
    repeats: readNumber(repeats),
    nextOrdinal: readNumber(nextOrdinal),
    groups: readNumber(groups),
    recent: readList(recent).map(decodeSums),
    folded: decodeTally(folded),
  };
}

export function stateToJson<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
): Json {
  const { config, policy, policyState, epochs, arms, batches, issued, groupsOpen: _counted, ...plain } = state;
  const { older, recent } = hashLists(issued);
  return {
    format: FORMAT,
    ...plain,
    config: encodeConfig(config, codecs.specs),
    policy: policyCodec.encode(policy),
    policyState: encodePolicyState(policy, policyState),
    epochs: epochs.map(({ epoch, cursor }) => [epoch, cursor]),
    arms: arms.map(encodeCounters),
    batches: batches.map((batch) => encodeBatch(batch, codecs)),
    // Hashes joined by spaces.
    issued: [older.join(" "), recent.join(" ")],
  };
}

function decodeEpochs(json: Json | undefined): RunState["epochs"] {
  return decodeRanges(json).map(([epoch, cursor]) => ({ epoch, cursor }));
}

function decodeHashes(json: Json | undefined): RunState["issued"] {
  const words = (text: Json | undefined): readonly string[] => (text === "" ? [] : readText(text).split(" "));
  const [older, recent] = readList(json);
  return issuedHashes(words(older), words(recent));
}

export function stateFromJson<Spec, Key extends InstanceKey>(
  json: Json,
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> {
  const from = typeof json === "object" && json !== null && !isList(json) ? json : {};
  checkFormat(from["format"], "the state");
  const config = decodeConfig(from["config"], codecs.specs);
  const policy = policyCodec.decode(from["policy"] ?? null);
  const epochs = decodeEpochs(from["epochs"]);
  const batches = readList(from["batches"]).map((batch) => decodeBatch(batch, { config, epochs }, codecs));
  const number = (name: string): number => readNumber(from[name]);
  return {
    ...{ config, policy, epochs, batches },
    runId: readText(from["runId"]),
    version: number("version"),
    createdAtMs: number("createdAtMs"),
    policyState: decodePolicyState(policy, from["policyState"]),
    weights: readNumbers(from["weights"]),
    masks: readList(from["masks"]).map((mask) => readOrNull(mask, readText)),
    paused: readFlag(from["paused"]),
    cursor: number("cursor"),
    handedOut: number("handedOut"),
    batchesDrawn: number("batchesDrawn"),
    batchesClosed: number("batchesClosed"),
    batchesFolded: number("batchesFolded"),
    groupsOpen: batches.reduce((sum, { open }) => sum + open, 0),
    samplesRecorded: number("samplesRecorded"),
    probabilities: readOrNull(from["probabilities"], readNumbers),
    arms: readList(from["arms"]).map(decodeCounters),
    issued: decodeHashes(from["issued"]),
    nextSeq: number("nextSeq"),
  };
}

export function encodeState<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
): string {
  return JSON.stringify(stateToJson(state, codecs));
}

/** Throws a FormatError for what encodeState did not write. */
export function decodeState<Spec, Key extends InstanceKey>(
  text: string,
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> {
  return stateFromJson(parseJson(text), codecs);
}
