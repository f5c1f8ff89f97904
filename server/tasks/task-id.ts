/** Task ids: text that clients carry and cannot forge. It contains all that is needed to score a completion. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import type { Baseline, Parameters } from "../../envs/environment.ts";
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { Origin, TaskKey } from "../../envs/origin.ts";
import type { Registry } from "../../envs/registry.ts";
import {
  EpisodeSchema,
  type KnownBaseline,
  type RunPlace as WirePlace,
  type TaskToken as WireToken,
  TaskTokenSchema,
} from "../../proto/gen/gradus/internal/v1/task_key_pb.js";
import { type Keyring, open, seal } from "./keyring.ts";
import { episodeFromWire, episodeToWire, type SampleEpisode } from "./encode-episode.ts";
import type { TaskSpec } from "./spec.ts";
import { detailNumbers, formatNumbers, splitNumbers, thinkingNumbers } from "./task-id-numbers.ts";

// Types of the content of a task id. Functions in this file encode the content.

/** Arm and cursor (task number) in the run that gave out a task. */
export interface RunPlace {
  readonly runId: string;
  /**
   * Random id that the run got at its creation or last import. Feedback is ignored if the task's incarnation is not the
   * run's present one.
   */
  readonly incarnation: string;
  /** Index of the arm in the run's configuration. */
  readonly arm: number;
  readonly cursor: number;
  readonly numGenerations: number;
  /** Whether scores are recorded as feedback of the run. */
  readonly feedback: boolean;
  /**
   * Round of evaluation, for a task of an evaluation arm. Then `arm` is the index among the evaluation arms, and
   * `cursor` is the task's number in the arm's set. Unset: a task for training.
   */
  readonly evaluationRound?: number;
}

/** Content of a task id: the task, its settings, and its arm and cursor in a run. Scoring needs nothing else. */
export interface TaskToken extends Pick<
  TaskSpec,
  "environment" | "version" | "split" | "answerFormat" | "thinking" | "rewardScheme" | "digest"
> {
  readonly key: TaskKey;
  /** Level of a generated task. Empty: the client gave parameters instead. */
  readonly level: string;
  /** Reward parameters that differ from the scheme's defaults. */
  readonly rewardParameters: Readonly<Record<string, number>>;
  readonly run?: RunPlace;
  /** Maximum number of calls of an episode. Unset: the task has no turns. */
  readonly calls?: number;
  /** Positions, from 1, of the policy's tools in the environment's list of tools. Unset: there are none. */
  readonly tools?: readonly number[];
  /**
   * How much a reply to an answer says: "verdict" says whether the answer is right, "reason" also what is wrong with
   * it. Unset: also how far it is from the best ("distance").
   */
  readonly detail?: TaskSpec["detail"];
  /** Episode with at least one call. Unset: no call was made. */
  readonly episode?: SampleEpisode;
  /**
   * Instance in the environment's own encoding. Unset: it is too large, or can be made again from its origin, e.g. its
   * seed.
   */
  readonly inline?: Uint8Array;
}

/** Returns the object with its keys sorted, so that equal tokens are encoded as equal bytes. */
function sorted(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function originToWire(origin: Origin, level: string): WireToken["origin"] {
  switch (origin.kind) {
    case "generated": {
      const { seed, attempt } = origin;
      const parameters = level === "" ? sorted(origin.parameters) : {};
      const $typeName = "gradus.internal.v1.Generated";
      return { case: "generated", value: { $typeName, parameters, seed, attempt, level } };
    }
    case "row": {
      const { pool, row } = origin;
      const contentHash = Buffer.from(origin.contentHash, "hex");
      return { case: "row", value: { $typeName: "gradus.internal.v1.PoolRow", pool, row, contentHash } };
    }
    case "inline":
      return { case: "inline", value: { $typeName: "gradus.internal.v1.Inline", instance: origin.instance } };
    default:
      return assertNever(origin);
  }
}

function originFromWire(registry: Registry, { environment, version, origin: wire }: WireToken): Origin | undefined {
  switch (wire.case) {
    case "generated": {
      const { level, seed, attempt } = wire.value;
      const parameters = level === "" ? wire.value.parameters : parametersOf(registry, environment, version, level);
      return parameters && { kind: "generated", parameters, seed, attempt };
    }
    case "row": {
      const { pool, row, contentHash } = wire.value;
      return { kind: "row", pool, row, contentHash: Buffer.from(contentHash).toString("hex") };
    }
    case "inline":
      return { kind: "inline", instance: wire.value.instance };
    case undefined:
      return undefined;
    default:
      return assertNever(wire);
  }
}

/** Returns the parameters of a level. Undefined: this server's environment has no such level. */
function parametersOf(registry: Registry, environment: string, version: number, level: string): Parameters | undefined {
  const found = registry.find(environment, version);
  if (found.kind !== "found") return undefined;
  return found.environment.levels.find(({ name }) => name === level)?.parameters;
}

/**
 * Encodes the content of a task id without its episode. All task ids of an episode contain these bytes. The message is
 * an object literal, because protobuf's `create` would double the time.
 */
export function encodeSettings(token: TaskToken): Uint8Array {
  const { environment, version, level, rewardScheme, run } = token;
  const { origin, hash, baseline } = token.key;
  const wire: WireToken = {
    $typeName: "gradus.internal.v1.TaskToken",
    environment,
    version,
    rewardScheme,
    answerFormat: formatNumbers.toWire[token.answerFormat],
    // The default is encoded as 0, which takes no bytes in protobuf.
    thinking: token.thinking === "required" ? 0 : thinkingNumbers.toWire[token.thinking],
    rewardParameters: sorted(token.rewardParameters),
    split: splitNumbers.toWire[token.split],
    origin: originToWire(origin, level),
    instance: token.inline ?? NO_BYTES,
    hash: origin.kind === "row" ? NO_BYTES : Buffer.from(hash, "hex"),
    digest: token.digest === undefined ? NO_BYTES : Buffer.from(token.digest, "hex"),
    calls: token.calls ?? 0,
    tools: [...(token.tools ?? [])],
    replyDetail: token.detail === undefined ? 0 : detailNumbers.toWire[token.detail],
  };
  if (baseline !== undefined) {
    const { value, bound, proven } = baseline;
    wire.baseline = { $typeName: "gradus.internal.v1.KnownBaseline", value, bound, proven };
  }
  if (run !== undefined) {
    const { runId, incarnation, arm, cursor, numGenerations, feedback, evaluationRound } = run;
    const place = { runId, incarnation, arm, cursor: BigInt(cursor), numGenerations, feedback };
    wire.run = { $typeName: "gradus.internal.v1.RunPlace", ...place };
    if (evaluationRound !== undefined) wire.run.evaluationRound = BigInt(evaluationRound);
  }
  return toBinary(TaskTokenSchema, wire);
}

const NO_BYTES = new Uint8Array();

/** Appends an episode to the settings of its task. The fields of a message may come in any order. */
function withEpisode(settings: Uint8Array, episode: SampleEpisode): Uint8Array {
  const bytes = toBinary(EpisodeSchema, episodeToWire(episode));
  return Buffer.concat([settings, EPISODE_TAG, varint(bytes.length), bytes]);
}

const EPISODE_TAG = varint((TaskTokenSchema.field.episode.number << 3) | WireType.LengthDelimited);

/**
 * Encodes a length as a protobuf varint. The protobuf library's own writer would cost more time than the rest of
 * `withEpisode`.
 */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value > 127; value >>= 7) bytes.push((value & 127) | 128);
  return Uint8Array.of(...bytes, value);
}

/**
 * Decodes the content of a task id. Undefined: this server lacks the environment or level, or does not know a number
 * that stands for a word such as "train". The bytes have a valid signature, so another version of the server wrote
 * them.
 */
function decodeToken(registry: Registry, bytes: Uint8Array): TaskToken | undefined {
  const wire = fromBinary(TaskTokenSchema, bytes);
  const { environment, version, rewardScheme, rewardParameters } = wire;
  const origin = originFromWire(registry, wire);
  const level = wire.origin.case === "generated" ? wire.origin.value.level : "";
  const answerFormat = formatNumbers.fromWire(wire.answerFormat);
  const thinking = wire.thinking === 0 ? "required" : thinkingNumbers.fromWire(wire.thinking);
  const split = splitNumbers.fromWire(wire.split);
  const detail = detailNumbers.fromWire(wire.replyDetail);
  if (origin === undefined || answerFormat === undefined || thinking === undefined || split === undefined)
    return undefined;
  const hash = origin.kind === "row" ? origin.contentHash : Buffer.from(wire.hash).toString("hex");
  return {
    environment,
    version,
    level,
    split,
    answerFormat,
    thinking,
    rewardScheme,
    rewardParameters,
    key: { origin, hash, ...(wire.baseline && { baseline: baselineOf(wire.baseline) }) },
    ...(wire.run && { run: placeOf(wire.run) }),
    ...(wire.digest.length > 0 && { digest: Buffer.from(wire.digest).toString("hex") }),
    ...(wire.instance.length > 0 && { inline: wire.instance }),
    ...(wire.calls > 0 && { calls: wire.calls }),
    ...(wire.tools.length > 0 && { tools: wire.tools }),
    ...(detail !== undefined && { detail }),
    ...(wire.episode && { episode: episodeFromWire(wire.episode) }),
  };
}

function baselineOf({ value, bound, proven }: KnownBaseline): Baseline {
  return { value, bound, proven };
}

function placeOf({ cursor, evaluationRound, ...wire }: WirePlace): RunPlace {
  const { runId, incarnation, arm, numGenerations, feedback } = wire;
  const place = { runId, incarnation, arm, cursor: Number(cursor), numGenerations, feedback };
  return evaluationRound === undefined ? place : { ...place, evaluationRound: Number(evaluationRound) };
}

/**
 * Maximum length of a task id. Gradus makes no longer ids. Ids of tasks without an episode have at most half of it.
 */
export const TASK_ID_BYTES_MAX = 8192;
/** Maximum size of an encoded episode: what half of an id holds, because base64 takes 4 characters for 3 bytes. */
export const EPISODE_BYTES_MAX = ((TASK_ID_BYTES_MAX / 2) * 3) / 4;
const MAC_START = 5;
const MAC_END = 21;

export type OpenedTask =
  | { readonly kind: "ok"; readonly token: TaskToken; readonly groupId: string }
  | { readonly kind: "invalid"; readonly detail: string };

/** Returns the id of the group to which a run's task belongs, made of run, incarnation and cursor. */
export function runGroupId(
  place: Pick<RunPlace, "runId" | "incarnation" | "arm" | "cursor" | "evaluationRound">,
): string {
  const { runId, incarnation, arm, cursor, evaluationRound } = place;
  if (evaluationRound === undefined) return `${runId}/${incarnation}/${cursor}`;
  return `${runId}/${incarnation}/e/${arm}/${evaluationRound}/${cursor}`;
}

function groupIdOf(token: TaskToken, mac: Uint8Array): string {
  return token.run === undefined ? Buffer.from(mac).toString("base64url") : runGroupId(token.run);
}

/**
 * Returns the task id and group id for the content of a task id. Both depend only on this content and on the signing
 * key.
 */
export function mintTaskId(keyring: Keyring, token: TaskToken) {
  const settings = encodeSettings(token);
  const sealed = seal(keyring, "task", token.episode === undefined ? settings : withEpisode(settings, token.episode));
  return { taskId: sealed.toString("base64url"), groupId: groupIdOf(token, sealed.subarray(MAC_START, MAC_END)) };
}

/**
 * Returns the task id of an episode. `settings` is the encoded content of its task's id without an episode, as
 * `encodeSettings` returns it.
 */
export function mintTurnId(keyring: Keyring, settings: Uint8Array, episode: SampleEpisode): string {
  return seal(keyring, "task", withEpisode(settings, episode)).toString("base64url");
}

/**
 * Buffer into which task ids are decoded. It is reused, because new buffers for a thousand long ids would burden the
 * garbage collector.
 */
const decoded = Buffer.allocUnsafeSlow(TASK_ID_BYTES_MAX);

export function openTaskId(keyring: Keyring, registry: Registry, taskId: string): OpenedTask {
  if (taskId === "") return { kind: "invalid", detail: "task_id is empty: send the one that came with the task" };
  if (taskId.length > TASK_ID_BYTES_MAX)
    return {
      kind: "invalid",
      detail: `task_id has ${taskId.length} characters, and the limit is ${TASK_ID_BYTES_MAX}`,
    };
  const notBase64 = { kind: "invalid", detail: "task_id is not base64url" } as const;
  const bytes = decoded.subarray(0, decoded.write(taskId, "base64url"));
  const opened = open(keyring, "task", bytes);
  if (opened.kind === "invalid") {
    const isWhole = bytes.length === Math.floor((taskId.length * 3) / 4);
    return isWhole ? { kind: "invalid", detail: `task_id: ${opened.detail}` } : notBase64;
  }
  // Node's decoder ignores characters that are not base64url. An id with such characters was changed, so it is refused.
  if (bytes.toString("base64url") !== taskId) return notBase64;
  const token = decodeToken(registry, new Uint8Array(opened.payload));
  if (token === undefined)
    return { kind: "invalid", detail: "task_id: it has a format that this server does not know" };
  return { kind: "ok", token, groupId: groupIdOf(token, opened.mac) };
}
