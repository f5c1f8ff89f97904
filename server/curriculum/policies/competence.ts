/**
 * Policy that draws from tiers, i.e. sets of arms from easy to hard. The next tier opens when the newest open tier is
 * mastered. Curriculum RLOO section 4 calls this "adaptive", and "hybrid" if a share of the draws is spread over all
 * tiers; the paper defines neither, so this definition is our own.
 */
import { LIMITS } from "../../../proto/limits.ts";
import { readList, readNumber, readNumbers } from "../json.ts";
import { invalid } from "../types.ts";
import { type ArmWeights, checkArmWeights, normalized, sharesOf, weightIn } from "./arm-weights.ts";
import { fieldsOf } from "./fields.ts";
import {
  first,
  inRange,
  type ObservedGroup,
  type PolicyDefinition,
  positive,
  type View,
  zeroOrMore,
} from "./policy.ts";

const LIMIT = LIMITS.CompetencePolicy;
/** Default threshold. The paper gives no number for it, nor for the window. */
const DEFAULT_THRESHOLD = 0.7;
/** Tolerance for rounding, so that a mean of several shares of 0.7 reaches the threshold 0.7. */
const ROUNDING = 1e-9;

/** Choices for earlier tiers when a tier opens: WIDEN keeps them, MOVE_ON leaves them. Named as in the contract. */
const steps = { WIDEN: true, MOVE_ON: true } as const;

export interface CompetenceConfig {
  /** Weights of the arms in each tier, from easy to hard. */
  readonly tiers: readonly ArmWeights[];
  readonly step: keyof typeof steps;
  /** Mean share of solved samples from which a tier counts as mastered, in (0, 1]. */
  readonly threshold: number;
  /** Number of the newest tier's latest groups from which the mean share of solved samples is computed. */
  readonly window: number;
  /** Share of draws that is spread evenly over all tiers, also those not yet open, in [0, 1). */
  readonly floor: number;
  /** Share that the newest tier gets of the draws that `floor` leaves. Undefined: all open tiers get the same share. */
  readonly newestShare: number | undefined;
}

export interface CompetenceState {
  /** Index of the newest open tier, from 0, the easiest. */
  readonly tier: number;
  /** Share of solved samples in each of the newest tier's latest groups, oldest first. At most `window`. */
  readonly recent: readonly number[];
}

function isPassed({ threshold, window }: CompetenceConfig, recent: readonly number[]): boolean {
  const sum = recent.reduce((total, share) => total + share, 0);
  return recent.length >= window && sum / recent.length >= threshold - ROUNDING;
}

/**
 * Returns the state after closed groups, which may open tiers. Late groups count in full, because their samples too
 * show what the model can solve.
 */
function observe(config: CompetenceConfig, state: CompetenceState, groups: readonly ObservedGroup[]): CompetenceState {
  let { tier, recent } = state;
  for (const { armId, solvedShare } of groups) {
    if (solvedShare === undefined || weightIn(config.tiers[tier] ?? {}, armId) === 0) continue;
    recent = [...recent, solvedShare].slice(-config.window);
    if (tier === config.tiers.length - 1 || !isPassed(config, recent)) continue;
    tier++;
    recent = [];
  }
  return { tier, recent };
}

/** Returns the share of each tier in a draw. `newest` is the newest open tier. */
function tierShares({ tiers, step, floor, newestShare }: CompetenceConfig, newest: number): readonly number[] {
  const open = newest + 1;
  const top = step === "MOVE_ON" || open === 1 ? 1 : (newestShare ?? 1 / open);
  return tiers.map((_, tier) => {
    const below = tier < newest && step === "WIDEN" ? (1 - top) / newest : 0;
    return floor / tiers.length + (1 - floor) * (tier === newest ? top : below);
  });
}

function probabilities(config: CompetenceConfig, { tier }: CompetenceState, { arms }: View): readonly number[] {
  const shares = tierShares(config, tier);
  const sums = arms.map(() => 0);
  for (const [t, weights] of config.tiers.entries())
    for (const [i, share] of sharesOf((id) => weightIn(weights, id), arms).entries())
      sums[i] = (sums[i] ?? 0) + share * (shares[t] ?? 0);
  // A tier without an arm that can be drawn leaves its share to the other tiers.
  return normalized(sums);
}

export const competence: PolicyDefinition<CompetenceConfig, CompetenceState> = {
  kind: "competence",
  read(parameters) {
    const fields = fieldsOf(parameters, ["tiers", "step", "threshold", "window", "floor", "newest_share"]);
    return {
      tiers: fields.objects("tiers", ["weights"]).map((tier) => tier.numbers("weights")),
      step: fields.choice("step", steps, "COMPETENCE_STEP_", "WIDEN"),
      threshold: fields.number("threshold") ?? DEFAULT_THRESHOLD,
      window: fields.count("window") ?? LIMIT.window.default,
      floor: fields.number("floor") ?? 0,
      newestShare: fields.number("newest_share"),
    };
  },
  write: ({ tiers, step, threshold, window, floor, newestShare }) => ({
    tiers: tiers.map((weights) => ({ weights })),
    step: `COMPETENCE_STEP_${step}`,
    threshold,
    window,
    floor,
    ...(newestShare !== undefined && { newest_share: newestShare }),
  }),
  check({ tiers, threshold, window, floor, newestShare }, { armIds }) {
    if (tiers.length < 1 || tiers.length > LIMIT.tiers.max)
      return invalid("tiers", `must have 1 to ${LIMIT.tiers.max} tiers; got ${tiers.length}`);
    for (const [i, weights] of tiers.entries()) {
      const field = `tiers[${i}].weights`;
      if (Object.keys(weights).length === 0) return invalid(field, "must name at least one arm");
      const found = checkArmWeights(field, weights, armIds, { zero: false });
      if (found !== undefined) return found;
    }
    return first([
      () => positive("threshold", threshold, 1),
      () => inRange("window", window, 1, LIMIT.window.max),
      () =>
        floor < 1 ? zeroOrMore("floor", floor, 1) : invalid("floor", `must be at least 0 and below 1, not ${floor}`),
      () => (newestShare === undefined ? undefined : positive("newest_share", newestShare, 1)),
    ]);
  },
  takesFeedback: true,
  needsSolved: () => "threshold",
  initial: () => ({ tier: 0, recent: [] }),
  /**
   * Returns the state after a change of configuration. As many tiers as before stay open, if the new configuration has
   * so many. The shares of solved samples are kept if the newest open tier has the same arms as before.
   */
  inherit(config, { tier: newest, recent }, before) {
    const tier = Math.min(newest, config.tiers.length - 1);
    const arms = (weights: ArmWeights | undefined): string => JSON.stringify(Object.keys(weights ?? {}).sort());
    const same = arms(config.tiers[tier]) === arms(before.tiers[newest]);
    return { tier, recent: same ? recent.slice(-config.window) : [] };
  },
  state: {
    encode: ({ tier, recent }) => [tier, recent],
    decode(json) {
      const [tier, recent] = readList(json);
      return { tier: readNumber(tier), recent: readNumbers(recent) };
    },
  },
  observe,
  probabilities,
  phases(config, armIds) {
    return config.tiers.map((_, newest) => {
      const shares = tierShares(config, newest);
      return armIds.map((id) => config.tiers.some((weights, t) => (shares[t] ?? 0) > 0 && weightIn(weights, id) > 0));
    });
  },
  sharing: ({ tiers }, armIds) => tiers.map((weights) => armIds.map((id) => weightIn(weights, id) > 0)),
  place: (_, { tier }) => tier,
  advance(config, { tier }) {
    const count = config.tiers.length;
    return tier < count - 1
      ? { kind: "advanced", state: { tier: tier + 1, recent: [] } }
      : { kind: "refused", message: `the policy has already opened all ${count} tiers` };
  },
};
