/**
 * A student under a run of the real curriculum: its draws, its folds and its policies, without a store, a clock or tasks.
 * A trainer of today's kind: it takes an update batch, samples every group of it, learns from it, and asks for the next.
 */
import { rngFor } from "../../envs/lib/rng.ts";
import { apply } from "../curriculum/apply.ts";
import { drawReadiness, planDraw } from "../curriculum/draw.ts";
import { drawnEvent, fillSlots } from "../curriculum/fill-slots.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { DrawnTask, GroupResults } from "../curriculum/batches.ts";
import type { RunState } from "../curriculum/state.ts";
import type { Arm, RunConfig } from "../curriculum/types.ts";
import { type Group, type Key, keyOf, resultsOf, sampled, teaches } from "./sampling.ts";
import { scoreOf, type Student } from "./student.ts";

/** An update batch of a simulated run. */
export interface Step {
  /** Tasks that were sampled, by arm: those drawn, and of a reserve those that were let out. */
  readonly counts: readonly number[];
  /** Of each arm, in the draw. */
  readonly probabilities: readonly number[];
  /** Samples that were solved. */
  readonly solved: number;
  /** Groups with some samples solved and some not; of graded answers: that differ. */
  readonly useful: number;
  /** After it: mean success over the arms that can be learnt. */
  readonly score: number;
  /** After it, by arm. */
  readonly success: readonly number[];
}

/** What the curriculum is told. */
function feedbackOf(
  config: RunConfig,
  tasks: readonly DrawnTask<Key>[],
  groups: readonly Group[],
): readonly GroupResults[] {
  const indices = Array.from({ length: config.numGenerations }, (_, i) => i);
  const digests = indices.map(() => "");
  return tasks.map(({ cursor, arm }, i) => {
    return { cursor, indices, digests, results: resultsOf(config.arms[arm] as Arm, groups[i] as Group) };
  });
}

/** The next update batch drawn, and its probabilities. */
function drawn<Spec>(state: RunState<Spec, Key>, seed: number) {
  const plan = planDraw(state);
  if (plan.kind !== "plan") throw new Error(plan.message);
  const filled = fillSlots<Key>(plan, (arm, ordinal) => ({ kind: "task", key: keyOf(seed, arm, ordinal) }));
  if (filled.kind !== "filled") throw new Error(`arm ${JSON.stringify(filled)} gave no task`);
  const event: RunEvent<Spec, Key> = drawnEvent(plan, filled.tasks, 0);
  return { state: apply(state, event), probabilities: plan.probabilities };
}

/** Tasks of the newest update batch that wait for samples: of its reserve, those that useless groups have let out. */
function waiting({ batches }: RunState<unknown, Key>): readonly DrawnTask<Key>[] {
  return (batches.at(-1)?.groups ?? []).flatMap(({ kind, task }) => (kind === "open" ? [task] : []));
}

/** A run from its beginning to its end, an update batch after the other. The seed is of the student's luck. */
export function* drive<Spec, Mind>(config: RunConfig<Spec>, student: Student<Mind>, seed: string): Generator<Step> {
  const rng = rngFor("drive", seed);
  const ranks = rng.int(0, 2 ** 31);
  const created = { kind: "created", runId: "simulated", incarnation: "simulated", config, atMs: 0 } as const;
  let state = apply<Spec, Key>(undefined, created);
  let mind = student.initial;
  while (drawReadiness(state).kind === "ready") {
    const draw = drawn(state, ranks);
    state = draw.state;
    const groups: Group[] = [];
    for (let tasks = waiting(state); tasks.length > 0; tasks = waiting(state)) {
      const practised = sampled(student, mind, tasks, config, rng);
      state = apply(state, { kind: "feedback", groups: feedbackOf(config, tasks, practised) });
      groups.push(...practised);
    }
    mind = student.learn(mind, groups);
    const counts = config.arms.map((_, arm) => groups.filter((group) => group.arm === arm).length);
    const useful = groups.filter(teaches).length;
    const solved = groups.reduce((sum, group) => sum + group.solved, 0);
    const { probabilities } = draw;
    yield { counts, probabilities, solved, useful, score: scoreOf(student, mind), success: student.success(mind) };
  }
}
