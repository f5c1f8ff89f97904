/**
 * Learning law of most simulated students. An arm c has an ability a(c), in logits. A task of rank u is solved with
 * probability p = 1 / (1 + exp(−(a(c) − w ln(u / (1 − u))))). So the difficulties of an arm's tasks have a logistic
 * distribution with scale w. A group of K samples, of which k are solved (q = k / K), has the effect 4 q (1 − q): the
 * variance of its rewards divided by the greatest possible variance. The expected length of a REINFORCE step with a
 * baseline is proportional to this effect. The effect is 0 if all samples or none are solved. An update batch with
 * groups x of arms c(x) changes the ability of each arm d: a(d) += Σ_x rate(c(x)) T(c(x), d) 4 q(x) (1 − q(x)), which
 * is learning. If no group is of arm d and a(d) > a0(d), then a(d) −= f (a(d) − a0(d)), which is forgetting, towards
 * the start a0(d). T(c, c) is 1, and T(c, d) is how much practice of c teaches d, relative to c itself.
 */
import type { Rng } from "../../envs/lib/rng.ts";
import type { ArmPosition, Practice, Student } from "./student.ts";

/**
 * How well the simulated student solves the tasks of each arm: the log odds (logits) of a right answer to a task of
 * median difficulty.
 */
export type Abilities = readonly number[];

export interface Law {
  readonly start: Abilities;
  /**
   * Maximum effect that a group of each arm has on the arm's own ability, in logits. 0: practice of the arm teaches
   * nothing.
   */
  readonly rates: readonly number[];
  /**
   * Effect of practising one arm on another: transfer[c][d] is T(c, d), the effect of practising arm c on arm d,
   * divided by the effect on c itself.
   */
  readonly transfer: readonly (readonly number[])[];
  /**
   * Share f of an arm's gained ability that is forgotten in each update batch without a group of the arm, in [0, 1).
   */
  readonly forgetting: number;
  /** Scale w of the difficulties of an arm's tasks, in logits. 0: all tasks of an arm are equally difficult. */
  readonly spread: number;
  readonly learnable: readonly boolean[];
  readonly target: number;
}

/**
 * Returns ln(rank / (1 − rank)), the difficulty of a task of this rank in (0, 1), relative to the median task of its
 * arm. The caller multiplies it by the scale w (`spread`).
 */
export function offsetOf(rank: number): number {
  return Math.log(rank / (1 - rank));
}

/** Difficulties (`offsetOf`) at 16 evenly spaced ranks. A student's success on an arm is averaged over them. */
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

// Functions that choose parameters of simulated students.

export function between(rng: Rng, min: number, max: number): number {
  return min + (max - min) * rng.float();
}

/**
 * Returns a transfer matrix: how much practising one arm helps another. Between arms of one family, the transfer is
 * `within` to the power of their distance in levels. Between families, it is `across` times that power.
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

/**
 * Returns the abilities at the start. They fall by `step` with each level, and have a small random difference for each
 * arm.
 */
export function ladderStart(
  places: readonly ArmPosition[],
  rng: Rng,
  { easiest, step, jitter }: { readonly easiest: number; readonly step: number; readonly jitter: number },
): Abilities {
  return places.map(({ level }) => easiest - step * level + between(rng, -jitter, jitter));
}
