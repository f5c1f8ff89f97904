/**
 * Policy of stages that follow each other, each with its own weights of arms (FORGE's linear curriculum, Curriculum
 * RLOO).
 */
import { type Codec, readList, readNumber } from "../json.ts";
import { fieldsOf } from "./fields.ts";
import type { PolicyDefinition, Progress } from "./policy.ts";
import { isWithin } from "./ranks.ts";
import {
  checkStages,
  nextPart,
  rankedStages,
  readStages,
  type Stage,
  stagePhases,
  stageShares,
  type Standing,
  standingAt,
  toTheEnd,
  withCounted,
  writeStages,
} from "./stages.ts";

export interface StagedConfig {
  readonly stages: readonly Stage[];
}

/**
 * Codec of the last recorded stage and the cursor at which it began. The present stage is computed from these and the
 * run's cursor.
 */
export const standingCodec: Codec<Standing> = {
  encode: ({ stage, from }) => [stage, from],
  decode(json) {
    const [stage, from] = readList(json);
    return { stage: readNumber(stage), from: readNumber(from) };
  },
};

function lastsOf({ stages }: StagedConfig, length: number): readonly number[] {
  return stages.map(({ extent }) => {
    if (extent.kind === "open") return Infinity;
    return extent.kind === "share" ? Math.round(extent.share * length) : extent.tasks;
  });
}

function standing(config: StagedConfig, state: Standing, { cursor, length }: Progress): Standing {
  return standingAt(lastsOf(config, length), state, cursor);
}

function stageOf(config: StagedConfig, state: Standing, progress: Progress): Stage | undefined {
  return config.stages[standing(config, state, progress).stage];
}

export const staged: PolicyDefinition<StagedConfig, Standing> = {
  kind: "staged",
  read: (parameters) => ({ stages: readStages(fieldsOf(parameters, ["stages"])) }),
  write: ({ stages }) => ({ stages: writeStages(stages) }),
  check: ({ stages }, { armIds, length }) => checkStages(stages, armIds, length),
  lasts: (config, length) =>
    toTheEnd(
      lastsOf(config, length).map((tasks, i) => ({ field: `stages[${i}]`, tasks })),
      length,
    ),
  takesFeedback: false,
  initial: (_config, _armCount, cursor) => ({ stage: 0, from: cursor }),
  /**
   * Returns the state after a change of configuration. The stage with the same index, or the last one if there are
   * fewer, continues. Its length still counts from the cursor at which it began.
   */
  inherit(config, state, before, progress) {
    const { stage, from } = standing(before, state, progress);
    return { stage: Math.min(stage, config.stages.length - 1), from };
  },
  state: standingCodec,
  probabilities: (config, state, { progress, arms }) => stageShares(stageOf(config, state, progress), arms),
  phases: stagePhases,
  ranked: rankedStages,
  counted: withCounted,
  sharing: stagePhases,
  accepts: (config, state, { rank }, progress) => isWithin(stageOf(config, state, progress)?.ranks, rank),
  advance: (config, state, progress) =>
    nextPart(standing(config, state, progress).stage, config.stages.length, "stages", progress.cursor),
  place: (config, state, progress) => standing(config, state, progress).stage,
};
