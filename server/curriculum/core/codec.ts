/** How the parts of a run are written down, in its journal (events.ts) and in its state (state-text.ts): as JSON. */
import { deriveSeed } from "../../../envs/lib/rng.ts";
import {
  type Codec,
  FormatError,
  isList,
  type Json,
  readFlag,
  readList,
  readNumber,
  readNumbers,
  readObject,
  readOrNull,
  readText,
} from "./json.ts";
import { definitionOf, policyCodec } from "../policies/registry.ts";
import type { DrawnTask, GroupResults, SampleResult, SampleScan } from "./batches.ts";
import type { Range } from "./state.ts";
import type {
  Arm,
  DynamicSampling,
  EvaluationArm,
  InstanceKey,
  Lag,
  LateFeedback,
  Policy,
  PromptTemplate,
  RunConfig,
  Source,
} from "./types.ts";

/** Of events and states alike. Another number: another server's, to be read by that one. */
export const FORMAT = 4;

/** Which instance of an arm is meant. */
export interface TaskPlace<Spec> {
  readonly arm: Pick<Arm<Spec>, "id" | "spec" | "source">;
  /** Counted from 0. */
  readonly ordinal: number;
  /** f(run seed, arm, ordinal): makes the instance, whatever the policy does. */
  readonly seed: bigint;
  /** The run's seed: fixes the order in which an arm with rows goes through them. */
  readonly runSeed: bigint;
}

export function placeOf<Spec>(arm: TaskPlace<Spec>["arm"], ordinal: number, runSeed: bigint): TaskPlace<Spec> {
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
  const { arms, policy, seed, lag, groupTimeoutMs, dynamicSampling, lateFeedback, promptTemplate, ...rest } = config;
  const { evaluationArms, ...plain } = rest;
  return {
    ...plain,
    arms: arms.map(({ spec, resource, ...arm }) => ({ ...arm, spec: specs.encode(spec), resource: resource ?? null })),
    policy: policyCodec.encode(policy),
    // Decimal digits: a JSON number would lose bits above 2^53.
    seed: seed.toString(),
    lag: lag.kind === "batches" ? lag.count : "unbounded",
    groupTimeoutMs: groupTimeoutMs ?? null,
    dynamicSampling: dynamicSampling === undefined ? null : { ...dynamicSampling },
    lateFeedback: lateFeedback === undefined ? null : { ...lateFeedback },
    promptTemplate: promptTemplate === undefined ? null : [promptTemplate.user, promptTemplate.system ?? null],
    // Few runs have them.
    ...(evaluationArms.length > 0 && {
      evaluationArms: evaluationArms.map(({ spec, ...arm }) => ({ ...arm, spec: specs.encode(spec) })),
    }),
  };
}

function decodeSource(json: Json | undefined): Source {
  if (json === "synthetic" || json === "real" || json === "teacher") return json;
  throw new FormatError(`there is no source ${JSON.stringify(json)}`);
}

function decodeArm<Spec>(json: Json, specs: Codec<Spec>): Arm<Spec> {
  const { id, spec = null, source, weight, hard, rewardRange, resource, removed, klCoefficient } = readObject(json);
  const { min, max } = readObject(rewardRange);
  return {
    id: readText(id),
    spec: specs.decode(spec),
    source: decodeSource(source),
    weight: readNumber(weight),
    hard: readFlag(hard),
    rewardRange: { min: readNumber(min), max: readNumber(max) },
    resource: readOrNull(resource, readText) ?? undefined,
    removed: readFlag(removed),
    ...(klCoefficient !== undefined && { klCoefficient: readNumber(klCoefficient) }),
  };
}

function decodeEvaluationArm<Spec>(json: Json, specs: Codec<Spec>): EvaluationArm<Spec> {
  const { id, spec = null, source, tasks, numGenerations } = readObject(json);
  const sizes = { tasks: readNumber(tasks), numGenerations: readNumber(numGenerations) };
  return { id: readText(id), spec: specs.decode(spec), source: decodeSource(source), ...sizes };
}

function decodeDynamicSampling(json: Json | undefined): DynamicSampling {
  const { oversampleMax, alike } = readObject(json);
  return { oversampleMax: readNumber(oversampleMax), alike: alike === "solved" ? "solved" : "rewards" };
}

function decodeLateFeedback(json: Json | undefined): LateFeedback {
  const { batchesMax, weight } = readObject(json);
  return { batchesMax: readNumber(batchesMax), weight: readNumber(weight) };
}

function decodeTemplate(json: Json | undefined): PromptTemplate {
  const [user, system] = readList(json);
  return { user: readText(user), system: readOrNull(system, readText) ?? undefined };
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
    dynamicSampling: readOrNull(from["dynamicSampling"], decodeDynamicSampling) ?? undefined,
    lateFeedback: readOrNull(from["lateFeedback"], decodeLateFeedback) ?? undefined,
    promptTemplate: readOrNull(from["promptTemplate"], decodeTemplate) ?? undefined,
    evaluationArms: readList(from["evaluationArms"] ?? []).map((arm) => decodeEvaluationArm(arm, specs)),
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
  { cursor, config }: { readonly cursor: number; readonly config: RunConfig<Spec> },
  keys: Codecs<Spec, Key>["keys"],
): DrawnTask<Key> {
  const [arm, ordinal, key = null, repeat] = readList(json);
  const task = { cursor, arm: readNumber(arm), ordinal: readNumber(ordinal), repeat: repeat === 1 };
  const of = config.arms[task.arm];
  if (of === undefined) throw new FormatError(`a task is of arm ${task.arm}, and the run has ${config.arms.length}`);
  return { ...task, key: keys.decode(key, placeOf(of, task.ordinal, config.seed)) };
}

function encodeResult(result: SampleResult): Json {
  if (result.kind === "terminal") return result.reason;
  const { policyVersion = null, scan } = result;
  if (scan !== undefined) {
    const { length, commitEnd, goesOn } = scan;
    return [result.reward, Number(result.solved), policyVersion, [length, commitEnd, Number(goesOn)]];
  }
  if (policyVersion !== null) return [result.reward, Number(result.solved), policyVersion];
  return result.solved ? [result.reward] : result.reward;
}

function decodeScan(json: Json): SampleScan {
  const [length, commitEnd, goesOn] = readList(json);
  return { length: readNumber(length), commitEnd: readOrNull(commitEnd, readNumber), goesOn: goesOn === 1 };
}

function decodeResult(json: Json | undefined): SampleResult {
  if (typeof json === "string") return { kind: "terminal", reason: json };
  if (isList(json)) {
    const [reward, solved, version, scan] = json;
    return {
      kind: "reward",
      reward: readNumber(reward),
      solved: solved === undefined || solved === 1,
      ...(version === undefined || version === null ? {} : { policyVersion: readNumber(version) }),
      ...(scan === undefined ? {} : { scan: decodeScan(scan) }),
    };
  }
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

export function decodeRanges(json: Json | undefined): readonly Range[] {
  return readList(json).map((range) => {
    const [from, to] = readList(range);
    return [readNumber(from), readNumber(to)];
  });
}
