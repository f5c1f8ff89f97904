/** Implements NextEvaluation: opens rounds of evaluation arms, and returns their tasks. */
import { LRUCache } from "lru-cache";
import { DRY_ORDINALS } from "../curriculum/fill-slots.ts";
import { findRound, roundsOf } from "../curriculum/evaluation-rounds.ts";
import { leftOutOf } from "../curriculum/row-lists.ts";
import { incarnationOf, type RunState } from "../curriculum/state.ts";
import {
  placeOf,
  type EvaluationArm,
  type InstanceKey,
  invalid,
  ok,
  type Refusal,
  type Result,
  type RunConfig,
} from "../curriculum/types.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Ports } from "./dependencies.ts";

export interface EvaluationRequest {
  readonly armId: string;
  readonly round: number;
  /** Cursor of the first task to return. */
  readonly cursor: number;
  /** Number of tasks, at least 1. */
  readonly count: number;
  readonly signal: AbortSignal;
}

/** Some successive tasks of an evaluation arm's set. */
export interface EvaluationBatch<Spec, Key extends InstanceKey> {
  readonly config: RunConfig<Spec>;
  /** Index of the arm among the run's evaluation arms. */
  readonly arm: number;
  readonly round: number;
  /** Incarnation of the run: a name that each import replaces. */
  readonly incarnation: string;
  /** Epoch of the run: 0 at its creation, and greater after each import. */
  readonly epoch: number;
  readonly tasks: readonly { readonly ordinal: number; readonly key: Key }[];
  readonly nextCursor: number;
  readonly done: boolean;
}

/**
 * Cache of the tasks of evaluation arms, by arm and task number. All rounds have the same tasks, and making them again
 * is expensive.
 */
export type EvaluationKeys<Key extends InstanceKey> = ReturnType<typeof evaluationKeys<Key>>;

/** Maximum number of cached tasks, over all arms of all runs. They take some tens of megabytes. */
const KEYS_KEPT_MAX = 2 ** 17;

export function evaluationKeys<Key extends InstanceKey>() {
  // The arm object can be the key of the cache. It belongs to one run, and stays the same object while the run is in
  // memory.
  const kept = new LRUCache<EvaluationArm, Map<number, Key>>({
    maxSize: KEYS_KEPT_MAX,
    sizeCalculation: (_, { tasks }) => tasks,
  });
  return {
    of(arm: EvaluationArm): Map<number, Key> {
      const known = kept.get(arm) ?? new Map<number, Key>();
      kept.set(arm, known);
      return known;
    },
  };
}

interface OpenEvaluationArm<Spec, Key extends InstanceKey> {
  readonly kind: "opened";
  readonly arm: number;
  readonly state: RunState<Spec, Key>;
}

/**
 * Opens the requested round of an evaluation arm if it is new. Returns a refusal if the run has no such arm, or no
 * longer stores the round.
 */
function openRound<Spec, Key extends InstanceKey>(
  { run, clock }: Pick<Evaluating<Spec, Key>, "run" | "clock">,
  { armId, round }: EvaluationRequest,
): Promise<OpenEvaluationArm<Spec, Key> | Gone | Refusal> {
  return run.commit<OpenEvaluationArm<Spec, Key> | Refusal>((state) => {
    const { evaluationArms } = state.config;
    const arm = evaluationArms.findIndex(({ id }) => id === armId);
    if (arm < 0) return { events: [], value: notAnArm(evaluationArms, armId) };
    const value = { kind: "opened", arm, state } as const;
    if (findRound(state, { arm, round }) !== undefined) return { events: [], value };
    const kept = roundsOf(state, arm).map((one) => one.round);
    if (round < (kept.at(-1) ?? 0)) return { events: [], value: notKept(armId, round, kept) };
    return { events: [{ kind: "evaluationOpened", arm, round, atMs: clock.now() }], value };
  });
}

function notAnArm(arms: readonly EvaluationArm[], armId: string): Refusal {
  const there = arms.length === 0 ? "it has none" : `they are ${arms.map(({ id }) => `"${id}"`).join(", ")}`;
  return invalid("arm_id", `"${armId}" is not an evaluation arm of the run: ${there}`);
}

function notKept(armId: string, round: number, kept: readonly number[]): Refusal {
  const message = `round ${round} of evaluation arm "${armId}" is not stored: round numbers must increase, and the stored rounds are ${kept.join(" and ")}`;
  return { kind: "out_of_range", message };
}

interface Evaluating<Spec, Key extends InstanceKey> extends Pick<Ports<Spec, Key>, "source" | "clock"> {
  readonly run: LiveRun<Spec, Key>;
}

/** Fields of a run's state on which its evaluation tasks depend. */
type TaskState = Pick<RunState, "config" | "lists">;

/**
 * Makes the missing tasks and adds them to `known`. If a task number has no instance, the number plus the set's size is
 * tried, then plus twice the size, and so on. No other task of the set uses these numbers. Gives up after DRY_ORDINALS
 * tries.
 */
async function makeTasks<Spec, Key extends InstanceKey>(
  { run, source }: Evaluating<Spec, Key>,
  arm: EvaluationArm<Spec>,
  { config: { seed }, lists }: TaskState,
  ordinals: readonly number[],
  known: Map<number, Key>,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  let missing = ordinals.filter((ordinal) => !known.has(ordinal));
  let why = "";
  for (let attempt = 0; attempt < DRY_ORDINALS && missing.length > 0; attempt++) {
    const places = missing.map((ordinal) => placeOf(arm, ordinal + attempt * arm.tasks, seed, undefined, lists));
    const made = await source.make(places, signal, run.id);
    for (const [i, result] of made.entries()) {
      if (result.kind === "unavailable") return result;
      if (result.kind === "cancelled") return { kind: "cancelled", message: "the caller left before the answer" };
      if (result.kind === "task") known.set(missing[i] ?? -1, result.key);
      else why = result.message;
    }
    missing = missing.filter((ordinal) => !known.has(ordinal));
  }
  if (missing.length === 0) return undefined;
  const message = `evaluation arm "${arm.id}" cannot make its task number ${missing[0]} in ${DRY_ORDINALS} tries: ${why}`;
  return { kind: "failed_precondition", message };
}

export async function nextEvaluation<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  { source, clock }: Pick<Ports<Spec, Key>, "source" | "clock">,
  keys: EvaluationKeys<Key>,
  request: EvaluationRequest,
): Promise<Result<EvaluationBatch<Spec, Key>> | Gone> {
  const { round, cursor, count, signal } = request;
  const opened = await openRound({ run, clock }, request);
  if (opened.kind !== "opened") return opened;
  const { arm: index, state } = opened;
  const { config, epoch } = state;
  const arm = config.evaluationArms[index] as EvaluationArm<Spec>;
  const from = Math.min(cursor, arm.tasks);
  const to = Math.min(from + count, arm.tasks);
  // Tasks whose data rows were removed from their pool are not replaced, so that all rounds compare the same tasks.
  const leftOut = leftOutOf(state, index);
  const ordinals = Array.from({ length: to - from }, (_, i) => from + i).filter((ordinal) => !leftOut.has(ordinal));
  const known = keys.of(arm);
  const refused = await makeTasks({ run, source, clock }, arm, state, ordinals, known, signal);
  if (refused !== undefined) return refused;
  return ok({
    config,
    arm: index,
    round,
    incarnation: incarnationOf(state),
    epoch,
    tasks: ordinals.map((ordinal) => ({ ordinal, key: known.get(ordinal) as Key })),
    nextCursor: to,
    done: to === arm.tasks,
  });
}
