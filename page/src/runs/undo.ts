/** Finds the change that undoes the last change of a run: an ordinary change that restores the former values. */
import type { ControlRecord, HistoryRecord, Policy, RunShape } from "../../../clients/ts/src/public.ts";
import { figure } from "../words.ts";
import { policyName, type ReadRun, shapeOf } from "./state.ts";

type Sizes = Pick<RunShape, "numGenerations" | "promptsPerUpdate" | "length">;

/** Change of a run that restores former values. */
export type Undo = { readonly words: string } & (
  | { readonly kind: "weights"; readonly weights: Readonly<Record<string, number>> }
  | { readonly kind: "policy"; readonly policy: Policy }
  | { readonly kind: "shape"; readonly shape: Sizes; readonly policy: Policy | undefined }
  | { readonly kind: "pause" | "resume" }
);

/** Number of arms whose weights are named in words. */
const ARMS_NAMED = 6;

/**
 * Returns the change that undoes the last change by an operator that can be undone: of weights, policy, sizes, or a
 * pause. Undefined: there is none, or the run is already as it was before.
 *
 * Undoing brings back neither learned values, nor stages that Advance ended, nor arms that were removed.
 */
export function undoOf(run: ReadRun, records: readonly HistoryRecord[]): Undo | undefined {
  const changes = records.flatMap(({ kind, rolledBack }) =>
    kind.case === "control" && !rolledBack ? [kind.value] : [],
  );
  const at = changes.findLastIndex(({ kind }) => ["weights", "policy", "shape", "pause", "resume"].includes(kind));
  const last = changes[at];
  if (last === undefined) return undefined;
  const earlier = changes.slice(0, at);
  switch (last.kind) {
    case "weights":
      return weightsBefore(run, earlier);
    case "policy":
      return policyBefore(run, earlier);
    case "shape":
      return shapeBefore(run, earlier, last);
    case "pause":
      return run.state.paused ? { kind: "resume", words: "Resume the run" } : undefined;
    default:
      return run.state.paused ? undefined : { kind: "pause", words: "Pause the run again" };
  }
}

function weightsBefore({ config, state }: ReadRun, earlier: readonly ControlRecord[]): Undo | undefined {
  // Collect the weights before the last change. Each record has the weights of all arms that the run had at that time.
  const known = new Map(config.arms.map(({ id, weight = 1 }) => [id, weight]));
  for (const { weights } of earlier) for (const [arm, weight] of Object.entries(weights)) known.set(arm, weight);
  const former = state.arms.flatMap(({ armId, weight, removed }) => {
    const was = known.get(armId);
    return removed || was === undefined || was === weight ? [] : [[armId, was] as const];
  });
  if (former.length === 0) return undefined;
  const weights = Object.fromEntries(former);
  const named = former.map(([arm, weight]) => `${arm} = ${figure(weight)}`);
  const rest = named.length > ARMS_NAMED ? ` and ${named.length - ARMS_NAMED} more` : "";
  return { kind: "weights", weights, words: `Set weights back to ${named.slice(0, ARMS_NAMED).join(", ")}${rest}` };
}

function formerPolicy({ config }: ReadRun, earlier: readonly ControlRecord[]): Policy | undefined {
  return earlier.findLast(({ policy }) => policy !== undefined)?.policy ?? config.policy;
}

function policyBefore(run: ReadRun, earlier: readonly ControlRecord[]): Undo | undefined {
  const policy = formerPolicy(run, earlier);
  return policy && { kind: "policy", policy, words: `Set the policy back to ${policyName(policy)}` };
}

function shapeBefore(run: ReadRun, earlier: readonly ControlRecord[], last: ControlRecord): Undo | undefined {
  const { config } = run;
  const was: Sizes = earlier.findLast(({ shape }) => shape !== undefined)?.shape ?? config;
  const now: Sizes = shapeOf(run);
  const policy = last.policy && formerPolicy(run, earlier);
  const isSame = (["numGenerations", "promptsPerUpdate", "length"] as const).every((name) => was[name] === now[name]);
  if (isSame && policy === undefined) return undefined;
  const { numGenerations, promptsPerUpdate, length } = was;
  const sizes = `${promptsPerUpdate} prompts, ${numGenerations} completions each, ${length === 0n ? "no end" : `${length} tasks`}`;
  const words = `Set sizes back to ${sizes}${policy ? `, and the policy to ${policyName(policy)}` : ""}`;
  return { kind: "shape", shape: { numGenerations, promptsPerUpdate, length }, policy, words };
}
