/**
 * Simulates a run: the server's real curriculum draws tasks for a simulated student, i.e. a model of how a language
 * model learns. There is no store, clock or real task. The simulated trainer takes an update batch, samples every
 * group, updates the student, and asks for the next batch.
 */
import { rngFor } from "../../envs/lib/rng.ts";
import { apply } from "../curriculum/apply.ts";
import { LEVEL_SPAN, levelCount, levelOf } from "../curriculum/growth.ts";
import { drawReadiness, planDraw } from "../curriculum/draw.ts";
import { drawnEvent, fillSlots } from "../curriculum/fill-slots.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { DrawnTask, GroupResults } from "../curriculum/batches.ts";
import type { RunState } from "../curriculum/state.ts";
import type { Arm, RunConfig } from "../curriculum/types.ts";
import { type Group, type Key, keyOf, resultsOf, sampled, teaches } from "./sampling.ts";
import { scoreOf, type Student } from "./student.ts";

/** Result of one update batch of a simulated run. */
export interface Step {
  /**
   * Number of tasks whose completions were sampled, by position: an arm, or a level of an arm that grows. Spare
   * (reserve) tasks that were used are included.
   */
  readonly counts: readonly number[];
  /** Probability of each arm in the draw. */
  readonly probabilities: readonly number[];
  /** Number of solved samples. */
  readonly solved: number;
  /**
   * Number of groups in which some samples are solved and others are not. If the student's answers are graded, it is
   * the number of groups whose grades differ.
   */
  readonly useful: number;
  /** Mean success of the student over the learnable arms, after the batch. */
  readonly score: number;
  /** Success of the student at each position (an arm, or a level of an arm that grows), after the batch. */
  readonly success: readonly number[];
}

/** Converts the sampled groups to feedback, in the form that the curriculum takes. */
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

/**
 * Numbers the positions, i.e. what a student has separate abilities for: each arm, and each level of an arm that grows.
 * `count` is the number of positions, and `of` returns the position of a task.
 */
function positions({ arms }: RunConfig) {
  const firsts: number[] = [];
  let count = 0;
  for (const { grow } of arms) {
    firsts.push(count);
    count += grow === undefined ? 1 : levelCount(grow);
  }
  const of = (arm: number, ordinal: number): number => (firsts[arm] ?? 0) + (levelOf(arms[arm] ?? {}, ordinal) ?? 0);
  return { count, of };
}

/** Draws the next update batch. Returns the run's state after the draw, and the arms' probabilities. */
function drawn<Spec>(state: RunState<Spec, Key>, seed: number, positionOf: (arm: number, ordinal: number) => number) {
  const plan = planDraw(state);
  if (plan.kind !== "plan") throw new Error(plan.message);
  const filled = fillSlots<Key>(plan, (arm, ordinal) => ({
    kind: "task",
    key: keyOf(seed, positionOf(arm, ordinal), ordinal % LEVEL_SPAN),
  }));
  if (filled.kind !== "filled")
    throw new Error(`the simulation found no task for an arm that may be drawn: ${JSON.stringify(filled)}`);
  const event: RunEvent<Spec, Key> = drawnEvent(plan, filled.tasks, 0);
  return { state: apply(state, event), probabilities: plan.probabilities };
}

/**
 * Returns the tasks of the newest update batch whose groups are open, i.e. have no samples yet. Spare (reserve) tasks
 * that became groups are included.
 */
function waiting({ batches }: RunState<unknown, Key>): readonly DrawnTask<Key>[] {
  return (batches.at(-1)?.groups ?? []).flatMap(({ kind, task }) => (kind === "open" ? [task] : []));
}

/** Simulates a run from beginning to end and yields each update batch. The seed decides the student's samples. */
export function* drive<Spec, Mind>(config: RunConfig<Spec>, student: Student<Mind>, seed: string): Generator<Step> {
  const rng = rngFor("drive", seed);
  const ranks = rng.int(0, 2 ** 31);
  const created = { kind: "created", runId: "simulated", incarnation: "simulated", config, atMs: 0 } as const;
  let state = apply<Spec, Key>(undefined, created);
  const position = positions(config);
  let mind = student.initial;
  while (drawReadiness(state).kind === "ready") {
    const draw = drawn(state, ranks, position.of);
    state = draw.state;
    const groups: Group[] = [];
    for (let tasks = waiting(state); tasks.length > 0; tasks = waiting(state)) {
      const places = tasks.map(({ arm, ordinal, key }) => ({ arm: position.of(arm, ordinal), key }));
      const practised = sampled(student, mind, places, config, rng);
      state = apply(state, { kind: "feedback", groups: feedbackOf(config, tasks, practised) });
      groups.push(...practised);
    }
    mind = student.learn(mind, groups);
    const counts = new Array<number>(position.count).fill(0);
    for (const { arm } of groups) counts[arm]!++;
    const useful = groups.filter(teaches).length;
    const solved = groups.reduce((sum, group) => sum + group.solved, 0);
    const { probabilities } = draw;
    yield { counts, probabilities, solved, useful, score: scoreOf(student, mind), success: student.success(mind) };
  }
}
