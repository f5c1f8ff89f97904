/**
 * Numbers by arm that are recorded with each draw. In a run of many arms a draw changes few of them, so only changes
 * are written. The first draw of each window is whole, and the others hold the differences from the draw before.
 */
/** Maximum number of arms whose numbers are always written whole: half a kilobyte. */
const FEW = 64;

/** One draw in this many is whole, so that a reader of the middle of a history need not go far back. */
const WINDOW = 64;

/**
 * Minimum relative change of an arm's number for which the new number is recorded. An arm that is drawn always gets its
 * exact number.
 */
const MOVED = 1 / 16;

/** Numbers by arm, in the configuration's order. */
type Numbers = readonly number[];

/** Numbers of an update batch's draw that the history records. */
export interface RecordedNumbers {
  readonly probabilities: Numbers;
  readonly values: Numbers;
}

/** Differences of numbers by arm from earlier ones. */
export interface Changes {
  /** All numbers. Empty: the fields below hold the differences. */
  readonly all: Numbers;
  /** Factor for the earlier numbers. 0 if `all` is set, so that the field takes no space. */
  readonly scale: number;
  /** Indices of the arms whose numbers differ from the scaled earlier numbers. */
  readonly at: readonly number[];
  /** Numbers of these arms, in the same order. */
  readonly to: Numbers;
}

export const isMany = (armCount: number): boolean => armCount > FEW;

/** Returns whether a draw of a run of many arms is recorded whole. */
export const isWhole = (batch: number): boolean => batch % WINDOW === 0;

/** The part of an update batch that these functions read. */
interface Drawn extends RecordedNumbers {
  readonly index: number;
  readonly epoch: number;
}

/**
 * Returns the recorded numbers of the draw before, if the next draw is recorded as changes. Null: it is recorded whole.
 */
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
): RecordedNumbers | null {
  const last = batches.at(-1);
  if (last === undefined || isWhole(batch) || !isMany(config.arms.length)) return null;
  // After an import, or with new arms, no earlier numbers can be used.
  const goesOn = last.index === batch - 1 && last.epoch === epoch && last.probabilities.length === config.arms.length;
  return goesOn ? { probabilities: last.probabilities, values: last.values } : null;
}

/** Rounds a ratio to 1/1024, so coarsely that the scale can be found again from the numbers themselves. */
const stepped = (ratio: number): number => Math.round(ratio * 1024) / 1024;

/** Returns the ratio by which most numbers have changed. */
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
 * Returns the numbers to record. An arm that has hardly moved and is not drawn keeps its recorded number, scaled. The
 * scale is the change that the shares of all unchanged arms have in common.
 */
export function numbersToRecord(before: Numbers | undefined, now: Numbers, drawn: ReadonlySet<number>): Numbers {
  if (before?.length !== now.length) return now;
  const scale = scaleOf(before, now);
  return now.map((is, arm) => {
    const expected = scale * (before[arm] as number);
    const isNear = is !== 0 && Math.abs(is - expected) <= MOVED * Math.abs(expected);
    return isNear && !drawn.has(arm) ? expected : is;
  });
}

/** Returns the changes between two lists. If `before` is null or of another length, the changes hold all numbers. */
export function changesOf(before: Numbers | null, now: Numbers): Changes {
  if (before?.length !== now.length) return { all: now, scale: 0, at: [], to: [] };
  const scale = scaleOf(before, now);
  const at: number[] = [];
  for (let arm = 0; arm < now.length; arm++) if (!Object.is(scale * (before[arm] as number), now[arm])) at.push(arm);
  return { all: [], scale, at, to: at.map((arm) => now[arm] as number) };
}

/** Returns the numbers after changes. Undefined: the changes do not fit the earlier numbers. */
export function changed(before: Numbers | null, { all, scale, at, to }: Changes): Numbers | undefined {
  if (all.length > 0) return all;
  if (before === null || at.length !== to.length || at.some((arm) => !(arm < before.length))) return undefined;
  // Reading a long history of many arms spends most of its time here. For each arm a copy costs a tenth of a product.
  const now = scale === 1 ? before.slice() : scaled(before, scale);
  for (let i = 0; i < at.length; i++) now[at[i] as number] = to[i] as number;
  return now;
}

function scaled(numbers: Numbers, scale: number): number[] {
  const products = numbers.slice();
  for (let arm = 0; arm < products.length; arm++) products[arm] = scale * (products[arm] as number);
  return products;
}
