/**
 * What a list tells of a run, kept beside it, so that a list reads no journal. It is written with the changes of a run, in
 * the same transaction, in two parts: the head has what seldom changes. Samples that leave their update batch open are
 * many, and write none: a list has the run from memory then, or reads the journal once.
 */
import type { RunEvent } from "../core/events.ts";
import type { ListedRun, Summary, WrittenSummary } from "../../stores/store.ts";
import { FormatError, parseJson, readNumber, readObject, readText } from "../core/json.ts";
import { FORMAT } from "../core/saved.ts";
import { policyCodec } from "../policies/registry.ts";
import type { RunState } from "../core/state.ts";
import type { RunConfig } from "../core/types.ts";
import { stateView, type RunView, type StateView } from "../core/view.ts";

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
  const { policy, runId, ...plain } = stateView(state);
  const body = JSON.stringify(plain);
  const { config, createdAtMs } = state;
  if (written?.config === config && written.policy === policy) return { state: body };
  const head = { format: FORMAT, runId, createdAtMs, given: config.given, policy: policyCodec.encode(policy) };
  return { head: JSON.stringify(head), state: body };
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

/** The store gives no text that was changed, so that one of this format is what was written. */
function decode(summary: Summary, version: number): ListedView | undefined {
  const state = parseJson(summary.state) as unknown as Omit<StateView, "runId" | "policy">;
  const { format, ...head } = readObject(parseJson(summary.head));
  // A server that writes no summaries may have written events beside this one.
  if (format !== FORMAT || state.version !== version - 1) return undefined;
  const [runId, policy] = [readText(head["runId"]), policyCodec.decode(head["policy"] ?? null)];
  const config = { given: readText(head["given"]) };
  return { runId, config, state: { ...state, runId, policy }, createdAtMs: readNumber(head["createdAtMs"]) };
}
