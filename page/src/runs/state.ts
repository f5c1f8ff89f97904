/** Describes a run's state in words. */
import type { Policy, Run, RunConfig, RunShape, RunState } from "../../../clients/ts/src/public.ts";
import type { Tone } from "../ui/tone.ts";
import { clock } from "../words.ts";

export interface Standing {
  readonly word: string;
  readonly tone: Tone;
}

export function standingOf(state: RunState | undefined): Standing {
  if (state === undefined) return { word: "unreadable", tone: "bad" };
  if (state.done) return { word: "done", tone: "good" };
  if (state.paused) return { word: "paused", tone: "poor" };
  if (state.cursor === 0n) return { word: "new", tone: "plain" };
  return { word: "running", tone: "best" };
}

/**
 * Returns who paused the run and since when, e.g. "by ada since 14:03:22". Empty if the run is not paused or this is
 * unknown.
 */
export function pausedWords({ paused, pausedBy, pausedAt }: RunState): string {
  if (!paused) return "";
  const since = pausedAt === undefined ? "" : `since ${clock(new Date(Number(pausedAt.seconds) * 1000))}`;
  return [pausedBy === "" ? "" : `by ${pausedBy}`, since].filter((part) => part !== "").join(" ");
}

/** Returns the warnings of a run, worded like those of an evaluation's report. */
export function warningsOf({ formatWarning: of }: RunState): readonly string[] {
  if (of === undefined) return [];
  return [`${of.malformed} of ${of.samples} samples are malformed, most of them so: ${of.violation}.`];
}

export function policyName(policy: Policy | undefined): string {
  const kind = policy?.kind;
  if (kind === undefined || kind.case === undefined) return "none";
  return kind.case === "named" ? kind.value.name : kind.case;
}

export interface ReadRun {
  readonly runId: string;
  readonly config: RunConfig;
  readonly state: RunState;
}

/** Returns the run's current shape. The configuration only has the shape at the run's creation. */
export function shapeOf({ config, state }: Pick<ReadRun, "config" | "state">): Omit<RunShape, "$typeName"> {
  return state.shape ?? config;
}

/** Returns the run with its configuration and state. Undefined if the server could not read it. */
export function readRun({ runId, config, state }: Run): ReadRun | undefined {
  return config === undefined || state === undefined ? undefined : { runId, config, state };
}

/**
 * Returns the environment of each arm. For arms that were added after the run's creation, derives it from the arm's id.
 */
export function familiesOf({ config, state }: Pick<ReadRun, "config" | "state">): readonly string[] {
  const environments = new Map(config.arms.map(({ id, spec }) => [id, spec?.environment]));
  return state.arms.map(({ armId }) => environments.get(armId) ?? armId.replace(/\/[^/]*$/, ""));
}
