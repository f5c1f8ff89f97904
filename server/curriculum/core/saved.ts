/**
 * How a run's events and state are kept: as messages of proto/gradus/internal/v1/run.proto, to which and from which all
 * functions here lead, in pairs. An event's kind is named as its field there.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { MessageShape } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  type Arm as ArmMessage,
  type ArmCounters as CountersMessage,
  type DrawnTask as TaskMessage,
  type EvaluationArm as EvaluationArmMessage,
  type EvaluationRound as RoundMessage,
  type Group as GroupMessage,
  type GroupResults as ResultsMessage,
  type Range as RangeMessage,
  type RunConfig as ConfigMessage,
  type RunEvent as EventMessage,
  RunEventSchema,
  type Sample,
  SavedRunSchema,
  type SavedRecord,
  SavedRecordSchema,
  type StateHead,
  type StatePart,
  StatePartSchema,
} from "../../gen/gradus/internal/v1/run_pb.js";
import { definitionOf, policyCodec } from "../policies/registry.ts";
import type { Batch, DrawnTask, Group, GroupResults, SampleResult, SampleScan } from "./batches.ts";
import { pagesOf } from "./evaluation-rounds.ts";
import type { RunEvent } from "./events.ts";
import { hashLists, issuedHashes, logged } from "./issued-hashes.ts";
import { type Codec, FormatError, type Json, parseJson } from "./json.ts";
import { blankSamples, recordedOf, withSamples } from "./samples.ts";
import type { ArmCounters, EvaluatedTask, EvaluationRound, Range, RunState } from "./state.ts";
import { memoryOf, memoryRecords } from "./task-memory.ts";
import {
  type Arm,
  type InstanceKey,
  placeOf,
  type Policy,
  type RunConfig,
  type Source,
  type TaskPlace,
} from "./types.ts";

/** Of events and states alike. Another number: another server's, to be read by that one. */
export const FORMAT = 5;

/** How the caller's part of a run is written. */
export interface Codecs<Spec, Key extends InstanceKey> {
  readonly specs: Codec<Spec>;
  readonly keys: {
    encode(key: Key): Json;
    /** What follows from the place is not written with the key. */
    decode(json: Json, place: TaskPlace<Spec>): Key;
  };
}

/** A message, or what one is made of as the domain has it: lists that are read only, and null for what is not set. */
type Draft<T> = T extends readonly (infer Item)[]
  ? readonly Draft<Item>[]
  : T extends Uint8Array
    ? T
    : T extends object
      ? T | { readonly [Name in Exclude<keyof T, "$typeName" | "$unknown">]: Draft<T[Name]> | NullFor<T[Name]> }
      : T;
type NullFor<T> = undefined extends T ? null : never;

function bytesOf<Desc extends DescMessage>(schema: Desc, draft: Draft<MessageShape<Desc>>): Uint8Array {
  return toBinary(schema, create(schema, draft as MessageInitShape<Desc>));
}

/** A message without what marks it as one. */
function bare<T extends Message>({ $typeName: _name, $unknown: _unknown, ...fields }: T) {
  return fields;
}

function read<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array, what: string): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw otherFormat(what);
  }
}

function otherFormat(what: string, format = 0): FormatError {
  const found = format === 0 ? "of no format" : `of format ${format}`;
  return new FormatError(`${what} is ${found}, and this server reads format ${FORMAT}: use the server that wrote it`);
}

/** What every writer sets. */
function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new FormatError(`${what} is missing`);
  return value;
}

function oneOf<Name extends string>(text: string, ...names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new FormatError(`expected one of ${names.join(", ")}, found "${text}"`);
  return found;
}

const source = (text: string): Source => oneOf(text, "synthetic", "real", "teacher");

// Policies.

const policyText = (policy: Policy): string => JSON.stringify(policyCodec.encode(policy));
const policyFrom = (text: string): Policy => policyCodec.decode(parseJson(text));

function policyStateText(policy: Policy, state: unknown): string {
  return JSON.stringify(definitionOf(policy).state.encode(state));
}

function policyStateFrom(policy: Policy, text: string): unknown {
  return definitionOf(policy).state.decode(parseJson(text));
}

// Configurations.

type Specs<Spec> = Codec<Spec>;

function configDraft<Spec>(config: RunConfig<Spec>, specs: Specs<Spec>): Draft<ConfigMessage> {
  const { lag, arms, evaluationArms } = config;
  return {
    ...config,
    policy: policyText(config.policy),
    lagBatches: lag.kind === "batches" ? lag.count : undefined,
    promptTemplate: config.promptTemplate,
    arms: arms.map((arm) => ({
      ...arm,
      spec: JSON.stringify(specs.encode(arm.spec)),
      klCoefficient: arm.klCoefficient,
    })),
    evaluationArms: evaluationArms.map((arm) => ({ ...arm, spec: JSON.stringify(specs.encode(arm.spec)) })),
  };
}

function armFrom<Spec>(message: ArmMessage, specs: Specs<Spec>): Arm<Spec> {
  const { klCoefficient, resource, rewardRange, ...arm } = bare(message);
  return {
    ...arm,
    spec: specs.decode(parseJson(arm.spec)),
    source: source(arm.source),
    rewardRange: bare(required(rewardRange, "an arm's reward range")),
    resource,
    ...(klCoefficient !== undefined && { klCoefficient }),
  };
}

function evaluationArmFrom<Spec>(message: EvaluationArmMessage, specs: Specs<Spec>) {
  return { ...bare(message), spec: specs.decode(parseJson(message.spec)), source: source(message.source) };
}

function configFrom<Spec>(message: ConfigMessage | undefined, specs: Specs<Spec>): RunConfig<Spec> {
  const { lagBatches, dynamicSampling, lateFeedback, promptTemplate, ...config } = bare(
    required(message, "the configuration"),
  );
  return {
    ...config,
    policy: policyFrom(config.policy),
    lag: lagBatches === undefined ? { kind: "unbounded" } : { kind: "batches", count: lagBatches },
    feedbackSource: oneOf(config.feedbackSource, "step", "reported"),
    groupTimeoutMs: config.groupTimeoutMs,
    dynamicSampling: dynamicSampling && {
      ...bare(dynamicSampling),
      alike: oneOf(dynamicSampling.alike, "rewards", "solved"),
    },
    lateFeedback: lateFeedback && bare(lateFeedback),
    promptTemplate: promptTemplate && { user: promptTemplate.user, system: promptTemplate.system },
    arms: config.arms.map((arm) => armFrom(arm, specs)),
    evaluationArms: config.evaluationArms.map((arm) => evaluationArmFrom(arm, specs)),
  };
}

// Tasks and samples.

type Keys<Spec, Key extends InstanceKey> = Codecs<Spec, Key>["keys"];

// Tasks and samples are made as messages at once, for there are many.

function taskMessage<Spec, Key extends InstanceKey>(task: DrawnTask<Key>, keys: Keys<Spec, Key>): TaskMessage {
  const { arm, ordinal, repeat, key } = task;
  return { $typeName: "gradus.internal.v1.DrawnTask", arm, ordinal, repeat, key: JSON.stringify(keys.encode(key)) };
}

function taskFrom<Spec, Key extends InstanceKey>(
  { arm, ordinal, repeat, key }: TaskMessage,
  cursor: number,
  { arms, seed }: RunConfig<Spec>,
  keys: Keys<Spec, Key>,
): DrawnTask<Key> {
  const of = arms[arm];
  if (of === undefined) throw new FormatError(`a task is of arm ${arm}, and the run has ${arms.length}`);
  return { cursor, arm, ordinal, repeat, key: keys.decode(parseJson(key), placeOf(of, ordinal, seed)) };
}

type Samples = Omit<GroupResults, "cursor">;

function sampleMessages({ indices, digests, results }: Samples): readonly Sample[] {
  return results.map((result, i) => {
    const of = { $typeName: "gradus.internal.v1.Sample", index: indices[i] ?? 0, digest: digests[i] ?? "" } as const;
    if (result.kind === "terminal") return { ...of, reason: result.reason };
    const { reward, solved, policyVersion, scan } = result;
    return { ...of, reward, solved, policyVersion, ...(scan && { scan: scanMessage(scan) }) };
  });
}

function scanMessage({ length, commitEnd, goesOn }: SampleScan): Sample["scan"] {
  return { $typeName: "gradus.internal.v1.SampleScan", length, commitEnd: commitEnd ?? undefined, goesOn };
}

function resultFrom({ reward, solved = false, policyVersion, scan, reason }: Sample): SampleResult {
  if (reward === undefined) return { kind: "terminal", reason: required(reason, "a sample's result") };
  const result = { kind: "reward", reward, solved } as const;
  if (policyVersion === undefined && scan === undefined) return result;
  return {
    ...result,
    ...(policyVersion !== undefined && { policyVersion }),
    ...(scan && { scan: { ...bare(scan), commitEnd: scan.commitEnd ?? null } }),
  };
}

function samplesFrom(samples: readonly Sample[]): Samples {
  return {
    indices: samples.map(({ index }) => index),
    digests: samples.map(({ digest }) => digest),
    results: samples.map(resultFrom),
  };
}

const resultsDraft = (group: GroupResults): Draft<ResultsMessage> => ({
  cursor: group.cursor,
  samples: sampleMessages(group),
});
const resultsFrom = ({ cursor, samples }: ResultsMessage): GroupResults => ({ cursor, ...samplesFrom(samples) });

/** The samples of a task of which those are known; one of another index is no sample of it. */
function evaluatedFrom(samples: readonly Sample[], numGenerations: number): EvaluatedTask {
  if (samples.some(({ index }) => index >= numGenerations))
    throw new FormatError(`a sample is beyond the ${numGenerations} of its group`);
  return withSamples(blankSamples(numGenerations), samplesFrom(samples));
}

const rangeDraft = ([first, last]: Range): Draft<RangeMessage> => ({ first, last });
const rangeFrom = ({ first, last }: RangeMessage): Range => [first, last];

// Events.

export type { EventMessage };

type Kind<Case extends EventMessage["kind"]["case"]> = Extract<EventMessage["kind"], { readonly case: Case }>;

function drawnDraft<Spec, Key extends InstanceKey>(
  event: Extract<RunEvent<Spec, Key>, { readonly kind: "drawn" }>,
  { policy }: RunState<Spec, Key>,
  { keys }: Codecs<Spec, Key>,
): Draft<Kind<"drawn">["value"]> {
  const { fold } = event;
  return {
    ...event,
    policyState: policyStateText(policy, event.policyState),
    fold:
      fold.kind === "through"
        ? { batches: fold.batches, ranges: [] }
        : { batches: null, ranges: fold.ranges.map(rangeDraft) },
    tasks: event.tasks.map((task) => taskMessage(task, keys)),
  };
}

function drawnFrom<Spec, Key extends InstanceKey>(
  message: Kind<"drawn">["value"],
  { policy, config }: RunState<Spec, Key>,
  { keys }: Codecs<Spec, Key>,
): RunEvent<Spec, Key> {
  const { batches, ranges } = required(message.fold, "what was folded in");
  return {
    kind: "drawn",
    ...bare(message),
    policyState: policyStateFrom(policy, message.policyState),
    fold: batches === undefined ? { kind: "groups", ranges: ranges.map(rangeFrom) } : { kind: "through", batches },
    tasks: message.tasks.map((task, i) => taskFrom(task, message.cursor + i, config, keys)),
  };
}

function kindDraft<Spec, Key extends InstanceKey>(
  event: RunEvent<Spec, Key>,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
): Draft<EventMessage["kind"]> {
  if (event.kind === "created")
    return { case: event.kind, value: { ...event, config: configDraft(event.config, codecs.specs) } };
  if (event.kind === "imported") return { case: event.kind, value: { ...event, state: event.bytes } };
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
    case "policyUpdated":
      return { case: event.kind, value: { policy: policyText(event.policy) } };
    case "advanced":
      return { case: event.kind, value: { policyState: policyStateText(before.policy, event.policyState) } };
    default:
      // They have the fields of their messages.
      return { case: event.kind, value: event } as Draft<EventMessage["kind"]>;
  }
}

/** `before`: the state that the event comes after. */
export function encodeEvent<Spec, Key extends InstanceKey>(
  event: RunEvent<Spec, Key>,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
): Uint8Array {
  return bytesOf(RunEventSchema, { format: FORMAT, kind: kindDraft(event, before, codecs) });
}

/** An event's message, which may be read before the state in it. */
export function readEvent(bytes: Uint8Array): EventMessage {
  const message = read(RunEventSchema, bytes, "an event of the run's journal");
  if (message.format !== FORMAT) throw otherFormat("an event of the run's journal", message.format);
  return message;
}

/** The event after the one that led to `before`; `imported`: the state in it, where that was read already. */
export function eventFrom<Spec, Key extends InstanceKey>(
  { kind }: EventMessage,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
  imported?: RunState<Spec, Key>,
): RunEvent<Spec, Key> {
  if (kind.case === undefined) throw new FormatError("it says nothing that this server knows");
  if (kind.case === "created")
    return { kind: kind.case, ...bare(kind.value), config: configFrom(kind.value.config, codecs.specs) };
  if (kind.case === "imported") {
    const { state: bytes, ...names } = bare(kind.value);
    return { kind: kind.case, ...names, bytes, state: imported ?? decodeState(bytes, codecs) };
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
      return {
        kind: kind.case,
        config: configFrom(config, codecs.specs),
        policy: policy === undefined ? null : policyFrom(policy),
      };
    }
    case "policyUpdated":
      return { kind: kind.case, policy: policyFrom(kind.value.policy) };
    case "advanced":
      return { kind: kind.case, policyState: policyStateFrom(before.policy, kind.value.policyState) };
    default:
      return { kind: kind.case, ...bare(kind.value) } as RunEvent<Spec, Key>;
  }
}

// States, a part at a time, so that whoever reads or writes a large one can let others work in between.

type Part = Draft<StatePart["part"]>;

/** Samples of groups, and entries of other lists, that stand in one part: about 100 KB. */
const SAMPLES_PER_PART = 4096;

function* slices<T>(list: readonly T[], size = SAMPLES_PER_PART): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

/** Tasks of so many samples each. */
const tasksPerPart = (numGenerations: number): number => Math.max(1, Math.floor(SAMPLES_PER_PART / numGenerations));

function headDraft<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { specs }: Codecs<Spec, Key>,
  journal: string,
): Draft<StateHead> {
  const { config, configCreated, policy, masks, rolledBack, probabilities, memory } = state;
  return {
    ...state,
    format: FORMAT,
    config: configDraft(config, specs),
    configCreated: configCreated === config ? null : configDraft(configCreated, specs),
    policy: policyText(policy),
    policyState: policyStateText(policy, state.policyState),
    masks: masks.map((reason) => ({ reason })),
    rolledBack: rolledBack.map(rangeDraft),
    probabilities: probabilities ?? [],
    remembers: memory !== null,
    journal,
  };
}

function headFrom<Spec, Key extends InstanceKey>(message: StateHead, { specs }: Codecs<Spec, Key>) {
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
    probabilities: head.probabilities.length === 0 ? null : head.probabilities,
  };
}

function countersFrom({ recent, folded, ...counters }: CountersMessage): ArmCounters {
  const sums = <T extends { solved?: number | undefined } & Message>(of: T) => ({
    ...bare(of),
    solved: of.solved ?? null,
  });
  return {
    ...bare(counters as CountersMessage),
    recent: recent.map(sums),
    folded: sums(required(folded, "what was folded in of an arm")),
  };
}

function groupDraft<Spec, Key extends InstanceKey>(group: Group<Key>, keys: Keys<Spec, Key>): Draft<GroupMessage> {
  const closed = group.kind === "closed";
  return {
    task: taskMessage(group.task, keys),
    handedOutAtMs: group.handedOutAtMs,
    samples: sampleMessages(recordedOf(group)),
    outcome: closed ? group.outcome : null,
    folded: closed && group.folded,
  };
}

function groupFrom<Spec, Key extends InstanceKey>(
  { task, handedOutAtMs, samples, outcome, folded }: GroupMessage,
  cursor: number,
  numGenerations: number,
  config: RunConfig<Spec>,
  keys: Keys<Spec, Key>,
): Group<Key> {
  const base = {
    task: taskFrom(required(task, "a group's task"), cursor, config, keys),
    handedOutAtMs: handedOutAtMs ?? null,
    ...evaluatedFrom(samples, numGenerations),
  };
  if (outcome === undefined) return { kind: "open", ...base, missing: numGenerations - samples.length };
  const { solved = null, deviation = null, advantage = null, ...sums } = bare(outcome);
  return { kind: "closed", ...base, outcome: { ...sums, solved, deviation, advantage }, folded };
}

function* batchParts<Spec, Key extends InstanceKey>(batch: Batch<Key>, keys: Keys<Spec, Key>): Generator<Part> {
  yield { case: "batch", value: batch };
  for (const groups of slices(batch.groups, tasksPerPart(batch.numGenerations)))
    yield { case: "tasks", value: { groups: groups.map((group) => groupDraft(group, keys)), reserve: [] } };
  for (const reserve of slices(batch.reserve))
    yield { case: "tasks", value: { groups: [], reserve: reserve.map((task) => taskMessage(task, keys)) } };
}

function* roundParts(round: EvaluationRound, numGenerations: number): Generator<Part> {
  yield { case: "round", value: round };
  const tasks = round.pages.flat().flatMap((task, cursor) => (task === null ? [] : [{ task, cursor }]));
  for (const some of slices(tasks, tasksPerPart(numGenerations))) {
    const drafts = some.map(({ task, cursor }) => resultsDraft({ cursor, ...recordedOf(task) }));
    yield { case: "evaluated", value: { tasks: drafts } };
  }
}

function* stateParts<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
  journal: string,
): Generator<Part> {
  yield { case: "head", value: headDraft(state, codecs, journal) };
  for (const value of state.arms) yield { case: "arm", value };
  for (const batch of state.batches) yield* batchParts(batch, codecs.keys);
  for (const round of state.evaluations)
    yield* roundParts(round, state.config.evaluationArms[round.arm]?.numGenerations ?? 1);
  const { older, recent } = hashLists(state.issued);
  for (const [generation, all] of [older, recent].entries())
    for (const hashes of slices(all)) yield { case: "issued", value: { generation, hashes } };
  if (state.memory !== null)
    for (const [generation, all] of memoryRecords(state.memory).entries())
      for (const records of slices(all)) yield { case: "memory", value: { generation, records } };
  yield { case: "end", value: true };
}

/** A SavedRun in pieces, to be joined. `journal`: the hash of the event that led to the state. */
export function* encodeState<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
  journal = "",
): Generator<Uint8Array> {
  for (const part of stateParts(state, codecs, journal))
    yield bytesOf(SavedRunSchema, { parts: [{ part }], records: [] });
}

/** The pieces behind those of a state: records of the history. */
export function* encodeRecords(records: readonly Draft<SavedRecord>[]): Generator<Uint8Array> {
  for (const record of records) yield bytesOf(SavedRunSchema, { parts: [], records: [record] });
}

/** A piece of a SavedRun, and where it ends. */
export interface Piece {
  readonly kind: "part" | "record";
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly end: number;
}

/** What encodeState and encodeRecords gave, piece by piece. */
export function* piecesOf(bytes: Uint8Array): Generator<Piece> {
  const reader = new BinaryReader(bytes);
  const next = (): Piece => {
    try {
      const [field, type] = reader.tag();
      if (type === WireType.LengthDelimited && (field === 1 || field === 2)) {
        const bytes = reader.bytes();
        return { kind: field === 1 ? "part" : "record", bytes, length: bytes.length, end: reader.pos };
      }
    } catch {
      // It is cut off, or none of ours.
    }
    throw otherFormat("the state");
  };
  while (reader.pos < reader.len) yield next();
}

export function decodeRecord(bytes: Uint8Array): { readonly seq: number; readonly body: string } {
  return bare(read(SavedRecordSchema, bytes, "a record of the history"));
}

/** Takes the parts of a state, one by one. Whatever encodeState did not write is a FormatError. */
export interface StateReader<Spec, Key extends InstanceKey> {
  take(part: Uint8Array): void;
  end(): RunState<Spec, Key>;
}

/** A batch as it is being read. */
type Reading<Key extends InstanceKey> = Omit<Batch<Key>, "groups" | "reserve" | "open"> & {
  readonly groups: Group<Key>[];
  readonly reserve: DrawnTask<Key>[];
};

/** A round as it is being read. */
interface ReadingRound {
  readonly round: Omit<EvaluationRound, "pages" | "missing">;
  readonly tasks: Map<number, EvaluatedTask>;
  readonly numGenerations: number;
  missing: number;
}

function roundFrom(message: RoundMessage, { evaluationArms }: RunConfig): ReadingRound {
  const of = evaluationArms[message.arm];
  if (of === undefined)
    throw new FormatError(`a round is of evaluation arm ${message.arm}, and the run has ${evaluationArms.length}`);
  const { tasks: size, numGenerations } = of;
  return { round: { ...bare(message), size }, tasks: new Map(), numGenerations, missing: size * numGenerations };
}

function takeResults({ round, tasks, numGenerations }: ReadingRound, { cursor, samples }: ResultsMessage): number {
  if (!(cursor < round.size)) throw new FormatError(`the set of an evaluation arm has no task ${cursor}`);
  tasks.set(cursor, evaluatedFrom(samples, numGenerations));
  return samples.length;
}

function misplaced(what: string | undefined): FormatError {
  return new FormatError(`a part of a state cannot be ${JSON.stringify(what ?? null)} here`);
}

export function stateReader<Spec, Key extends InstanceKey>(codecs: Codecs<Spec, Key>): StateReader<Spec, Key> {
  let head: ReturnType<typeof headFrom<Spec, Key>> | undefined;
  let isWhole = false;
  const arms: ArmCounters[] = [];
  const batches: Reading<Key>[] = [];
  const rounds: ReadingRound[] = [];
  const issued = [logged([]), logged([])] as const;
  const memory = [[], []] as const satisfies { hash: string; record: number }[][];

  const takeTasks = (message: Extract<StatePart["part"], { case: "tasks" }>["value"]): void => {
    const batch = batches.at(-1);
    if (batch === undefined || head === undefined) throw misplaced("tasks");
    const { groups, reserve, numGenerations } = batch;
    const next = (): number => batch.cursor + groups.length + reserve.length;
    for (const group of message.groups) groups.push(groupFrom(group, next(), numGenerations, head.config, codecs.keys));
    for (const task of message.reserve) reserve.push(taskFrom(task, next(), head.config, codecs.keys));
  };
  return {
    take(bytes) {
      const { part } = read(StatePartSchema, bytes, "a part of the state");
      if (head === undefined) {
        if (part.case !== "head") throw otherFormat("the state");
        if (part.value.format !== FORMAT) throw otherFormat("the state", part.value.format);
        head = headFrom(part.value, codecs);
        return;
      }
      if (isWhole) throw misplaced(part.case);
      switch (part.case) {
        case "arm":
          arms.push(countersFrom(part.value));
          return;
        case "batch":
          batches.push({ ...bare(part.value), groups: [], reserve: [] });
          return;
        case "tasks":
          takeTasks(part.value);
          return;
        case "round":
          rounds.push(roundFrom(part.value, head.config));
          return;
        case "evaluated": {
          const round = rounds.at(-1);
          if (round === undefined) throw misplaced(part.case);
          for (const task of part.value.tasks) round.missing -= takeResults(round, task);
          return;
        }
        case "issued":
          logged(part.value.hashes, required(issued[part.value.generation], "a generation of hashes"));
          return;
        case "memory":
          required<{ hash: string; record: number }[]>(
            memory[part.value.generation],
            "a generation of what is remembered",
          ).push(...part.value.records.map(bare));
          return;
        case "end":
          isWhole = true;
          return;
        default:
          throw misplaced(part.case);
      }
    },
    end() {
      if (head === undefined || !isWhole) throw new FormatError("the state ends too early");
      const { remembers, ...plain } = head;
      const isOpen = ({ kind }: Group<Key>): boolean => kind === "open";
      const all = batches.map((batch) => ({ ...batch, open: batch.groups.filter(isOpen).length }));
      return {
        ...plain,
        arms,
        batches: all,
        groupsOpen: all.reduce((sum, { open }) => sum + open, 0),
        issued: issuedHashes(...issued),
        memory: remembers ? memoryOf(...memory) : null,
        evaluations: rounds.map(({ round, tasks, missing }) => ({
          ...round,
          pages: pagesOf(round.size, tasks),
          missing,
        })),
      };
    },
  };
}

/** At once. Throws a FormatError for what encodeState did not write. */
export function decodeState<Spec, Key extends InstanceKey>(
  bytes: Uint8Array,
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> {
  const reader = stateReader(codecs);
  for (const piece of piecesOf(bytes)) reader.take(piece.bytes);
  return reader.end();
}
