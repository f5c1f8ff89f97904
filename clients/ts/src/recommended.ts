/** The policy to begin with where nothing else is known than which arms are harder. */
import { create } from "@bufbuild/protobuf";
import { GradusError } from "./errors.ts";
import { CompetencePolicySchema, CompetenceStep, PolicySchema, TierSchema } from "./gen/gradus/v1/curriculum_pb.js";
import type { Policy, Tier } from "./gen/gradus/v1/curriculum_pb.js";

/** Of each update batch, what is drawn from all levels: nothing starves, and little is forgotten. */
const FLOOR = 0.25;
const THRESHOLD = 0.7;
const WINDOW = 32;

function tierOf(ids: readonly string[]): Tier {
  return create(TierSchema, { weights: Object.fromEntries(ids.map((id) => [id, 1])) });
}

/**
 * Ids of arms by level, from the easiest. Draws from a level until 0.7 of the samples of its last 32 groups are solved,
 * then from the next, and from all arms alike once the last is passed; a quarter of each batch is from all levels. Chosen
 * by simulated students (bench/curriculum); an arm that is never solved holds its level up, until advance() or a weight
 * of 0.
 */
export function recommended(levels: readonly (readonly string[])[]): Policy {
  if (levels.length === 0 || levels.some((ids) => ids.length === 0))
    throw new GradusError("INVALID_ARGUMENT", "levels: want at least one level, and at least one arm's id in each");
  const tiers = levels.length > 1 ? [...levels, levels.flat()] : levels;
  const value = create(CompetencePolicySchema, {
    tiers: tiers.map(tierOf),
    step: CompetenceStep.MOVE_ON,
    threshold: THRESHOLD,
    window: WINDOW,
    floor: FLOOR,
  });
  return create(PolicySchema, { kind: { case: "competence", value } });
}
