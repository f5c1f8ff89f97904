/**
 * Compresses lists with a number for each arm, such as probabilities, which the history records with each draw. In a
 * run with many arms, a draw changes few of these numbers. So every 64th draw records all numbers, and the other draws
 * record changes from the previous draw.
 */
/**
 * Number of arms up to which the history record of every update batch stores a number for each arm. 64 numbers take at
 * most half a kilobyte. Runs with more arms store mostly changes.
 */
const FEW = 64;

/**
 * In runs of many arms (more than FEW), every 64th update batch's record stores the numbers of all arms. A reader who
 * starts in the middle of a history then need not go far back.
 */
const WINDOW = 64;

/**
 * Relative change of an arm's number, e.g. its probability, above which the new number is recorded. Smaller changes are
 * recorded only for arms from which the update batch has tasks.
 */
const MOVED = 1 / 16;

/** One number for each arm, in the configuration's order. */
type Numbers = readonly number[];

/** Lists with a number for each arm that the history records for the draw of an update batch. */
export interface RecordedNumbers {
  readonly probabilities: Numbers;
  readonly values: Numbers;
}

/** Changes from an earlier list of numbers, one for each arm, to a new list. */
export interface Changes {
  /** The whole new list. Empty: `scale`, `at` and `to` give the changes. */
  readonly all: Numbers;
  /** Factor by which all earlier numbers are multiplied first. 0 if `all` is set, so that the field takes no space. */
  readonly scale: number;
  /** Indices of the arms whose numbers differ from the earlier numbers times `scale`. */
  readonly at: readonly number[];
  /** New numbers of the arms in `at`, in the same order. */
  readonly to: Numbers;
}

export const isMany = (armCount: number): boolean => armCount > FEW;

/**
 * Returns whether the history record of the update batch with this index stores the numbers of all arms, in a run of
 * many arms (more than FEW). In other runs every record does.
 */
export const isWhole = (batch: number): boolean => batch % WINDOW === 0;

/** Fields of an update batch that this file reads. */
interface Drawn extends RecordedNumbers {
  readonly index: number;
  readonly epoch: number;
}

/**
 * Returns the probabilities and values by arm that were recorded for the previous update batch, if batch `batch`
 * records only the changes from them. Null: batch `batch` records all its numbers.
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
  // After an import or a change of the arms, the numbers of the previous update batch belong to other arms.
  const goesOn = last.index === batch - 1 && last.epoch === epoch && last.probabilities.length === config.arms.length;
  return goesOn ? { probabilities: last.probabilities, values: last.values } : null;
}

/**
 * Rounds a ratio to a multiple of 1/1024. Ratios that differ only by rounding errors then become equal and can be
 * counted together.
 */
const stepped = (ratio: number): number => Math.round(ratio * 1024) / 1024;

/** Returns the ratio of new number to earlier number that most arms have in common. Ratios are rounded by `stepped`. */
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
 * Returns the numbers to record, one for each arm. An arm without tasks in this update batch whose number hardly
 * changed gets its earlier number times a scale. The scale is the ratio that most arms have in common, e.g. because all
 * probabilities were normalized again.
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

/**
 * Returns the changes from one list of numbers to the next. If `before` is null or has another length, the changes hold
 * the whole new list.
 */
export function changesOf(before: Numbers | null, now: Numbers): Changes {
  if (before?.length !== now.length) return { all: now, scale: 0, at: [], to: [] };
  const scale = scaleOf(before, now);
  const at: number[] = [];
  for (let arm = 0; arm < now.length; arm++) if (!Object.is(scale * (before[arm] as number), now[arm])) at.push(arm);
  return { all: [], scale, at, to: at.map((arm) => now[arm] as number) };
}

/**
 * Applies changes to a list of numbers, one for each arm, and returns the new list. Undefined: the changes do not fit
 * the list.
 */
export function changed(before: Numbers | null, { all, scale, at, to }: Changes): Numbers | undefined {
  if (all.length > 0) return all;
  if (before === null || at.length !== to.length || at.some((arm) => !(arm < before.length))) return undefined;
  // Reading a long history of many arms spends most of its time here. Copying a number takes a tenth of the time of
  // multiplying it.
  const now = scale === 1 ? before.slice() : scaled(before, scale);
  for (let i = 0; i < at.length; i++) now[at[i] as number] = to[i] as number;
  return now;
}

function scaled(numbers: Numbers, scale: number): number[] {
  const products = numbers.slice();
  for (let arm = 0; arm < products.length; arm++) products[arm] = scale * (products[arm] as number);
  return products;
}
