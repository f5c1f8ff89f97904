/**
 * The policies that are judged, in the contract's words. What a policy is told of an arm (its level, easy or hard) is what
 * a user knows of it beforehand; which arms teach nothing is not.
 */
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Policy } from "../../server/curriculum/types.ts";
import { PolicySchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { policyFromWire } from "../../server/rpc/curriculum/read-policy.ts";
import type { Shape } from "./run-config.ts";
import type { ArmPosition } from "../../server/simulation/student.ts";

export interface Candidate {
  readonly name: string;
  readonly says: string;
  /** The contract's Policy, in JSON, for the arms and the shape of a run. */
  readonly policy: (places: readonly ArmPosition[], shape: Shape) => JsonValue;
}

export function policyOf({ policy }: Candidate, places: readonly ArmPosition[], shape: Shape): Policy {
  return policyFromWire(fromJson(PolicySchema, policy(places, shape)));
}

type Weights = Readonly<Record<string, number>>;

/** Weights of 1 for the arms of some levels. */
export function levels(places: readonly ArmPosition[], has: (level: number) => boolean): Weights {
  return Object.fromEntries(places.filter(({ level }) => has(level)).map(({ id }) => [id, 1]));
}

/** Equal stages, one for each level, in the order given. */
function stages(places: readonly ArmPosition[], order: readonly number[]): JsonValue {
  return order.map((level) => ({ share: 1 / order.length, weights: levels(places, (of) => of === level) }));
}

/** Returns one tier a level, from the easiest. */
export function tiers(places: readonly ArmPosition[]): JsonValue[] {
  return levelsOf(places).map((level) => ({ weights: levels(places, (of) => of === level) }));
}

function levelsOf(places: readonly ArmPosition[]): readonly number[] {
  return [...new Set(places.map(({ level }) => level))].sort((a, b) => a - b);
}

export const uniform: Candidate = {
  name: "uniform",
  says: "a mixture with equal weights: joint training",
  policy: () => ({ mixture: {} }),
};

export const bandit = (name: string, says: string, config: Record<string, JsonValue>): Candidate => ({
  name,
  says,
  policy: () => ({ bandit: config }),
});

export const competence = (name: string, says: string, config: Record<string, JsonValue>): Candidate => ({
  name,
  says,
  policy: (places) => ({ competence: { tiers: tiers(places), ...config } }),
});

/** Policies that plan before the run, and so depend on its length. */
const planned: readonly Candidate[] = [
  {
    name: "staged",
    says: "FORGE's linear curriculum: a level after the other, equal shares of the run",
    policy: (places) => ({ staged: { stages: stages(places, levelsOf(places)) } }),
  },
  {
    name: "staged, reversed",
    says: "the same from hard to easy: should lose",
    policy: (places) => ({ staged: { stages: stages(places, levelsOf(places).toReversed()) } }),
  },
  {
    name: "easiest only",
    says: "the easiest level for ever: must never arrive",
    policy: (places) => ({ staged: { stages: [{ weights: levels(places, (level) => level === 0) }] } }),
  },
  {
    name: "widening",
    says: "Curriculum RLOO: 30% of the run on the easiest third, 40% on the easiest two thirds, the rest on all",
    policy: (places) => {
      const all = levelsOf(places);
      const below = (share: number): Weights => levels(places, (level) => all.indexOf(level) < share * all.length);
      return {
        staged: { stages: [{ share: 0.3, weights: below(1 / 3) }, { share: 0.4, weights: below(2 / 3) }, {}] },
      };
    },
  },
  {
    name: "replay",
    says: "FORGE's linear curriculum three times over",
    policy: (places) => ({ replay: { cycles: 3, stages: stages(places, levelsOf(places)) } }),
  },
  {
    name: "forgetting",
    says: "one family after the other, equal shares of the run; the matrix is empty, so in the order given",
    policy: (places) => {
      const families = [...new Set(places.map(({ family }) => family))];
      const domains = families.map((name) => {
        const ids = places.filter(({ family }) => family === name).map(({ id }) => [id, 1] as const);
        return { name, weights: Object.fromEntries(ids) };
      });
      return { forgetting: { domains } };
    },
  },
];

/** Our default, which the SDKs' recommended() returns: see docs/decisions/0013-default-curriculum.md. */
export const recommended: Candidate = {
  name: "frontier",
  says: "recommended: where there is something to learn; is told nothing of the arms",
  policy: () => ({ frontier: {} }),
};

/** Policies that look at what the student does. */
const adaptive: readonly Candidate[] = [
  recommended,
  {
    name: "frontier, fixed scale",
    says: "the same with a practice_scale of an update batch's prompts, at least 8: recommended until it was measured",
    policy: (_, { promptsPerUpdate }) => ({ frontier: { practiceScale: Math.max(8, promptsPerUpdate) } }),
  },
  {
    name: "competence, then all",
    says:
      "a tier for each level and a last one of all arms, moves on when 0.7 of the last 32 groups' samples are solved, " +
      "with a floor of 0.25: recommended before",
    policy: (places) => ({
      competence: {
        tiers: [...tiers(places), { weights: levels(places, () => true) }],
        step: "COMPETENCE_STEP_MOVE_ON",
        threshold: 0.7,
        window: 32,
        floor: 0.25,
      },
    }),
  },
  competence("competence, hybrid", "a tier for each level, moves on, with a floor of 0.3: without a last tier of all", {
    step: "COMPETENCE_STEP_MOVE_ON",
    floor: 0.3,
  }),
  competence("competence, no floor", "moves on, with no floor", { step: "COMPETENCE_STEP_MOVE_ON" }),
  competence("competence, as unset", "widens, with no floor: what the contract's defaults give", {}),
  competence("competence, newest", "widens, 0.8 on the newest tier, with a floor of 0.1", {
    newestShare: 0.8,
    floor: 0.1,
  }),
  bandit("bandit, ADSC", "EMA-softmax of absolute advantages, with the paper's α and τ", {}),
  bandit("bandit, ADSC rescaled", "the same, signals rescaled by running quantiles", { rescale: {} }),
  bandit("bandit, p(1 − p)", "EMA-softmax of p(1 − p), rescaled: α 0.3, τ 0.7", {
    signal: "BANDIT_SIGNAL_SOLVED_VARIANCE",
    rescale: {},
    emaSoftmax: { alpha: 0.3, tau: 0.7 },
  }),
  bandit("bandit, mixed outcomes", "EMA-softmax of the share of groups with mixed outcomes", {
    signal: "BANDIT_SIGNAL_MIXED_OUTCOMES",
  }),
  bandit("bandit, progress", "EMA-softmax of learning progress, rescaled: τ 0.5", {
    signal: "BANDIT_SIGNAL_LEARNING_PROGRESS",
    rescale: {},
    emaSoftmax: { tau: 0.5 },
  }),
  bandit("EXP3.S", "of mixed outcomes", { exp3S: {}, signal: "BANDIT_SIGNAL_MIXED_OUTCOMES" }),
  bandit("Thompson", "of p(1 − p), with a prior of 0.1", {
    thompson: { exploration: 0.1 },
    signal: "BANDIT_SIGNAL_SOLVED_VARIANCE",
  }),
  bandit("UCB", "of mixed outcomes, with a bonus of 0.3", {
    ucb: { exploration: 0.3 },
    signal: "BANDIT_SIGNAL_MIXED_OUTCOMES",
  }),
];

export const candidates: readonly Candidate[] = [uniform, ...planned, ...adaptive];
