/**
 * What a list tells of a run, kept beside it, so that a list reads no journal. It is written with every change, in the same
 * transaction, in two parts: the head has what seldom changes.
 */
import type { Append, ListedRun, Summary } from "../../stores/store.ts";
import { type Codecs, decodeConfig, encodeConfig, FORMAT } from "../codec.ts";
import {
  FormatError,
  type Json,
  parseJson,
  readFlag,
  readList,
  readNumber,
  readObject,
  readOrNull,
  readText,
} from "../json.ts";
import { policyCodec } from "../policies/registry.ts";
import type { RunState } from "../state.ts";
import type { InstanceKey } from "../types.ts";
import { stateView, type ArmView, type RunView, type StateView } from "../view.ts";

/** `written`: the state whose head is in the store; undefined: none is known to be. */
export function encodeSummary<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  written: RunState<Spec, Key> | undefined,
  { specs }: Codecs<Spec, Key>,
): Append["summary"] {
  const { policy, arms, runId, ...plain } = stateView(state);
  const body = JSON.stringify({ ...plain, arms: arms.map(encodeArm) });
  if (written?.config === state.config && written.policy === policy) return { state: body };
  const { config, createdAtMs } = state;
  const parts = { runId, createdAtMs, config: encodeConfig(config, specs), policy: policyCodec.encode(policy) };
  return { head: JSON.stringify({ format: FORMAT, ...parts }), state: body };
}

/** Without its id, which the configuration has. */
function encodeArm({ probability, value, weight, issued, groups, repeats, ...rest }: ArmView): Json {
  const { recentRewardMean = null, recentSolvedShare = null, maskedReason = null } = rest;
  return [probability, value, weight, issued, groups, recentRewardMean, recentSolvedShare, repeats, maskedReason];
}

/** Undefined: there is none that this server reads, or none of the run as it is now. */
export function decodeSummary<Spec, Key extends InstanceKey>(
  { summary, version }: ListedRun,
  codecs: Codecs<Spec, Key>,
): RunView<Spec> | undefined {
  try {
    return summary && decode(summary, version, codecs);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

function decode<Spec, Key extends InstanceKey>(
  summary: Summary,
  version: number,
  { specs }: Codecs<Spec, Key>,
): RunView<Spec> | undefined {
  const state = readObject(parseJson(summary.state));
  // A server that writes no summaries may have written events beside this one.
  if (state["version"] !== version - 1) return undefined;
  const head = readObject(parseJson(summary.head));
  if (head["format"] !== FORMAT) return undefined;
  const config = decodeConfig(head["config"], specs);
  const runId = readText(head["runId"]);
  const policy = policyCodec.decode(head["policy"] ?? null);
  const ids = config.arms.map(({ id }) => id);
  const view = { runId, policy, ...decodeState(state, ids) };
  return { runId, config, state: view, createdAtMs: readNumber(head["createdAtMs"]) };
}

function decodeState(
  from: { readonly [name: string]: Json },
  armIds: readonly string[],
): Omit<StateView, "runId" | "policy"> {
  const number = (name: string): number => readNumber(from[name]);
  return {
    incarnation: readText(from["incarnation"]),
    epoch: number("epoch"),
    version: number("version"),
    cursor: number("cursor"),
    batchesDrawn: number("batchesDrawn"),
    batchesClosed: number("batchesClosed"),
    groupsOutstanding: number("groupsOutstanding"),
    samplesRecorded: number("samplesRecorded"),
    paused: readFlag(from["paused"]),
    done: readFlag(from["done"]),
    arms: readList(from["arms"]).map((arm, i) => decodeArm(arm, armIds[i] ?? "")),
  };
}

function decodeArm(json: Json, armId: string): ArmView {
  const [probability, value, weight, issued, groups, mean, solved, repeats, masked] = readList(json);
  return {
    armId,
    probability: readNumber(probability),
    value: readNumber(value),
    weight: readNumber(weight),
    issued: readNumber(issued),
    groups: readNumber(groups),
    recentRewardMean: readOrNull(mean, readNumber) ?? undefined,
    recentSolvedShare: readOrNull(solved, readNumber) ?? undefined,
    repeats: readNumber(repeats),
    maskedReason: readOrNull(masked, readText) ?? undefined,
  };
}
