/** Groups, their outcomes and the counters of arms in the text of a state: as lists, for they are many. */
import { type Codecs, decodeResults, decodeTask, encodeResults, encodeTask } from "./codec.ts";
import { type Json, readFlag, readList, readNumber, readOrNull } from "./json.ts";
import { blankSamples, recordedOf, withSamples } from "./samples.ts";
import type { GroupOutcome, RewardSums } from "./signals.ts";
import type { Group } from "./batches.ts";
import type { ArmCounters, Tally } from "./state.ts";
import type { InstanceKey, RunConfig } from "./types.ts";

function encodeSums({ count, sum, solved }: RewardSums): readonly Json[] {
  return [count, sum, solved];
}

function decodeSums(json: Json | undefined): RewardSums {
  const [count, sum, solved] = readList(json);
  return { count: readNumber(count), sum: readNumber(sum), solved: readOrNull(solved, readNumber) };
}

/**
 * A group: its task, when it was given out, its samples as in a feedback event; of a closed one also its outcome with
 * whether it is folded in.
 */
export function encodeGroup<Spec, Key extends InstanceKey>(group: Group<Key>, { keys }: Codecs<Spec, Key>): Json {
  const { task, handedOutAtMs } = group;
  const parts = [encodeTask(task, keys), handedOutAtMs, ...encodeResults(recordedOf(group))];
  if (group.kind === "open") return parts;
  const { outcome, folded } = group;
  return [...parts, [...encodeSums(outcome), outcome.deviation, outcome.advantage, folded]];
}

function decodeOutcome(json: Json): GroupOutcome {
  const [count, sum, solved, deviation, advantage] = readList(json);
  return {
    ...decodeSums([count ?? null, sum ?? null, solved ?? null]),
    deviation: readOrNull(deviation, readNumber),
    advantage: readOrNull(advantage, readNumber),
  };
}

export function decodeGroup<Spec, Key extends InstanceKey>(
  json: Json,
  at: { readonly cursor: number; readonly config: RunConfig<Spec>; readonly numGenerations: number },
  { keys }: Codecs<Spec, Key>,
): Group<Key> {
  const [task = null, handedOut, places, texts, values, outcome] = readList(json);
  const recorded = decodeResults([places, texts, values]);
  const samples = withSamples(blankSamples(at.numGenerations), recorded);
  const { results } = samples;
  const base = { task: decodeTask(task, at, keys), handedOutAtMs: readOrNull(handedOut, readNumber), ...samples };
  if (outcome === undefined) return { kind: "open", ...base, missing: results.length - recorded.indices.length };
  return { kind: "closed", ...base, outcome: decodeOutcome(outcome), folded: readFlag(readList(outcome)[5]) };
}

export function encodeCounters({ issued, repeats, nextOrdinal, groups, recent, folded }: ArmCounters): Json {
  return [issued, repeats, nextOrdinal, groups, recent.map(encodeSums), [folded.groups, ...encodeSums(folded)]];
}

function decodeTally(json: Json | undefined): Tally {
  const [groups, ...sums] = readList(json);
  return { groups: readNumber(groups), ...decodeSums(sums) };
}

export function decodeCounters(json: Json): ArmCounters {
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
