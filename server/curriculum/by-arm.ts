/**
 * What is kept of each arm's share with every draw. Of many arms a draw moves few, so that only those are written: the
 * first of each window of draws is whole, and the others say what changed since the one before.
 */
/** Runs of so many arms are written whole: that is half a kilobyte. */
const FEW = 64;

/** One draw of so many is whole, so that whoever reads the middle of a history has not far to go back. */
const WINDOW = 64;

/** An arm that moves by less than this part of its number keeps it, until it is drawn from. */
const MOVED = 1 / 16;

/** By arm, in the configuration's order. */
type Numbers = readonly number[];

/** What is told of an update batch's draw. */
export interface Told {
  readonly probabilities: Numbers;
  readonly values: Numbers;
}

/** Numbers by arm, as they differ from others. */
export interface Changes {
  /** All of them; none: what follows tells them. */
  readonly all: Numbers;
  /** What the others were is multiplied by this; 0 where all are told, so that it takes no room. */
  readonly scale: number;
  /** The arms that differ from that, and their numbers. */
  readonly at: readonly number[];
  readonly to: Numbers;
}

export const isMany = (armCount: number): boolean => armCount > FEW;

/** Whether a draw of a run of many arms is told whole. */
export const isWhole = (batch: number): boolean => batch % WINDOW === 0;

/** An update batch that was drawn, as far as it tells of its draw. */
interface Drawn extends Told {
  readonly index: number;
  readonly epoch: number;
}

/** What the draw before told, if the next one tells what changed since; null: it is told whole. */
export function toldBefore(
  {
    batches,
    config,
    epoch,
  }: {
    readonly batches: readonly Drawn[];
    readonly config: { readonly arms: readonly unknown[] };
    readonly epoch: number;
  },
  batch: number,
): Told | null {
  const last = batches.at(-1);
  if (last === undefined || isWhole(batch) || !isMany(config.arms.length)) return null;
  // After an import, or with new arms, there is nothing to go on from.
  const goesOn = last.index === batch - 1 && last.epoch === epoch && last.probabilities.length === config.arms.length;
  return goesOn ? { probabilities: last.probabilities, values: last.values } : null;
}

/** In so coarse steps that numbers themselves tell by what they were scaled. */
const stepped = (ratio: number): number => Math.round(ratio * 1024) / 1024;

/** By what most numbers are scaled. */
function scaleOf(before: Numbers, now: Numbers): number {
  const counts = new Map<number, number>();
  let [scale, most] = [1, 0];
  for (let arm = 0; arm < now.length; arm++) {
    const ratio = stepped((now[arm] as number) / (before[arm] as number));
    const count = (counts.get(ratio) ?? 0) + 1;
    counts.set(ratio, count);
    if (count > most && Number.isFinite(ratio)) [scale, most] = [ratio, count];
  }
  return scale;
}

/**
 * Numbers as they are told: those of arms that have hardly moved, and are not drawn from, are what was told of them. Shares
 * of arms that are let alone all move alike, as the whole does: what was told is scaled by that.
 */
export function steadied(before: Numbers | undefined, now: Numbers, drawn: ReadonlySet<number>): Numbers {
  if (before?.length !== now.length) return now;
  const scale = scaleOf(before, now);
  return now.map((is, arm) => {
    const told = scale * (before[arm] as number);
    const isNear = is !== 0 && Math.abs(is - told) <= MOVED * Math.abs(told);
    return isNear && !drawn.has(arm) ? told : is;
  });
}

/** `before`: null, or other arms: there is nothing to go on from. */
export function changesOf(before: Numbers | null, now: Numbers): Changes {
  if (before?.length !== now.length) return { all: now, scale: 0, at: [], to: [] };
  const scale = scaleOf(before, now);
  const at: number[] = [];
  for (let arm = 0; arm < now.length; arm++) if (!Object.is(scale * (before[arm] as number), now[arm])) at.push(arm);
  return { all: [], scale, at, to: at.map((arm) => now[arm] as number) };
}

/** Undefined: the changes are of other numbers than these. */
export function changed(before: Numbers | null, { all, scale, at, to }: Changes): Numbers | undefined {
  if (all.length > 0) return all;
  if (before === null || at.length !== to.length || at.some((arm) => !(arm < before.length))) return undefined;
  // Most of what reading a long history of many arms takes: a copy costs a tenth of a product for each.
  const now = scale === 1 ? before.slice() : scaled(before, scale);
  for (let i = 0; i < at.length; i++) now[at[i] as number] = to[i] as number;
  return now;
}

function scaled(numbers: Numbers, scale: number): number[] {
  const products = numbers.slice();
  for (let arm = 0; arm < products.length; arm++) products[arm] = scale * (products[arm] as number);
  return products;
}
