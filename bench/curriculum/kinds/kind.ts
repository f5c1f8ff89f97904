/** A kind of students with its run, and helpers that most kinds share. */
import { rngFor, type Rng } from "../../../envs/lib/rng.ts";
import { between, ladderTransfer } from "../../../server/simulation/student-law.ts";
import type { Shape } from "../run-config.ts";
import type { Family, ArmPosition } from "../../../server/simulation/student.ts";
import { ladder } from "../../../server/simulation/students/base.ts";
import { places, setting } from "../setting.ts";
import { type Nature, studentOf } from "./nature.ts";

export interface Kind extends Family {
  /** Whether policies were tuned without this kind, and are judged by it. */
  readonly apart: boolean;
  /** The arms, as a user sees them. */
  readonly places: readonly ArmPosition[];
  /** Shape of the run. `batches` is the time that equal shares have to reach the target, and as long again. */
  readonly shape: Shape;
}

/** A change of a ladder's law. */
type Nurture = (nature: Nature, rng: Rng, places: readonly ArmPosition[]) => Nature;

export interface Described {
  readonly name: string;
  readonly models: string;
  readonly nature?: Nurture;
  readonly places?: readonly ArmPosition[];
  readonly shape?: Partial<Shape>;
}

export function kindOf({ name, models, nature = (same) => same, shape, ...more }: Described): Omit<Kind, "apart"> {
  return {
    name,
    models,
    places: more.places ?? places,
    shape: { ...setting, ...shape },
    create(seed, of) {
      const rng = rngFor("student", name, seed);
      return studentOf(nature(ladder(of, rng), rng, of));
    },
  };
}

/** Returns the levels of several families of tasks. */
export function laddersOf(families: number, levels: number): readonly ArmPosition[] {
  return Array.from({ length: families }, (_, f) =>
    Array.from({ length: levels }, (__, level) => ({ id: `${f}/${level}`, family: String(f), level })),
  ).flat();
}

/** Single arms of one level, beside the ladders of the usual setting. */
export function besides(names: string, count: number, level: (i: number) => number = () => 0): readonly ArmPosition[] {
  return [
    ...places,
    ...Array.from({ length: count }, (_, i) => ({ id: `${names}/${i}`, family: `${names}${i}`, level: level(i) })),
  ];
}

/** Returns the indices of the arms that meet the condition. */
export function armsWhere(of: readonly ArmPosition[], holds: (place: ArmPosition) => boolean): readonly number[] {
  return of.flatMap((place, arm) => (holds(place) ? [arm] : []));
}

/** Returns a number for each arm, with other numbers for some. */
export function at(
  of: readonly ArmPosition[],
  usual: number,
  arms: readonly number[],
  value: (arm: number) => number,
): readonly number[] {
  return of.map((_, arm) => (arms.includes(arm) ? value(arm) : usual));
}

/** Makes arms unteachable: practice does not change them, and practising them changes no others. */
export function unteachable(nature: Nature, arms: readonly number[]): Nature {
  const out = (arm: number): boolean => arms.includes(arm);
  return {
    ...nature,
    rates: nature.rates.map((rate, arm) => (out(arm) ? 0 : rate)),
    transfer: nature.transfer.map((row, from) => row.map((share, to) => (out(from) || out(to) ? 0 : share))),
    learnable: nature.learnable.map((learnable, arm) => learnable && !out(arm)),
  };
}

/** Ability, in logits, at which an arm is never solved. */
export const NEVER = -8;

/** Puts arms out of reach. */
export function hopeless(nature: Nature, arms: readonly number[]): Nature {
  return {
    ...unteachable(nature, arms),
    start: nature.start.map((ability, arm) => (arms.includes(arm) ? NEVER : ability)),
  };
}

/** Makes arms that are solved by chance, whatever is practised. */
export function coins(nature: Nature, arms: readonly number[], share: number): Nature {
  const same = (usual: number) => nature.start.map((_, arm) => (arms.includes(arm) ? share : usual));
  return { ...unteachable(nature, arms), floors: same(0), caps: same(1) };
}

/** Makes a student learn `times` as fast. */
export function paced(nature: Nature, times: number): Nature {
  return { ...nature, rates: nature.rates.map((rate) => times * rate) };
}

/** Makes transfer stronger or weaker, or one-way. */
export function transferring(
  nature: Nature,
  rng: Rng,
  of: readonly ArmPosition[],
  {
    within,
    across,
    to = "both",
  }: { readonly within: number; readonly across: number; readonly to?: "both" | "up" | "down" },
): Nature {
  const both = ladderTransfer(of, { within: between(rng, within - 0.05, within + 0.05), across });
  const keeps = (from: ArmPosition, into: ArmPosition): boolean =>
    to === "both" || from === into || (to === "up" ? into.level > from.level : into.level < from.level);
  return {
    ...nature,
    transfer: both.map((row, f) =>
      row.map((share, t) => (keeps(of[f] as ArmPosition, of[t] as ArmPosition) ? share : 0)),
    ),
  };
}
