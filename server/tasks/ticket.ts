/** What a task id says, in the domain's words, and its encoding. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { AnswerFormat, Baseline, Split } from "../../envs/environment.ts";
import type { Origin } from "../../envs/issue.ts";
import { type TaskKey, TaskKeySchema } from "../gen/gradus/internal/v1/task_key_pb.js";
import { answerFormats, splits } from "./wire-enums.ts";

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
  readonly split: Split;
  readonly answerFormat: AnswerFormat;
  readonly rewardScheme: string;
  readonly rewardParameters: Readonly<Record<string, number>>;
  readonly baseline?: Baseline;
  readonly run?: RunPlace;
}

/** Names in one order, so that equal tickets have equal bytes. */
function sorted(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function originToWire(origin: Origin) {
  switch (origin.kind) {
    case "generated": {
      const { parameters, seed, attempt } = origin;
      return { case: "generated", value: { parameters: sorted(parameters), seed, attempt } } as const;
    }
    case "row": {
      const contentHash = Buffer.from(origin.contentHash, "hex");
      return { case: "row", value: { pool: origin.pool, row: origin.row, contentHash } } as const;
    }
    case "inline":
      return { case: "inline", value: { instance: origin.instance } } as const;
  }
}

function originFromWire(wire: TaskKey["origin"]): Origin | undefined {
  switch (wire.case) {
    case "generated":
      return { kind: "generated", ...pick(wire.value, "parameters", "seed", "attempt") };
    case "row": {
      const contentHash = Buffer.from(wire.value.contentHash).toString("hex");
      return { kind: "row", pool: wire.value.pool, row: wire.value.row, contentHash };
    }
    case "inline":
      return { kind: "inline", instance: wire.value.instance };
    case undefined:
      return undefined;
  }
}

function pick<T, K extends keyof T>(value: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<T, K>;
}

export function encodeTicket(ticket: Ticket): Uint8Array {
  const { environment, version, rewardScheme, baseline, run } = ticket;
  const key = create(TaskKeySchema, {
    environment,
    version,
    origin: originToWire(ticket.origin),
    answerFormat: answerFormats.toWire[ticket.answerFormat],
    rewardScheme,
    rewardParameters: sorted(ticket.rewardParameters),
    split: splits.toWire[ticket.split],
    ...(baseline && { baseline: pick(baseline, "value", "bound", "proven") }),
    ...(run && { run: { ...run, cursor: BigInt(run.cursor) } }),
  });
  return toBinary(TaskKeySchema, key);
}

/** Undefined: the bytes are no ticket. They are authenticated before, so that is a ticket of a newer server. */
export function decodeTicket(bytes: Uint8Array): Ticket | undefined {
  const key = fromBinary(TaskKeySchema, bytes);
  const origin = originFromWire(key.origin);
  const answerFormat = answerFormats.fromWire(key.answerFormat);
  const split = splits.fromWire(key.split);
  if (origin === undefined || answerFormat === undefined || split === undefined) return undefined;
  const { run, baseline } = key;
  return {
    ...pick(key, "environment", "version", "rewardScheme", "rewardParameters"),
    origin,
    answerFormat,
    split,
    ...(baseline && { baseline: pick(baseline, "value", "bound", "proven") }),
    ...(run && {
      run: { ...pick(run, "runId", "epoch", "arm", "numGenerations", "feedback"), cursor: Number(run.cursor) },
    }),
  };
}
