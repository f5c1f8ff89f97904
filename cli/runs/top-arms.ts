/** Selects which arms to show of a run with many arms: the most drawn arms, grouped by environment. */
import type { Series, Step } from "./series.ts";

/** Maximum number of arms shown. More arms cannot be told apart by colour, or read as lines. */
export const SHOWN_MAX = 40;

/** Returns the indices of the `max` largest amounts, in their original order. */
export function topOf(amounts: readonly number[], max = SHOWN_MAX): readonly number[] {
  const places = [...amounts.keys()];
  if (places.length <= max) return places;
  const most = places.toSorted((a, b) => (amounts[b] ?? 0) - (amounts[a] ?? 0) || a - b);
  return most.slice(0, max).toSorted((a, b) => a - b);
}

/** Groups the indices of arms by environment, the most drawn environment first. */
function byFamily(places: readonly number[], { families, drawn }: Series): readonly number[] {
  const totals = new Map<string, number>();
  for (const [arm, family] of families.entries()) totals.set(family, (totals.get(family) ?? 0) + (drawn[arm] ?? 0));
  const names = [...new Set(places.map((arm) => families[arm] ?? ""))];
  const order = names.toSorted((a, b) => (totals.get(b) ?? 0) - (totals.get(a) ?? 0));
  return order.flatMap((name) => places.filter((arm) => families[arm] === name));
}

/**
 * Returns a series with few arms unchanged. If there are many arms, those that are not shown become one arm with the
 * sum of their shares.
 */
export function topArms(series: Series): Series {
  const { arms, drawn, families, growth, steps } = series;
  if (arms.length <= SHOWN_MAX) return series;
  const shown = byFamily(topOf(drawn), series);
  const left = [...arms.keys()].filter((arm) => !shown.includes(arm));
  const sum = (numbers: readonly (number | undefined)[]): number =>
    left.reduce((total, arm) => total + (numbers[arm] ?? 0), 0);
  const stepOf = (step: Step): Step => ({
    ...step,
    shares: [...shown.map((arm) => step.shares[arm] ?? 0), sum(step.shares)],
    probabilities: [...shown.map((arm) => step.probabilities[arm]), sum(step.probabilities)],
    // Give the combined arm no value, because a policy has a value only for each single arm.
    values: [...shown.map((arm) => step.values[arm]), undefined],
    frontiers: [...shown.map((arm) => step.frontiers[arm]), undefined],
  });
  return {
    ...series,
    arms: [...shown.map((arm) => arms[arm] ?? ""), `${left.length} others together`],
    families: [...shown.map((arm) => families[arm] ?? ""), "others"],
    growth: [...shown.map((arm) => growth[arm]), undefined],
    drawn: [...shown.map((arm) => drawn[arm] ?? 0), sum(drawn)],
    steps: steps.map(stepOf),
  };
}
