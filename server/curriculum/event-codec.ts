/**
 * Converts a run's events to and from the messages of proto/gradus/internal/v1/run.proto. An event's kind is the name
 * of its field in that file. `state-codec.ts` does the same for states.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import * as wire from "../../proto/gen/gradus/internal/v1/run_pb.js";
import { definitionOf, policyCodec } from "./policies/registry.ts";
import { changed, changesOf, isMany, isWhole, toldBefore } from "./by-arm.ts";
import type { DrawnTask, GroupResults, SampleResult, SampleScan } from "./batches.ts";
import type { RunEvent } from "./events.ts";
import { grows } from "./growth.ts";
import { type Codec, FormatError, type Json, parseJson } from "./json.ts";
import { differenceOf, withDifference } from "./json-changes.ts";
import type { Lengths } from "./lengths.ts";
import type { Range, RunState } from "./state.ts";
import {
  type Arm,
  type InstanceKey,
  placeOf,
  type Policy,
  type RowRule,
  type RunConfig,
  type TaskPlace,
} from "./types.ts";

/**
 * Format number that is written with events and states. Data with another number can be read only by the server version
 * that wrote it.
 */
export const FORMAT = 6;

/**
 * Codecs for the types that the caller defines: arm specifications and instance keys. This file handles them as unknown
 * values.
 */
export interface Codecs<Spec = unknown, Key extends InstanceKey = InstanceKey> {
  readonly specs: Codec<Spec>;
  readonly keys: {
    encode(key: Key): Json;
    /** Decodes an instance key. Fields that can be derived from `place` (arm, ordinal and seed) are not in the JSON. */
    decode(json: Json, place: TaskPlace<Spec>): Key;
  };
}

/**
 * A protobuf message, or a plain object with the same fields, in which lists are read-only and unset fields are null.
 */
export type Draft<T> = T extends readonly (infer Item)[]
  ? readonly Draft<Item>[]
  : T extends Uint8Array
    ? T
    : T extends object
      ? T | { readonly [Name in Exclude<keyof T, "$typeName" | "$unknown">]: Draft<T[Name]> | NullFor<T[Name]> }
      : T;
type NullFor<T> = undefined extends T ? null : never;

export function bytesOf<Desc extends DescMessage>(schema: Desc, draft: Draft<MessageShape<Desc>>): Uint8Array {
  return toBinary(schema, create(schema, draft as MessageInitShape<Desc>));
}

export function messageOf<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array, what: string): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw otherFormat(what);
  }
}

/** Returns a message's fields without the two that the protobuf library adds. */
export function bare<T extends Message>({ $typeName: _name, $unknown: _unknown, ...fields }: T) {
  return fields;
}

export function otherFormat(what: string, format = 0): FormatError {
  const found = format === 0 ? "in an unknown format" : `of format ${format}`;
  return new FormatError(
    `${what} is ${found}, but this server reads format ${FORMAT}: use the version of Gradus that wrote it`,
  );
}

/** Returns a field that is always written, or throws a FormatError if it is missing. */
export function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new FormatError(`${what} is missing`);
  return value;
}

function oneOf<Name extends string>(text: string, ...names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new FormatError(`expected one of ${names.join(", ")}, found "${text}"`);
  return found;
}

// Functions that encode configurations and policies as JSON text.

export const policyText = (policy: Policy): string => JSON.stringify(policyCodec.encode(policy));
export const policyFrom = (text: string): Policy => policyCodec.decode(parseJson(text));

export const policyStateText = (policy: Policy, state: unknown): string =>
  JSON.stringify(definitionOf(policy).state.encode(state));
export const policyStateFrom = (policy: Policy, text: string): unknown =>
  definitionOf(policy).state.decode(parseJson(text));

/** Value stored as the source of an arm that grows, so that servers which do not know growth refuse the arm. */
const GROWING = "growing";

const sourceFrom = (text: string): Arm["source"] => oneOf(text, "synthetic", "real", "teacher");

export function configDraft(config: RunConfig, specs: Codec<unknown>): Draft<wire.RunConfig> {
  const { lag, arms, evaluationArms, policy } = config;
  const written = <Of extends { readonly spec: unknown }>(arm: Of) => ({
    ...arm,
    spec: JSON.stringify(specs.encode(arm.spec)),
  });
  return {
    ...config,
    ignoresRounding: config.ignoresRounding ?? false,
    policy: policyText(policy),
    lagBatches: lag.kind === "batches" ? lag.count : null,
    arms: arms.map(({ rows, grow, ...arm }) => ({
      ...written(arm),
      // Servers that do not know `grow` refuse this source with an error, instead of drawing from the arm as if it did
      // not grow.
      source: grow === undefined ? arm.source : GROWING,
      grow: grow ?? null,
      klCoefficient: arm.klCoefficient,
      rankGroup: arm.rankGroup,
      rows: rows === undefined ? null : ruleDraft(rows),
    })),
    evaluationArms: evaluationArms.map(written),
  };
}

function ruleDraft({ by, ...rule }: RowRule): Draft<wire.RowRule> {
  if (by.kind === "target") return { ...rule, ...by, sharpness: null };
  return { ...rule, sharpness: by.sharpness, from: 0, to: 0, width: 0 };
}

function ruleFrom(message: wire.RowRule): RowRule {
  const { sharpness, from, to, width, ...rule } = bare(message);
  const by =
    sharpness === undefined
      ? ({ kind: "target", from, to, width } as const)
      : ({ kind: "learnability", sharpness } as const);
  return { ...rule, by };
}

function armFrom(message: wire.Arm, specs: Codec<unknown>): Arm {
  const { klCoefficient, rankGroup, rows, grow, resource, rewardRange, ...arm } = bare(message);
  return {
    ...arm,
    spec: specs.decode(parseJson(arm.spec)),
    source: grow === undefined ? sourceFrom(arm.source) : "synthetic",
    rewardRange: bare(required(rewardRange, "an arm's reward range")),
    resource,
    ...(klCoefficient !== undefined && { klCoefficient }),
    ...(rankGroup !== undefined && { rankGroup }),
    ...(rows !== undefined && { rows: ruleFrom(rows) }),
    ...(grow !== undefined && { grow: bare(grow) }),
  };
}

export function configFrom(message: wire.RunConfig | undefined, specs: Codec<unknown>): RunConfig {
  const { lagBatches, ignoresRounding, ...config } = bare(required(message, "the configuration"));
  const { dynamicSampling: sampling, lateFeedback, promptTemplate } = config;
  return {
    ...config,
    policy: policyFrom(config.policy),
    lag: lagBatches === undefined ? { kind: "unbounded" } : { kind: "batches", count: lagBatches },
    feedbackSource: oneOf(config.feedbackSource, "step", "reported"),
    ...(ignoresRounding && { ignoresRounding }),
    groupTimeoutMs: config.groupTimeoutMs,
    dynamicSampling: sampling && { ...bare(sampling), alike: oneOf(sampling.alike, "rewards", "solved") },
    lateFeedback: lateFeedback && bare(lateFeedback),
    promptTemplate: promptTemplate && { user: promptTemplate.user, system: promptTemplate.system },
    arms: config.arms.map((arm) => armFrom(arm, specs)),
    evaluationArms: config.evaluationArms.map((arm) => ({
      ...bare(arm),
      spec: specs.decode(parseJson(arm.spec)),
      source: sourceFrom(arm.source),
    })),
  };
}

// Functions that make messages of tasks and samples. A run has many of them, so the functions write whole message
// objects, which is faster than `create` of the protobuf library.

export function taskMessage({ arm, ordinal, row, repeat, key }: DrawnTask, keys: Codecs["keys"]): wire.DrawnTask {
  const text = JSON.stringify(keys.encode(key));
  return {
    $typeName: "gradus.internal.v1.DrawnTask",
    arm,
    ordinal,
    repeat,
    key: text,
    ...(row !== undefined && { row }),
  };
}

export function taskFrom(message: wire.DrawnTask, cursor: number, config: RunConfig, keys: Codecs["keys"]): DrawnTask {
  const { arm, ordinal, row, repeat, key } = message;
  const of = config.arms[arm];
  if (of === undefined)
    throw new FormatError(
      `the state is damaged: a task is of arm ${arm}, but the run has only ${config.arms.length} arms`,
    );
  const task = { cursor, arm, ordinal, repeat };
  const read = keys.decode(parseJson(key), placeOf(of, row ?? ordinal, config.seed));
  return row === undefined ? { ...task, key: read } : { ...task, row, key: read };
}

type Samples = Omit<GroupResults, "cursor">;

const NO_FACTS: Readonly<Record<string, number>> = Object.freeze({});

/**
 * Returns the extra score values of a sample. Undefined: the map is empty, which protobuf does not distinguish from an
 * unset map.
 */
export function factsFrom(facts: Readonly<Record<string, number>>): Readonly<Record<string, number>> | undefined {
  return Object.keys(facts).length === 0 ? undefined : facts;
}

export function sampleMessages({ indices, digests, results }: Samples): readonly wire.Sample[] {
  return results.map((result, i) => {
    const of = { $typeName: "gradus.internal.v1.Sample", index: indices[i] ?? 0, digest: digests[i] ?? "" } as const;
    if (result.kind === "terminal") return { ...of, reason: result.reason, facts: NO_FACTS };
    const { reward, solved, quality, policyVersion, scan, facts = NO_FACTS, malformed } = result;
    const kind = typeof malformed === "string" ? { malformedKind: malformed } : { malformed };
    return { ...of, reward, solved, quality, policyVersion, facts, ...kind, ...(scan && { scan: scanMessage(scan) }) };
  });
}

function scanMessage({ length, commitEnd, goesOn }: SampleScan): wire.SampleScan {
  return { $typeName: "gradus.internal.v1.SampleScan", length, commitEnd: commitEnd ?? undefined, goesOn };
}

function resultFrom({ reward, solved = false, reason, ...more }: wire.Sample): SampleResult {
  if (reward === undefined) return { kind: "terminal", reason: required(reason, "a sample's result") };
  const result = { kind: "reward", reward, solved } as const;
  const { quality, policyVersion, scan, malformedKind, malformed = malformedKind } = more;
  const facts = factsFrom(more.facts);
  const isPlain = quality === undefined && policyVersion === undefined && scan === undefined;
  if (isPlain && facts === undefined && malformed === undefined) return result;
  return {
    ...result,
    ...(quality !== undefined && { quality }),
    ...(facts && { facts }),
    ...(policyVersion !== undefined && { policyVersion }),
    ...(malformed !== undefined && { malformed }),
    ...(scan && { scan: { ...bare(scan), commitEnd: scan.commitEnd ?? null } }),
  };
}

export function samplesFrom(samples: readonly wire.Sample[]): Samples {
  return {
    indices: samples.map(({ index }) => index),
    digests: samples.map(({ digest }) => digest),
    results: samples.map(resultFrom),
  };
}

export function resultsDraft(group: GroupResults): Draft<wire.GroupResults> {
  return { cursor: group.cursor, samples: sampleMessages(group), lengths: group.lengths };
}

export function resultsFrom({ cursor, samples, lengths }: wire.GroupResults): GroupResults {
  return { cursor, ...samplesFrom(samples), ...lengthsFrom(lengths) };
}

/** Returns an object with the field `lengths`, or without fields if the message has no lengths. */
export function lengthsFrom(lengths: wire.Lengths | undefined): { readonly lengths?: Lengths } {
  return lengths === undefined ? {} : { lengths: bare(lengths) };
}

export const rangeDraft = ([first, last]: Range): Draft<wire.Range> => ({ first, last });
export const rangeFrom = ({ first, last }: wire.Range): Range => [first, last];

// Functions that encode and decode the events of a run's journal.

type Of<Kind extends RunEvent["kind"]> = Extract<RunEvent, { readonly kind: Kind }>;

export function byArmFrom(message: wire.ByArm | undefined, before: readonly number[] | null): readonly number[] {
  const numbers = changed(before, required(message, "numbers by arm"));
  return required(numbers, "the list of earlier numbers by arm");
}

/**
 * Returns the message fields for the policy's state after a draw. In runs of many arms, or with arms that grow, most
 * draws write only the changes since the previous state.
 */
function observedDraft({ batch, policyState }: Of<"drawn">, { policy, policyState: before, config }: RunState) {
  if (isWhole(batch) || !(isMany(config.arms.length) || grows(config)))
    return { policyState: policyStateText(policy, policyState) };
  const { state } = definitionOf(policy);
  const changes = differenceOf(state.encode(before), state.encode(policyState));
  return { policyState: "", policyChanges: JSON.stringify(changes) };
}

function observedFrom({ policyState, policyChanges }: wire.Drawn, { policy, policyState: before }: RunState): unknown {
  if (policyChanges === "") return policyStateFrom(policy, policyState);
  const { state } = definitionOf(policy);
  return state.decode(withDifference(state.encode(before), parseJson(policyChanges)));
}

function drawnDraft(event: Of<"drawn">, before: RunState, { keys }: Codecs): Draft<wire.Drawn> {
  const { fold, tasks, batch, probabilities } = event;
  return {
    ...event,
    policyChanges: "",
    ...observedDraft(event, before),
    probabilities: changesOf(toldBefore(before, batch)?.probabilities ?? null, probabilities),
    fold: {
      batches: fold.kind === "through" ? fold.batches : null,
      ranges: fold.kind === "through" ? [] : fold.ranges.map(rangeDraft),
    },
    tasks: tasks.map((task) => taskMessage(task, keys)),
  };
}

function drawnFrom(message: wire.Drawn, before: RunState, { keys }: Codecs): Of<"drawn"> {
  const { batches, ranges } = required(message.fold, "the list of groups from which a draw learned");
  const { policyChanges: _changes, ...drawn } = bare(message);
  return {
    kind: "drawn",
    ...drawn,
    probabilities: byArmFrom(message.probabilities, toldBefore(before, message.batch)?.probabilities ?? null),
    policyState: observedFrom(message, before),
    fold: batches === undefined ? { kind: "groups", ranges: ranges.map(rangeFrom) } : { kind: "through", batches },
    tasks: message.tasks.map((task, i) => taskFrom(task, message.cursor + i, before.config, keys)),
  };
}

function kindDraft(event: RunEvent, before: RunState | undefined, codecs: Codecs): Draft<wire.RunEvent["kind"]> {
  if (event.kind === "created")
    return { case: event.kind, value: { ...event, config: configDraft(event.config, codecs.specs) } };
  if (event.kind === "imported") {
    const value = { ...event, state: event.bytes, policyState: "" };
    if (event.keeps === undefined || before === undefined) return { case: "imported", value };
    return {
      case: "restored",
      value: { ...value, policyState: policyStateText(before.policy, event.keeps.policyState) },
    };
  }
  if (before === undefined) throw new Error(`a journal begins with "created" or "imported", not "${event.kind}"`);
  switch (event.kind) {
    case "drawn":
      return { case: event.kind, value: drawnDraft(event, before, codecs) };
    case "feedback":
      return { case: event.kind, value: { groups: event.groups.map(resultsDraft) } };
    case "evaluated":
      return { case: event.kind, value: { ...event, tasks: event.tasks.map(resultsDraft) } };
    case "reshaped": {
      const policy = event.policy && policyText(event.policy);
      return { case: event.kind, value: { config: configDraft(event.config, codecs.specs), policy } };
    }
    case "rowsSeen": {
      const lists = event.lists.map((list) => ({
        ...list,
        gone: list.gone.map(rangeDraft),
        back: list.back.map(rangeDraft),
      }));
      return { case: event.kind, value: { ...event, lists, policy: event.policy && policyText(event.policy) } };
    }
    case "policyUpdated":
      return { case: event.kind, value: { policy: policyText(event.policy) } };
    case "advanced":
      return {
        case: event.kind,
        value: { policyState: policyStateText(before.policy, event.policyState), arm: event.arm },
      };
    default:
      // All other events have the same fields as their messages.
      return { case: event.kind, value: event } as Draft<wire.RunEvent["kind"]>;
  }
}

/** Encodes an event for the journal. `before` is the state just before the event. Undefined: the event is the first. */
export function encodeEvent(event: RunEvent, before: RunState | undefined, codecs: Codecs): Uint8Array {
  return bytesOf(wire.RunEventSchema, { format: FORMAT, kind: kindDraft(event, before, codecs) });
}

/**
 * Reads an event's message. An import's message contains a state, which the caller must decode before calling
 * eventFrom.
 */
export function readEvent(bytes: Uint8Array): wire.RunEvent {
  const message = messageOf(wire.RunEventSchema, bytes, "an event of the run's journal");
  if (message.format !== FORMAT) throw otherFormat("an event of the run's journal", message.format);
  return message;
}

/** Returns the encoded state that an import's message contains. Undefined for other events. */
export function stateIn({ kind }: wire.RunEvent): Uint8Array | undefined {
  return kind.case === "imported" || kind.case === "restored" ? kind.value.state : undefined;
}

/**
 * Returns the event in a message. `before` is the state just before it, and `imported` the decoded state of an import.
 */
export function eventFrom<Spec, Key extends InstanceKey>(
  { kind }: wire.RunEvent,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
  imported?: RunState<Spec, Key>,
): RunEvent<Spec, Key> {
  return kindFrom(kind, before, codecs, imported) as RunEvent<Spec, Key>;
}

function kindFrom(
  kind: wire.RunEvent["kind"],
  before: RunState | undefined,
  codecs: Codecs,
  imported: RunState | undefined,
): RunEvent {
  if (kind.case === undefined)
    throw new FormatError("its kind is not known to this server: use the version of Gradus that wrote it");
  if (kind.case === "created")
    return { kind: kind.case, ...bare(kind.value), config: configFrom(kind.value.config, codecs.specs) };
  if (kind.case === "imported" || kind.case === "restored") {
    const { state: bytes, policyState, ...names } = bare(kind.value);
    const event = { kind: "imported", ...names, bytes, state: required(imported, "the state of an import") } as const;
    if (kind.case === "imported") return event;
    const { policy } = required(before, "the run that an import restores");
    return { ...event, keeps: { policyState: policyStateFrom(policy, policyState) } };
  }
  if (before === undefined) throw new FormatError('the journal does not begin with "created" or "imported"');
  switch (kind.case) {
    case "drawn":
      return drawnFrom(kind.value, before, codecs);
    case "feedback":
      return { kind: kind.case, groups: kind.value.groups.map(resultsFrom) };
    case "evaluated":
      return { kind: kind.case, ...bare(kind.value), tasks: kind.value.tasks.map(resultsFrom) };
    case "reported": {
      const groups = kind.value.groups.map((group) => ({ ...bare(group), rewardMean: group.rewardMean ?? null }));
      return { kind: kind.case, groups };
    }
    case "reshaped": {
      const { config, policy } = kind.value;
      const changed = policy === undefined ? null : policyFrom(policy);
      return { kind: kind.case, config: configFrom(config, codecs.specs), policy: changed };
    }
    case "rowsSeen": {
      const { lists, policy, ...seen } = bare(kind.value);
      return {
        kind: kind.case,
        ...seen,
        policy: policy === undefined ? null : policyFrom(policy),
        lists: lists.map((list) => ({
          ...bare(list),
          gone: list.gone.map(rangeFrom),
          back: list.back.map(rangeFrom),
        })),
      };
    }
    case "policyUpdated":
      return { kind: kind.case, policy: policyFrom(kind.value.policy) };
    case "advanced": {
      const { policyState, arm } = kind.value;
      const state = policyStateFrom(before.policy, policyState);
      return { kind: kind.case, policyState: state, ...(arm !== undefined && { arm }) };
    }
    default:
      return { kind: kind.case, ...bare(kind.value) } as RunEvent;
  }
}
