/** Task ids: tickets that clients carry and cannot forge. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Thinking } from "../../envs/answers/locate.ts";
import type { AnswerFormat, Baseline, Parameters, Split } from "../../envs/environment.ts";
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { Origin } from "../../envs/origin.ts";
import type { Registry } from "../../envs/registry.ts";
import {
  type KnownBaseline,
  type RunPlace as WirePlace,
  type TaskKey,
  TaskKeySchema,
} from "../gen/gradus/internal/v1/task_key_pb.js";
import { type Keyring, open, seal } from "./keyring.ts";
import { answerFormats, splits, thinkings } from "./wire-enums.ts";

// What a task id says, in the domain's words, and its encoding.

/** The place of a task in a run. */
export interface RunPlace {
  readonly runId: string;
  readonly epoch: number;
  /** The arm's index in the run's configuration. */
  readonly arm: number;
  readonly cursor: number;
  readonly numGenerations: number;
  /** Whether scores are feedback. */
  readonly feedback: boolean;
}

/** All that scoring needs. */
export interface Ticket {
  readonly environment: string;
  readonly version: number;
  readonly origin: Origin;
  /** The level that the parameters of a generated origin are of; empty if they were given. */
  readonly level: string;
  readonly split: Split;
  readonly answerFormat: AnswerFormat;
  readonly thinking: Thinking;
  readonly rewardScheme: string;
  /** Those that are not the scheme's defaults. */
  readonly rewardParameters: Readonly<Record<string, number>>;
  readonly baseline?: Baseline;
  readonly run?: RunPlace;
  /** The instance, where it is small. */
  readonly instance?: Uint8Array;
}

/** Names in one order, so that equal tickets have equal bytes. */
function sorted(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function originToWire({ origin, level }: Ticket): TaskKey["origin"] {
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

function originFromWire(registry: Registry, { environment, version, origin: wire }: TaskKey): Origin | undefined {
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

/** Undefined: this server has no such level. */
function parametersOf(registry: Registry, environment: string, version: number, level: string): Parameters | undefined {
  const found = registry.find(environment, version);
  if (found.kind !== "found") return undefined;
  return found.environment.levels.find(({ name }) => name === level)?.parameters;
}

function encodeTicket(ticket: Ticket): Uint8Array {
  const { environment, version, rewardScheme, baseline, run } = ticket;
  const key = create(TaskKeySchema, {
    environment,
    version,
    answerFormat: answerFormats.toWire[ticket.answerFormat],
    // The default takes no bytes.
    thinking: ticket.thinking === "required" ? 0 : thinkings.toWire[ticket.thinking],
    rewardScheme,
    rewardParameters: sorted(ticket.rewardParameters),
    split: splits.toWire[ticket.split],
  });
  key.origin = originToWire(ticket);
  if (ticket.instance !== undefined) key.instance = ticket.instance;
  if (baseline !== undefined) {
    const { value, bound, proven } = baseline;
    key.baseline = { $typeName: "gradus.internal.v1.KnownBaseline", value, bound, proven };
  }
  if (run !== undefined) {
    const { runId, epoch, arm, cursor, numGenerations, feedback } = run;
    const place = { runId, epoch, arm, cursor: BigInt(cursor), numGenerations, feedback };
    key.run = { $typeName: "gradus.internal.v1.RunPlace", ...place };
  }
  return toBinary(TaskKeySchema, key);
}

/**
 * Undefined: the bytes are no ticket of an environment that this server has. They are authenticated before, so that is
 * a ticket of another version of the server.
 */
function decodeTicket(registry: Registry, bytes: Uint8Array): Ticket | undefined {
  const key = fromBinary(TaskKeySchema, bytes);
  const { environment, version, rewardScheme, rewardParameters } = key;
  const origin = originFromWire(registry, key);
  const level = key.origin.case === "generated" ? key.origin.value.level : "";
  const answerFormat = answerFormats.fromWire(key.answerFormat);
  const thinking = key.thinking === 0 ? "required" : thinkings.fromWire(key.thinking);
  const split = splits.fromWire(key.split);
  if (origin === undefined || answerFormat === undefined || thinking === undefined || split === undefined)
    return undefined;
  const ticket: Ticket = {
    ...{ environment, version, origin, level, split, answerFormat, thinking },
    ...{ rewardScheme, rewardParameters },
  };
  return {
    ...ticket,
    ...(key.baseline && { baseline: baselineOf(key.baseline) }),
    ...(key.run && { run: placeOf(key.run) }),
    ...(key.instance.length > 0 && { instance: key.instance }),
  };
}

function baselineOf({ value, bound, proven }: KnownBaseline): Baseline {
  return { value, bound, proven };
}

function placeOf({ runId, epoch, arm, cursor, numGenerations, feedback }: WirePlace): RunPlace {
  return { runId, epoch, arm, cursor: Number(cursor), numGenerations, feedback };
}

/** Longer ids are none of ours. */
export const TASK_ID_BYTES_MAX = 4096;
const MAC_START = 5;
const MAC_END = 21;

export interface MintedTask {
  readonly taskId: string;
  readonly groupId: string;
}

export type OpenedTask =
  | { readonly kind: "ok"; readonly ticket: Ticket; readonly groupId: string }
  | { readonly kind: "invalid"; readonly detail: string };

/** The group of a task of a run: its place, which its feedback goes to. */
export function runGroupId(place: Pick<RunPlace, "runId" | "epoch" | "cursor">): string {
  return `${place.runId}/${place.epoch}/${place.cursor}`;
}

function groupIdOf(ticket: Ticket, mac: Uint8Array): string {
  return ticket.run === undefined ? Buffer.from(mac).toString("base64url") : runGroupId(ticket.run);
}

/** A pure function of the ticket and the signing key. */
export function mintTaskId(keyring: Keyring, ticket: Ticket): MintedTask {
  const sealed = seal(keyring, "task", encodeTicket(ticket));
  return { taskId: sealed.toString("base64url"), groupId: groupIdOf(ticket, sealed.subarray(MAC_START, MAC_END)) };
}

export function openTaskId(keyring: Keyring, registry: Registry, taskId: string): OpenedTask {
  if (taskId === "") return { kind: "invalid", detail: "task_id is empty: give back the one that came with the task" };
  if (taskId.length > TASK_ID_BYTES_MAX)
    return {
      kind: "invalid",
      detail: `task_id has ${taskId.length} characters, and none of ours has over ${TASK_ID_BYTES_MAX}`,
    };
  const bytes = Buffer.from(taskId, "base64url");
  // Node's decoder passes over characters that are not base64url: such an id was changed too.
  if (bytes.toString("base64url") !== taskId) return { kind: "invalid", detail: "task_id is not base64url" };
  const opened = open(keyring, "task", bytes);
  if (opened.kind === "invalid") return { kind: "invalid", detail: `task_id: ${opened.detail}` };
  const ticket = decodeTicket(registry, opened.payload);
  if (ticket === undefined)
    return { kind: "invalid", detail: "task_id: it is not of a version that this server knows" };
  return { kind: "ok", ticket, groupId: groupIdOf(ticket, opened.mac) };
}
