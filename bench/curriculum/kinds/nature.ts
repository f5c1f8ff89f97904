/**
 * The law that the bench's students share: the law of server/simulation/student-law.ts, with four effects that real runs have.
 *
 * - A completion is right with chance floor + (cap − floor) · p: answers are guessed, labels wrong, verifiers fail. Only
 *   the student's own share of the variance of its rewards teaches: (cap − floor)² p (1 − p) over the whole.
 * - An arm that opens after a number of its teaching groups hardly moves before, and moves faster than others afterwards.
 * - Abilities drift down with each update batch, and fall at once where tasks change.
 * - Graded answers: a completion's quality is top · 1 / (1 + exp(−(a − w ln(u / (1 − u)) + noise))), noise logistic; it
 *   counts as solved from .95 on. A group is worth 4 times the variance of its qualities.
 */
import type { Rng } from "../../../envs/lib/rng.ts";
import { type Law, logistic, offsetOf, offsets } from "../../../server/simulation/student-law.ts";
import type { Practice, Student } from "../../../server/simulation/student.ts";

export interface Nature extends Law {
  /** Chance of a right answer by luck, by arm; undefined: 0. The caps default to 1. */
  readonly floors?: readonly number[];
  readonly caps?: readonly number[];
  /** Teaching groups of an arm before the arm opens, by arm; undefined: 0. */
  readonly opens?: readonly number[];
  /** Logits that each ability loses with an update batch, down to its first value. Defaults to 0. */
  readonly drift?: number;
  /** Falls of an ability, in logits, before an update batch; undefined: none. */
  readonly falls?: readonly { readonly batch: number; readonly arm: number; readonly by: number }[];
  /** Noise of graded answers, and their best quality `top`; undefined: answers are right or wrong. */
  readonly graded?: { readonly noise: number; readonly top: number };
}

interface Mind {
  readonly abilities: readonly number[];
  /** Number of teaching groups, by arm. */
  readonly practised: readonly number[];
  readonly batch: number;
}

/** Factors on what a group of an arm teaches, before the arm opens and after. */
const CLOSED = 0.02;
const OPENED = 2;
const SOLVED = 0.95;

function meanOver(values: readonly number[], of: (value: number) => number): number {
  let sum = 0;
  for (const value of values) sum += of(value);
  return sum / values.length;
}

/** Returns the share of a group's variance that is the student's own. */
function ownShare(p: number, floor: number, cap: number): number {
  const seen = floor + (cap - floor) * p;
  const whole = seen * (1 - seen);
  return whole === 0 ? 0 : ((cap - floor) ** 2 * p * (1 - p)) / whole;
}

export function studentOf(nature: Nature): Student<Mind> {
  const { start, rates, transfer, forgetting, spread, learnable, target, graded } = nature;
  const { floors = start.map(() => 0), caps = start.map(() => 1), opens, drift = 0, falls = [] } = nature;
  const known = (list: readonly number[], arm: number): number => list[arm] ?? 0;

  const gainOf = ({ arm, solved, samples, weight = 1, variance }: Practice, { abilities, practised }: Mind): number => {
    const q = solved / samples;
    const teaches = 4 * (variance ?? q * (1 - q));
    const share = graded ? 1 : ownShare(logistic(known(abilities, arm)), known(floors, arm), known(caps, arm));
    const pace = opens === undefined ? 1 : known(practised, arm) < known(opens, arm) ? CLOSED : OPENED;
    return weight * known(rates, arm) * teaches * share * (opens !== undefined && known(opens, arm) === 0 ? 1 : pace);
  };

  const learn = (mind: Mind, groups: readonly Practice[]): Mind => {
    const abilities = [...mind.abilities];
    const practised = [...mind.practised];
    for (const group of groups) {
      const gain = gainOf(group, mind);
      const { arm, solved, samples, weight = 1 } = group;
      if (solved > 0 && solved < samples) practised[arm] = known(practised, arm) + weight;
      if (gain !== 0)
        for (const [to, share] of (transfer[arm] ?? []).entries()) abilities[to] = known(abilities, to) + gain * share;
    }
    const here = new Set(groups.map(({ arm }) => arm));
    for (const [arm, ability] of abilities.entries()) {
      const above = ability - known(start, arm);
      if (above <= 0) continue;
      const lost = (here.has(arm) ? 0 : forgetting * above) + Math.min(above, drift);
      abilities[arm] = ability - lost;
    }
    const batch = mind.batch + 1;
    for (const fall of falls) if (fall.batch === batch) abilities[fall.arm] = known(abilities, fall.arm) - fall.by;
    return { abilities, practised, batch };
  };

  const qualityAt = (logit: number): number => (graded?.top ?? 1) * logistic(logit);
  const noises = offsets.map((offset) => offset * (graded?.noise ?? 0));
  /** Cached mean qualities of an arm, by its ability in hundredths of a logit. */
  const means = new Map<number, number>();
  const meanQuality = (ability: number): number => {
    const key = Math.round(100 * ability);
    const found = means.get(key);
    if (found !== undefined) return found;
    const mean = meanOver(offsets, (offset) =>
      meanOver(noises, (noise) => qualityAt(key / 100 - spread * offset + noise)),
    );
    means.set(key, mean);
    return mean;
  };
  const meanChance = (ability: number, arm: number): number =>
    known(floors, arm) +
    (known(caps, arm) - known(floors, arm)) * meanOver(offsets, (offset) => logistic(ability - spread * offset));

  const chance = ({ abilities }: Mind, arm: number, rank: number): number =>
    known(floors, arm) +
    (known(caps, arm) - known(floors, arm)) * logistic(known(abilities, arm) - spread * offsetOf(rank));
  const grade = ({ abilities }: Mind, arm: number, rank: number, rng: Rng): number => {
    const noise = offsetOf((1 + rng.int(0, 2 ** 20 - 1)) / (2 ** 20 + 1)) * (graded?.noise ?? 0);
    const quality = qualityAt(known(abilities, arm) - spread * offsetOf(rank) + noise);
    return quality >= SOLVED ? 1 : quality;
  };
  return {
    learnable,
    target,
    initial: { abilities: start, practised: start.map(() => 0), batch: 0 },
    chance,
    ...(graded && { grade }),
    success: ({ abilities }) =>
      abilities.map((ability, arm) => (graded ? meanQuality(ability) : meanChance(ability, arm))),
    learn,
  };
}
