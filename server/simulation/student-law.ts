/**
 * Law that most simulated students share. An arm c has an ability a(c), in logits. A task of rank u is solved with this chance.
 *
 * ```
 * p = 1 / (1 + exp(−(a(c) − w ln(u / (1 − u)))))
 * ```
 *
 * Therefore the difficulties within an arm are logistic with scale w. A group of K samples, of which k are solved (q = k / K),
 * has the effect 4 q (1 − q). That is the variance of its rewards divided by the maximum variance. The expected length of a
 * REINFORCE step with a baseline is proportional to it. It is 0 if all or none are solved. An update batch with groups x
 * of arms c(x) changes abilities like this.
 *
 * ```
 * a(d) += Σ_x rate(c(x)) T(c(x), d) 4 q(x) (1 − q(x))                 learning, with transfer
 * a(d) −= f (a(d) − a0(d)), if no group is of d and a(d) > a0(d)      forgetting, towards the start
 * ```
 *
 * T(c, c) is 1. T(c, d) is the effect of practice of c on d, relative to that on c.
 */
import type { Rng } from "../../envs/lib/rng.ts";
import type { ArmPosition, Practice, Student } from "./student.ts";

/** Ability of each arm, in logits. */
export type Abilities = readonly number[];

export interface Law {
  readonly start: Abilities;
  /** Maximum effect of a group of the arm, in logits. 0: practice of the arm teaches nothing. */
  readonly rates: readonly number[];
  /** Transfer: transfer[c][d] is T(c, d). */
  readonly transfer: readonly (readonly number[])[];
  /** Rate of forgetting f, for each update batch without the arm, in [0, 1). */
  readonly forgetting: number;
  /** Spread w of the difficulties of an arm's tasks. */
  readonly spread: number;
  readonly learnable: readonly boolean[];
  readonly target: number;
}

/** Returns how much harder a task of a rank is than the arm's median, in units of w. */
export function offsetOf(rank: number): number {
  return Math.log(rank / (1 - rank));
}

/** Offsets of the 16 ranks over which success is averaged. */
export const offsets: readonly number[] = Array.from({ length: 16 }, (_, i) => offsetOf((i + 0.5) / 16));

export function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function taught({ rates, transfer }: Law, abilities: Abilities, groups: readonly Practice[]): number[] {
  const next = [...abilities];
  for (const { arm, solved, samples, weight = 1 } of groups) {
    const q = solved / samples;
    const gain = weight * (rates[arm] ?? 0) * 4 * q * (1 - q);
    if (gain === 0) continue;
    for (const [to, share] of (transfer[arm] ?? []).entries()) next[to] = (next[to] ?? 0) + gain * share;
  }
  return next;
}

export function studentOf(law: Law): Student<Abilities> {
  const { start, forgetting, spread, learnable, target } = law;
  return {
    learnable,
    target,
    initial: start,
    chance: (abilities, arm, rank) => logistic((abilities[arm] ?? 0) - spread * offsetOf(rank)),
    success: (abilities) =>
      abilities.map((ability) => {
        let sum = 0;
        for (const offset of offsets) sum += logistic(ability - spread * offset);
        return sum / offsets.length;
      }),
    learn(abilities, groups) {
      const next = taught(law, abilities, groups);
      if (forgetting === 0) return next;
      const practised = new Set(groups.map(({ arm }) => arm));
      return next.map((ability, arm) => {
        const begun = start[arm] ?? 0;
        return practised.has(arm) || ability <= begun ? ability : ability - forgetting * (ability - begun);
      });
    },
  };
}

// Functions that draw the parameters of students.

export function between(rng: Rng, min: number, max: number): number {
  return min + (max - min) * rng.float();
}

/**
 * Returns transfer that falls by the factor `within` with each level between two arms of a family. Between families it
 * is weaker by the factor `across`.
 */
export function ladderTransfer(
  places: readonly ArmPosition[],
  { within, across }: { readonly within: number; readonly across: number },
): readonly (readonly number[])[] {
  return places.map((from) =>
    places.map((to) => {
      if (from === to) return 1;
      const distance = Math.abs(from.level - to.level);
      return from.family === to.family ? within ** Math.max(1, distance) : across * within ** distance;
    }),
  );
}

/** Returns abilities that fall from level to level, with a small random difference for each arm. */
export function ladderStart(
  places: readonly ArmPosition[],
  rng: Rng,
  { easiest, step, jitter }: { readonly easiest: number; readonly step: number; readonly jitter: number },
): Abilities {
  return places.map(({ level }) => easiest - step * level + between(rng, -jitter, jitter));
}
