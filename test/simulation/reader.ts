/**
 * An independent reader of a run's journal, written from proto/gradus/internal/v1/run.proto. It shares only generated
 * code with the server, and both must read a journal alike.
 */
import { isDeepStrictEqual } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import {
  type Created,
  type Imported,
  type RunEvent,
  RunEventSchema,
} from "../../proto/gen/gradus/internal/v1/run_pb.js";
import { drawn } from "./reader-draws.ts";
import { noneMalformed } from "./reader-malformed.ts";
import { rowsSeen } from "./reader-rows.ts";
import { feedback, reported, closed, reopened } from "./reader-groups.ts";
import { type Data, UNSAID, type Config, configOf, type ReadRun, readHead, readState } from "./reader-state.ts";
import {
  type HashOf,
  type Reading,
  type Reader,
  segment,
  groupsOf,
  isOf,
  looksBack,
  noArm,
  armsOf,
  firstState,
} from "./reading.ts";

function created({ runId, incarnation, atMs, config: message }: Created, reader: Partial<Reader>): ReadRun {
  const config = configOf(message);
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
    pausedBy: "",
    pausedAtMs: 0,
    note: "",
    tags: [],
    incarnations: [incarnation],
    epoch: 0,
    rolledBack: [],
    controlRolledBack: [],
    advancedTo: UNSAID,
    cursor: 0,
    prompts: 0,
    handedOut: 0,
    batchesDrawn: 0,
    batchesClosed: 0,
    batchesFolded: 0,
    samplesRecorded: 0,
    malformed: noneMalformed,
    lists: [],
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

/** `keeper`: the run whose control stays in force; undefined: the export's control comes with it. */
export function imported(reader: Partial<Reader>, message: Imported, from: number, keeper?: ReadRun): ReadRun {
  const { runId, incarnation, epoch, atMs, state: bytes } = message;
  const before = reader.run;
  const state = readState(bytes);
  const shares = before?.incarnations.includes(state.incarnations.at(-1) ?? "") ?? false;
  const offset = before === undefined || shares ? 0 : before.nextSeq;
  const movedBy = (ranges: ReadRun["rolledBack"]) => ranges.map(([a, b]) => [a + offset, b + offset] as const);
  const undone: (readonly [number, number])[] = [];
  if (before !== undefined && !shares) undone.push([0, offset - 1]);
  if (before !== undefined && shares && before.nextSeq > state.nextSeq)
    undone.push([state.nextSeq, before.nextSeq - 1]);
  for (const batch of state.batches) {
    batch.seq += offset;
    for (const group of batch.groups) if (group.handedOutAtMs !== null) group.handedOutAtMs = atMs;
  }
  reader.segments?.push(segment(incarnation, from, readHead(bytes), state, keeper !== undefined));
  reader.inPass?.clear();
  const all = (ranges: ReadRun["rolledBack"]) =>
    shares ? [...movedBy(ranges), ...undone] : [...undone, ...movedBy(ranges)];
  const rolledBack = all(state.rolledBack);
  // A rollback does not undo the control that the run keeps.
  const kept = shares ? [] : movedBy(state.controlRolledBack);
  const controlRolledBack =
    keeper === undefined ? all(state.controlRolledBack) : [...keeper.controlRolledBack, ...kept];
  if (keeper !== undefined) underControl(keeper, state, JSON.parse(message.policyState) as Data);
  return {
    ...state,
    runId,
    epoch,
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack,
    controlRolledBack,
    advancedTo: UNSAID,
    // Another server may have read its pools at another time, so any server may report its rows.
    lists: state.lists.map((list) => ({ ...list, loadedAtMs: 0 })),
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}

/**
 * Restores the control that a run keeps when an export is put back into it, as the contract's comment of ImportRun
 * says.
 */
function underControl(here: ReadRun, state: ReadRun, policyState: Data): void {
  const place = new Map(armsOf(here.config).map(({ id }, i) => [id, i]));
  const exported = armsOf(state.config);
  const hereArm = (id: unknown) => armsOf(here.config)[place.get(id as string) ?? -1];
  const kept = exported.map((arm): Config => {
    const now = hereArm(arm["id"]);
    if (now === undefined) return { ...arm, removed: true };
    const [rule, was] = [now["rows"], arm["rows"]] as (Config | undefined)[];
    return rule === undefined || was === undefined ? now : { ...now, rows: { ...rule, rows: was["rows"] ?? 0 } };
  });
  const added = armsOf(here.config).filter(({ id }) => !exported.some((arm) => arm.id === id));
  const arms = [...kept, ...added];
  state.arms = state.arms.map((arm, i) => (kept[i]?.removed === true && exported[i]?.removed !== true ? noArm() : arm));
  const { numGenerations, promptsPerUpdate, length, timeToLiveMs, given } = here.config;
  const shape = { numGenerations, promptsPerUpdate, length, timeToLiveMs, given } as Config;
  const config = { ...state.config, ...shape, arms } as Config;
  reshape(state, config, isDeepStrictEqual(state.policy, here.policy) ? null : here.policy);
  const at = (id: unknown): number => place.get(id as string) ?? -1;
  state.configCreated = here.configCreated ?? here.config;
  state.policyState = policyState;
  state.weights = arms.map(({ id }) => here.weights[at(id)] ?? 0);
  state.masks = arms.map(({ id }) => here.masks[at(id)] ?? null);
  state.paused = here.paused;
  state.pausedBy = here.pausedBy;
  state.pausedAtMs = here.pausedAtMs;
  state.note = here.note;
  state.tags = here.tags;
}

/** Applies events that change how the run goes on, each of which takes a place in the history. */
function control(run: ReadRun, kind: RunEvent["kind"]): void {
  run.nextSeq++;
  const mask = (arm: number, reason: string | null): void =>
    void (run.masks = run.masks.map((old, i) => (i === arm ? reason : old)));
  if (kind.case === "paused" || kind.case === "resumed") {
    run.paused = kind.case === "paused";
    [run.pausedBy, run.pausedAtMs] = kind.case === "paused" ? [kind.value.by, kind.value.atMs] : ["", 0];
  } else if (kind.case === "noted") run.note = kind.value.note;
  else if (kind.case === "tagged") run.tags = kind.value.tags;
  else if (kind.case === "weightsSet") run.weights = kind.value.weights;
  else if (kind.case === "advanced") run.policyState = JSON.parse(kind.value.policyState) as Data;
  else if (kind.case === "armMasked") mask(kind.value.arm, kind.value.reason);
  else if (kind.case === "armUnmasked") mask(kind.value.arm, null);
  else if (kind.case === "policyUpdated") updatePolicy(run, JSON.parse(kind.value.policy) as Data);
  else if (kind.case === "reshaped")
    reshape(
      run,
      configOf(kind.value.config),
      kind.value.policy === undefined ? null : (JSON.parse(kind.value.policy) as Data),
    );
  else throw new Error(`there is no event "${kind.case ?? ""}"`);
}

function updatePolicy(run: ReadRun, policy: Data): void {
  // No event says which state the policy keeps. After a policy of another kind it keeps none.
  const keeps = !isOf(policy, "mixture") && isOf(run.policy, (policy as Config)["name"] as string);
  if (!keepsFrontier(run.policy, policy))
    run.policyState = keeps ? UNSAID : firstState(policy, run.arms.length, run.prompts);
  run.policy = policy;
  run.memory = looksBack(policy) ? (run.memory ?? new Map()) : null;
}

/** Returns whether a frontier's state stays as it is: neither its measures nor its scale of practice change. */
function keepsFrontier(before: Data, after: Data): boolean {
  if (!isOf(before, "frontier") || !isOf(after, "frontier")) return false;
  const [one, other] = [before, after].map((policy) => (policy as Config)["parameters"] as Config);
  return ["measure", "arm_measures", "practice_scale"].every((name) => isDeepStrictEqual(one?.[name], other?.[name]));
}

/** Returns a frontier's state with new arms, of which nothing is known. */
function withFreshArms(policyState: Data, count: number): Data {
  if (policyState === UNSAID) return UNSAID;
  const fresh = Array.from({ length: count }, () => [0, 0, 0, 0, 0, null]);
  if (Array.isArray(policyState)) return [...(policyState as readonly Data[]), ...fresh];
  const { arms, ...rest } = policyState as Config;
  return { ...rest, arms: [...(arms as readonly Data[]), ...fresh] };
}

/** Changes the shape: new arms come after the existing ones. */
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
  // No event says which state these policies give to new arms.
  if (arms.length > before && isOf(run.policy, "bandit", "weakest-part")) run.policyState = UNSAID;
  if (arms.length > before && isOf(run.policy, "frontier"))
    run.policyState = withFreshArms(run.policyState, arms.length - before);
  if (policy !== null) updatePolicy(run, policy);
}

/** Reads a journal from its beginning. */
export function readJournal(events: readonly Uint8Array[], hashOf: HashOf): Reading {
  const reader: Partial<Reader> & Omit<Reader, "run"> = { hashOf, segments: [], faults: [], inPass: new Map() };
  for (const [i, bytes] of events.entries()) {
    const { format, kind } = fromBinary(RunEventSchema, bytes);
    if (format !== 6) throw new Error(`an event of format ${format}`);
    if (kind.case === "created") reader.run = created(kind.value, reader);
    else if (kind.case === "imported") reader.run = imported(reader, kind.value, i);
    else if (kind.case === "restored") reader.run = imported(reader, kind.value, i, reader.run);
    else if (reader.run === undefined) throw new Error(`a journal begins with "${kind.case ?? ""}"`);
    else change(reader as Reader, kind);
    reader.run.version++;
  }
  if (reader.run === undefined) throw new Error("a journal is empty");
  return reader as Reader;
}

function change(reader: Reader, kind: RunEvent["kind"]): void {
  const { run } = reader;
  if (kind.case === "drawn") drawn(reader, kind.value);
  else if (kind.case === "handedOut") handOut(run, kind.value.from, kind.value.through, kind.value.atMs);
  else if (kind.case === "feedback") feedback(reader, kind.value);
  else if (kind.case === "reported") reported(reader, kind.value);
  else if (kind.case === "evaluationOpened") run.nextSeq++;
  // The reader skips rounds of evaluation and tables of rows.
  else if (kind.case === "evaluated" || kind.case === "rowsRated") return;
  else if (kind.case === "rowsSeen") rowsSeen(reader, kind.value);
  else if (kind.case === "closed") {
    closed(reader, kind.value.cursors);
    run.nextSeq++;
  } else if (kind.case === "reopened") {
    reopened(reader, kind.value.cursors, kind.value.atMs);
    run.nextSeq++;
  } else control(run, kind);
}
