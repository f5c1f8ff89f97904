/**
 * What a list tells of a run, kept beside it, so that a list reads no journal. It is written with the changes of a run, in
 * the same transaction, in two parts: the head has what seldom changes. Samples that leave their update batch open are
 * many, and write none: a list has the run from memory then, or reads the journal once.
 */
import type { RunEvent } from "../core/events.ts";
import type { ListedRun, Summary, WrittenSummary } from "../../stores/store.ts";
import { FORMAT } from "../core/codec.ts";
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
} from "../core/json.ts";
import { policyCodec } from "../policies/registry.ts";
import type { RunState } from "../core/state.ts";
import type { RunConfig } from "../core/types.ts";
import { stateView, type ArmView, type EvaluationView, type RunView, type StateView } from "../core/view.ts";

/** A run as a list tells of it: its configuration in its creator's words only. */
export interface ListedView extends Omit<RunView, "config"> {
  readonly config: Pick<RunConfig, "given">;
}

/** Whether a change is told in the summary at once. */
export function isTold(before: RunState | undefined, events: readonly RunEvent[], after: RunState): boolean {
  const closes = before?.batchesClosed !== after.batchesClosed || openRounds(before) !== openRounds(after);
  return closes || events.some(({ kind }) => kind !== "feedback" && kind !== "evaluated");
}

/** How many rounds are not closed. */
function openRounds({ evaluations }: RunState): number {
  return evaluations.filter(({ missing }) => missing > 0).length;
}

/** `written`: the state whose head is in the store; undefined: none is known to be. */
export function encodeSummary(state: RunState, written: RunState | undefined): WrittenSummary {
  const { policy, arms, runId, ...plain } = stateView(state);
  const body = JSON.stringify({ ...plain, arms: arms.map(encodeArm) });
  if (written?.config === state.config && written.policy === policy) return { state: body };
  const { config, createdAtMs } = state;
  const parts = { runId, createdAtMs, given: config.given, policy: policyCodec.encode(policy) };
  const armIds = config.arms.map(({ id }) => id);
  return { head: JSON.stringify({ format: FORMAT, ...parts, armIds }), state: body };
}

/** Without its id, which the configuration has. */
function encodeArm({ probability, value, weight, issued, groups, repeats, ...rest }: ArmView): Json {
  const { recentRewardMean = null, recentSolvedShare = null, maskedReason = null } = rest;
  const recent = [recentRewardMean, recentSolvedShare];
  return [probability, value, weight, issued, groups, ...recent, repeats, maskedReason, Number(rest.removed)];
}

/** Undefined: there is none that this server reads, or none of the run as it is now. */
export function decodeSummary({ summary, version }: ListedRun): ListedView | undefined {
  try {
    return summary && decode(summary, version);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

function decode(summary: Summary, version: number): ListedView | undefined {
  const state = readObject(parseJson(summary.state));
  // A server that writes no summaries may have written events beside this one.
  if (state["version"] !== version - 1) return undefined;
  const head = readObject(parseJson(summary.head));
  if (head["format"] !== FORMAT) return undefined;
  const runId = readText(head["runId"]);
  const policy = policyCodec.decode(head["policy"] ?? null);
  const view = { runId, policy, ...decodeState(state, readList(head["armIds"]).map(readText)) };
  const config = { given: readText(head["given"]) };
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
    firstOpenCursor: number("firstOpenCursor"),
    batchesDrawn: number("batchesDrawn"),
    batchesClosed: number("batchesClosed"),
    groupsOutstanding: number("groupsOutstanding"),
    samplesRecorded: number("samplesRecorded"),
    paused: readFlag(from["paused"]),
    done: readFlag(from["done"]),
    arms: readList(from["arms"]).map((arm, i) => decodeArm(arm, armIds[i] ?? "")),
    evaluations: readList(from["evaluations"]).map(decodeEvaluation),
  };
}

function decodeEvaluation(json: Json): EvaluationView {
  const from = readObject(json);
  const number = (name: string): number => readNumber(from[name]);
  const mean = (name: string): number | undefined => readOrNull(from[name] ?? null, readNumber) ?? undefined;
  return {
    armId: readText(from["armId"]),
    round: number("round"),
    cursor: number("cursor"),
    tasks: number("tasks"),
    samples: number("samples"),
    withoutReward: number("withoutReward"),
    rewardMean: mean("rewardMean"),
    solvedShare: mean("solvedShare"),
    closed: readFlag(from["closed"]),
  };
}

function decodeArm(json: Json, armId: string): ArmView {
  const [probability, value, weight, issued, groups, mean, solved, repeats, masked, removed] = readList(json);
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
    removed: removed === 1,
  };
}
