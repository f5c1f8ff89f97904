/**
 * How events are written to the journal, and read.
 *
 * An event is a list that begins with the format's number and the event's kind:
 *
 *     [4, "created", run_id, incarnation, at_ms, config]
 *     [4, "drawn", batch, at_ms, cursor, probabilities, policy_state, fold, tasks]     and prompts, where it has a reserve,
 *                                                        and 1 behind that, where a pass over the same instances begins
 *     [4, "handed_out", from, through, at_ms]
 *     [4, "fed", cursor, samples, digests, results, cursor, samples, digests, results, …]
 *     [4, "reported", [[cursor, advantages, reward_mean], …]]
 *     [4, "closed", ranges, reason]
 *     [4, "reopened", ranges, at_ms]
 *     [4, "reshaped", config, policy]                    policy: null where it stays
 *     [4, "policy_updated", policy]
 *     [4, "weights_set", weights]
 *     [4, "advanced", policy_state]
 *     [4, "arm_masked", arm, reason]
 *     [4, "arm_unmasked", arm]
 *     [4, "paused"]
 *     [4, "resumed"]
 *     [4, "evaluation_opened", arm, round, at_ms]
 *     [4, "evaluated", arm, round, ordinal, samples, digests, results, ordinal, samples, …]
 *     [4, "imported", run_id, incarnation, epoch, at_ms]
 *
 * Behind "imported" and a line feed stands the state as it was exported (state-text.ts).
 * `tasks` has [arm, ordinal, key] for each slot in cursor order, with a 1 behind a repeat; `key` is the TaskSource's.
 * `samples` is the first sample_index where the others follow it without a gap, else the list of them. A result is a
 * reward, a reward in a list of its own if the sample is solved, [reward, 1 if solved else 0, version] where the policy's
 * version is known, or a text: why there will be no reward. Behind the version, null if that is not known, stands
 * [length, commit_end or null, 1 if it goes on else 0] where the completion was scanned for commits. Where a group has
 * one sample only, its digest and its result stand without lists around them. `fold` is the number of batches folded in,
 * or under an unbounded lag the cursors of the groups, as `ranges`: [[first, last], …].
 * Of an evaluation `arm` is the index among the evaluation arms, and an ordinal stands where a cursor does in "fed".
 * A policy is the contract's message in JSON. Times are milliseconds since the Unix epoch.
 */
import { assertNever } from "../../../envs/lib/assert-never.ts";
import {
  checkFormat,
  type Codecs,
  decodeConfig,
  decodePolicyState,
  decodeRanges,
  decodeResults,
  decodeTask,
  encodeConfig,
  encodePolicyState,
  encodeResults,
  encodeTask,
  FORMAT,
} from "./codec.ts";
import type { BatchDrawn, Created, Imported, RunEvent } from "./events.ts";
import {
  FormatError,
  isList,
  type Json,
  parseJson,
  readList,
  readNumber,
  readNumbers,
  readOrNull,
  readText,
} from "./json.ts";
import { policyCodec } from "../policies/registry.ts";
import { decodeState } from "./state-text.ts";
import type { GroupResults } from "./batches.ts";
import type { Fold } from "./fold.ts";
import { type RunState, toRanges } from "./state.ts";
import type { InstanceKey } from "./types.ts";

function encodeFold(fold: Fold): Json {
  return fold.kind === "through" ? fold.batches : fold.ranges;
}

function decodeFold(json: Json | undefined): Fold {
  if (isList(json)) return { kind: "groups", ranges: decodeRanges(json) };
  return { kind: "through", batches: readNumber(json) };
}

function encodeDrawn<Spec, Key extends InstanceKey>(
  { batch, atMs, cursor, probabilities, policyState, fold, tasks, prompts, restarts }: BatchDrawn<Key>,
  before: RunState<Spec, Key>,
  { keys }: Codecs<Spec, Key>,
): Json {
  const state = encodePolicyState(before.policy, policyState);
  const encoded = tasks.map((task) => encodeTask(task, keys));
  const drawn = [FORMAT, "drawn", batch, atMs, cursor, probabilities, state, encodeFold(fold), encoded];
  if (restarts) return [...drawn, prompts, 1];
  return prompts === tasks.length ? drawn : [...drawn, prompts];
}

function encodeFeedback(head: readonly Json[], groups: readonly GroupResults[]): Json {
  const list: Json[] = [FORMAT, ...head];
  for (const group of groups) list.push(group.cursor, ...encodeResults(group));
  return list;
}

function eventToJson<Spec, Key extends InstanceKey>(
  event: RunEvent<Spec, Key>,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
): Json {
  const { kind } = event;
  if (kind === "created") {
    const { runId, incarnation, atMs, config } = event;
    return [FORMAT, kind, runId, incarnation, atMs, encodeConfig(config, codecs.specs)];
  }
  if (kind === "imported") return [FORMAT, kind, event.runId, event.incarnation, event.epoch, event.atMs];
  if (before === undefined) throw new Error(`a journal begins with "created" or "imported", not "${kind}"`);
  switch (kind) {
    case "drawn":
      return encodeDrawn(event, before, codecs);
    case "handed_out":
      return [FORMAT, kind, event.from, event.through, event.atMs];
    case "feedback":
      return encodeFeedback(["fed"], event.groups);
    case "reported":
      return [FORMAT, kind, event.groups.map(({ cursor, advantages, rewardMean }) => [cursor, advantages, rewardMean])];
    case "closed":
      return [FORMAT, kind, toRanges(event.cursors), event.reason];
    case "reopened":
      return [FORMAT, kind, toRanges(event.cursors), event.atMs];
    case "reshaped": {
      const { config, policy } = event;
      return [FORMAT, kind, encodeConfig(config, codecs.specs), policy && policyCodec.encode(policy)];
    }
    case "policy_updated":
      return [FORMAT, kind, policyCodec.encode(event.policy)];
    case "weights_set":
      return [FORMAT, kind, event.weights];
    case "advanced":
      return [FORMAT, kind, encodePolicyState(before.policy, event.policyState)];
    case "arm_masked":
      return [FORMAT, kind, event.arm, event.reason];
    case "arm_unmasked":
      return [FORMAT, kind, event.arm];
    case "paused":
    case "resumed":
      return [FORMAT, kind];
    case "evaluation_opened":
      return [FORMAT, kind, event.arm, event.round, event.atMs];
    case "evaluated":
      return encodeFeedback([kind, event.arm, event.round], event.tasks);
    default:
      return assertNever(event);
  }
}

/** `before`: the state that the event comes after. */
export function encodeEvent<Spec, Key extends InstanceKey>(
  event: RunEvent<Spec, Key>,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
): string {
  const text = JSON.stringify(eventToJson(event, before, codecs));
  // The state's text as it is: a JSON string of it would take long to write and to read.
  return event.kind === "imported" ? `${text}\n${event.text}` : text;
}

function decodeDrawn<Spec, Key extends InstanceKey>(
  [batch, atMs, cursor, probabilities, policyState, fold, list, prompts, restarts]: readonly Json[],
  before: RunState<Spec, Key>,
  { keys }: Codecs<Spec, Key>,
): BatchDrawn<Key> {
  const from = readNumber(cursor);
  const { config, policy } = before;
  const tasks = readList(list).map((task, i) => decodeTask(task, { cursor: from + i, config }, keys));
  return {
    kind: "drawn",
    batch: readNumber(batch),
    atMs: readNumber(atMs),
    cursor: from,
    probabilities: readNumbers(probabilities),
    policyState: decodePolicyState(policy, policyState),
    fold: decodeFold(fold),
    tasks,
    prompts: prompts === undefined ? tasks.length : readNumber(prompts),
    restarts: restarts === 1,
  };
}

function decodeFeedback(rest: readonly Json[]): readonly GroupResults[] {
  return Array.from({ length: Math.floor(rest.length / 4) }, (_, i) => ({
    cursor: readNumber(rest[4 * i]),
    ...decodeResults(rest.slice(4 * i + 1, 4 * i + 4)),
  }));
}

function decodeReported(json: Json | undefined) {
  return readList(json).map((group) => {
    const [cursor, advantages, rewardMean] = readList(group);
    return {
      cursor: readNumber(cursor),
      advantages: readNumbers(advantages),
      rewardMean: readOrNull(rewardMean, readNumber),
    };
  });
}

function numbersIn(ranges: Json | undefined): readonly number[] {
  return decodeRanges(ranges).flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
}

/** The state in the text of an event, which only an import has. */
export function stateTextIn(event: string): string | undefined {
  const end = event.indexOf("\n");
  return end < 0 ? undefined : event.slice(end + 1);
}

/**
 * Reads an event after the one that led to `before`; throws a FormatError for what encodeEvent did not write.
 * `imported`: the state in it, where that was read already.
 */
export function decodeEvent<Spec, Key extends InstanceKey>(
  text: string,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
  imported?: RunState<Spec, Key>,
): RunEvent<Spec, Key> {
  const end = text.indexOf("\n");
  const json = parseJson(end < 0 ? text : text.slice(0, end));
  checkFormat(isList(json) ? json[0] : undefined, "an event of the run's journal");
  const [, kind, ...rest] = readList(json);
  const [one, two, three] = rest;
  if (kind === "created") return decodeCreated(rest, codecs);
  if (kind === "imported") {
    const stateText = stateTextIn(text) ?? "";
    return decodeImported(rest, stateText, imported ?? decodeState(stateText, codecs));
  }
  if (before === undefined) throw new FormatError('the journal does not begin with "created" or "imported"');
  switch (kind) {
    case "drawn":
      return decodeDrawn(rest, before, codecs);
    case "handed_out":
      return { kind, from: readNumber(one), through: readNumber(two), atMs: readNumber(three) };
    case "fed":
      return { kind: "feedback", groups: decodeFeedback(rest) };
    case "reported":
      return { kind, groups: decodeReported(one) };
    case "closed":
      return { kind, cursors: numbersIn(one), reason: readText(two) };
    case "reopened":
      return { kind, cursors: numbersIn(one), atMs: readNumber(two) };
    case "reshaped": {
      const policy = readOrNull(two, (json) => policyCodec.decode(json ?? null));
      return { kind, config: decodeConfig(one, codecs.specs), policy };
    }
    case "policy_updated":
      return { kind, policy: policyCodec.decode(one ?? null) };
    case "weights_set":
      return { kind, weights: readNumbers(one) };
    case "advanced":
      return { kind, policyState: decodePolicyState(before.policy, one) };
    case "arm_masked":
      return { kind, arm: readNumber(one), reason: readText(two) };
    case "arm_unmasked":
      return { kind, arm: readNumber(one) };
    case "paused":
    case "resumed":
      return { kind };
    case "evaluation_opened":
      return { kind, arm: readNumber(one), round: readNumber(two), atMs: readNumber(three) };
    case "evaluated":
      return { kind, arm: readNumber(one), round: readNumber(two), tasks: decodeFeedback(rest.slice(2)) };
    default:
      throw new FormatError(`there is no event ${JSON.stringify(kind)}`);
  }
}

function decodeCreated<Spec, Key extends InstanceKey>(
  [runId, incarnation, atMs, config]: readonly Json[],
  { specs }: Codecs<Spec, Key>,
): Created<Spec> {
  const names = { runId: readText(runId), incarnation: readText(incarnation) };
  return { kind: "created", ...names, atMs: readNumber(atMs), config: decodeConfig(config, specs) };
}

function decodeImported<Spec, Key extends InstanceKey>(
  [runId, incarnation, epoch, atMs]: readonly Json[],
  text: string,
  state: RunState<Spec, Key>,
): Imported<Spec, Key> {
  return {
    kind: "imported",
    runId: readText(runId),
    incarnation: readText(incarnation),
    epoch: readNumber(epoch),
    atMs: readNumber(atMs),
    state,
    text,
  };
}
