/**
 * Policy that repeats a cycle of stages (FORGE 3.3). Each cycle has fresh instances, or the same ones as before
 * (NP-ENGINE 3.3).
 */
import { LIMITS } from "../../../proto/limits.ts";
import { readNumbers } from "../json.ts";
import { invalid, type Invalid } from "../types.ts";
import { fieldsOf, UnreadField } from "./fields.ts";
import { inRange, type PolicyDefinition, type Progress, type RunShape } from "./policy.ts";
import { isWithin } from "./ranks.ts";
import {
  checkStages,
  ROUNDING,
  STAGES_MAX,
  rankedStages,
  readStages,
  readTasks,
  type Stage,
  stagePhases,
  stageShares,
  withCounted,
  writeStages,
} from "./stages.ts";

export interface ReplayConfig {
  readonly stages: readonly Stage[];
  /** Length of a cycle, as the number of cycles in the run or as the number of tasks in a cycle. */
  readonly cycle:
    { readonly kind: "cycles"; readonly cycles: number } | { readonly kind: "tasks"; readonly tasks: number };
  readonly instances: keyof typeof instances;
}

/**
 * Instances of later cycles: FRESH draws new ones, and SAME repeats those of the first cycle. Named as in the contract.
 */
const instances = { FRESH: true, SAME: true } as const;

/**
 * Cycle and stage that were last recorded, and the cycle of the last draw. The present cycle and stage are computed
 * from them and the run's cursor.
 */
export interface ReplayState {
  /** Index of the cycle that was last recorded, counted from 0. */
  readonly cycle: number;
  /** Cursor (number of prompts drawn) at which the recorded cycle began. */
  readonly from: number;
  readonly stage: number;
  /** Cursor (number of prompts drawn) at which the recorded stage began. */
  readonly stageFrom: number;
  /** Index of the cycle in which the last draw was. −1: nothing was drawn yet. */
  readonly drawnCycle: number;
  /** Index of the first update batch in the cycle `drawnCycle`. */
  readonly firstBatch: number;
}

/**
 * Returns the number of tasks in a cycle. It may be a fraction, if the run's length is not a multiple of the number of
 * cycles.
 */
function cycleTasks({ cycle }: Pick<ReplayConfig, "cycle">, length: number): number {
  return cycle.kind === "cycles" ? length / cycle.cycles : cycle.tasks;
}

/** Returns the number of tasks in each stage of a cycle. Stages without a given length share the rest evenly. */
function stageTasks({ stages }: ReplayConfig, tasks: number): readonly number[] {
  const said = stages.map(({ extent }) => {
    if (extent.kind === "open") return undefined;
    return extent.kind === "share" ? extent.share * tasks : extent.tasks;
  });
  const left = tasks - said.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const open = said.filter((each) => each === undefined).length;
  return said.map((each) => each ?? Math.max(0, left) / open);
}

/**
 * Returns the cycle and stage at a cursor. Lengths may be fractions, so each cycle and stage ends at a sum of lengths
 * that is rounded.
 */
function standing(config: ReplayConfig, state: ReplayState, { cursor, length }: Progress): ReplayState {
  const tasks = cycleTasks(config, length);
  // Number of cycles that have ended at the cursor, after rounding.
  const passed = Math.max(0, Math.ceil((cursor - state.from + 0.5) / tasks) - 1);
  const from = state.from + Math.round(passed * tasks);
  let { stage, stageFrom } = passed === 0 ? state : { stage: 0, stageFrom: from };
  const lasts = stageTasks(config, tasks);
  for (let end = stageFrom; stage < lasts.length - 1; stage++) {
    end += lasts[stage] ?? 0;
    if (cursor < Math.round(end)) break;
    stageFrom = Math.round(end);
  }
  return { ...state, cycle: state.cycle + passed, from, stage, stageFrom };
}

function checkCycle({ cycle, stages }: ReplayConfig, { length }: RunShape): Invalid | undefined {
  if (cycle.kind === "cycles") {
    if (length === 0)
      return invalid("cycles", "divide the run's length, which is 0: set the length, or give cycle_tasks");
    const found = inRange("cycles", cycle.cycles, 1, Math.min(LIMITS.ReplayPolicy.cycles.max, length));
    if (found !== undefined) return found;
  }
  const whole = cycleTasks({ cycle }, length);
  const said = stages.reduce((sum, { extent }) => {
    if (extent.kind === "open") return sum;
    return sum + (extent.kind === "share" ? extent.share * whole : extent.tasks);
  }, 0);
  const isOver = said > whole * (1 + ROUNDING);
  return isOver ? invalid("stages", `last ${said} tasks together, but a cycle has ${whole}: shorten them`) : undefined;
}

function stageOf(config: ReplayConfig, state: ReplayState, progress: Progress): Stage | undefined {
  return config.stages[standing(config, state, progress).stage];
}

export const replay: PolicyDefinition<ReplayConfig, ReplayState> = {
  kind: "replay",
  read(parameters) {
    const fields = fieldsOf(parameters, ["stages", "cycles", "cycle_tasks", "instances"]);
    const [cycles, tasks] = [fields.count("cycles"), readTasks(fields, "cycle_tasks")];
    if ((cycles === undefined) === (tasks === undefined))
      throw new UnreadField(
        "cycle",
        cycles === undefined
          ? "must have cycles or cycle_tasks: set one of them"
          : "must not have both cycles and cycle_tasks: remove one",
      );
    return {
      stages: readStages(fields),
      cycle: cycles === undefined ? { kind: "tasks", tasks: tasks ?? 0 } : { kind: "cycles", cycles },
      instances: fields.choice("instances", instances, "REPLAY_INSTANCES_", "FRESH"),
    };
  },
  write: ({ stages, cycle, instances: which }) => ({
    stages: writeStages(stages),
    ...(cycle.kind === "cycles" ? { cycles: cycle.cycles } : { cycle_tasks: cycle.tasks }),
    instances: `REPLAY_INSTANCES_${which}`,
  }),
  check: (config, run) =>
    checkCycle(config, run) ??
    checkStages(config.stages, run.armIds, config.cycle.kind === "tasks" ? config.cycle.tasks : run.length),
  lasts: (config, length) =>
    stageTasks(config, cycleTasks(config, length)).map((tasks, i) => ({ field: `stages[${i}]`, tasks })),
  takesFeedback: false,
  initial: (_config, _armCount, cursor) => ({
    cycle: 0,
    from: cursor,
    stage: 0,
    stageFrom: cursor,
    drawnCycle: -1,
    firstBatch: 0,
  }),
  /**
   * Returns the state after a change of configuration. The cycle continues in the stage with the same index, or in the
   * last stage if there are fewer.
   */
  inherit(config, state, before, progress) {
    const now = standing(before, state, progress);
    return { ...now, stage: Math.min(now.stage, config.stages.length - 1) };
  },
  state: {
    encode: ({ cycle, from, stage, stageFrom, drawnCycle, firstBatch }) => [
      ...[cycle, from, stage, stageFrom],
      ...[drawnCycle, firstBatch],
    ],
    decode(json) {
      const [cycle = 0, from = 0, stage = 0, stageFrom = 0, drawnCycle = 0, firstBatch = 0] = readNumbers(json);
      return { cycle, from, stage, stageFrom, drawnCycle, firstBatch };
    },
  },
  pass(config, state, progress) {
    const { batch } = progress;
    if (config.instances === "FRESH") return undefined;
    const { cycle } = standing(config, state, progress);
    if (cycle === state.drawnCycle) return { state, restarts: false, batch: batch - state.firstBatch };
    return { state: { ...state, drawnCycle: cycle, firstBatch: batch }, restarts: true, batch: 0 };
  },
  probabilities: (config, state, { progress, arms }) => stageShares(stageOf(config, state, progress), arms),
  accepts: (config, state, { rank }, progress) => isWithin(stageOf(config, state, progress)?.ranks, rank),
  ranked: rankedStages,
  counted: withCounted,
  phases: stagePhases,
  sharing: stagePhases,
  /** Returns a number that grows with the cycle and, within a cycle, with the stage. */
  place(config, state, progress) {
    const { cycle, stage } = standing(config, state, progress);
    return cycle * STAGES_MAX + stage;
  },
  /** Moves to the next stage, or from a cycle's last stage to the next cycle. */
  advance(config, state, { cursor, ...progress }) {
    const now = standing(config, state, { cursor, ...progress });
    const isLast = now.stage === config.stages.length - 1;
    const moved = isLast
      ? { cycle: now.cycle + 1, from: cursor, stage: 0, stageFrom: cursor }
      : { stage: now.stage + 1, stageFrom: cursor };
    return { kind: "advanced", state: { ...now, ...moved } };
  },
};
