/**
 * Lists the rows of data pools as a run knows them. A row keeps the index that it got when the run first saw it, even
 * if the order in the pool's file changes. New rows are added at the end. Rows that were removed from the file are
 * marked as gone.
 */
import { deriveSeed, permuted } from "../../envs/lib/rng.ts";

/** Number of bytes of a row's hash. */
const HASH_BYTES = 8;

/** First and last index of successive rows in a list. */
type Range = readonly [number, number];

/** Fields of a run's state that this file reads. */
interface Listed {
  readonly lists: readonly RowList[];
  readonly config: {
    readonly seed: bigint;
    readonly arms: readonly { readonly id: string }[];
    readonly evaluationArms: readonly { readonly id: string; readonly tasks: number }[];
  };
  readonly arms: readonly { readonly nextOrdinal: number }[];
  /** Reason for which each arm is masked (not drawn), e.g. because its judge is down. Null: it is not masked. */
  readonly masks: readonly (string | null)[];
}

/** Successive passes of an arm through all rows of its list, while the number of rows stays the same. */
export interface RowPasses {
  /** Number of the arm's task, counted from 0, at which the first of these passes begins. */
  readonly from: number;
  /** Number of passes that the arm had made before these. */
  readonly epoch: number;
  /** Number of rows in each of these passes. Rows that were removed from the pool count too. */
  readonly rows: number;
}

export interface RowWalk {
  /**
   * For a policy that repeats the same instances: the highest task number that an earlier repetition reached, plus 1.
   * 0: nothing has been repeated.
   */
  readonly reached: number;
  /** Passes of the arm through the rows, in order. There is a new entry each time the list has grown. */
  readonly passes: readonly RowPasses[];
}

/** Fields that identify a list of rows within a run. */
export interface RowListName {
  readonly pool: string;
  /** Id of the environment whose instances the pool holds. */
  readonly environment: string;
  readonly level: string;
  readonly split: string;
}

export interface RowList extends RowListName {
  /** Digest of the pool's content when the run last saw it. `firstDigest` is the digest when the run first saw it. */
  readonly digest: string;
  readonly firstDigest: string;
  /** Time at which the pool's file was read by the server that last reported the pool. */
  readonly loadedAtMs: number;
  /** How far each arm has gone through the list, by id of the arms that draw from it. */
  readonly walks: ReadonlyMap<string, RowWalk>;
  /** Hashes of the rows in order of index, 8 bytes each. */
  readonly hashes: Uint8Array;
  /** Indices of rows that were removed from the pool. */
  readonly gone: ReadonlySet<number>;
}

/**
 * Changes of a list of rows: hashes of added rows, and ranges of indices of rows that were removed from the pool or are
 * back in it.
 */
export interface RowsChanged extends Omit<RowListName, "pool"> {
  /** Ids of arms that draw from this list of rows for the first time. */
  readonly arms: readonly string[];
  readonly added: Uint8Array;
  readonly gone: readonly Range[];
  readonly back: readonly Range[];
}

/**
 * Hash of a row, and the number of passes through all rows that its arm had made before. Undefined: the row was removed
 * from its pool.
 */
export type ListedRow = { readonly hash: string; readonly epoch: number } | undefined;

export function isList(one: RowListName, { environment, level, split }: Omit<RowListName, "pool">, pool: string) {
  return one.pool === pool && one.environment === environment && one.level === level && one.split === split;
}

/**
 * Returns the list of rows that an arm draws from. Undefined: the arm draws no rows of a pool, or no server has loaded
 * the pool yet.
 */
export function listOf(lists: readonly RowList[], armId: string): RowList | undefined {
  return lists.find(({ walks }) => walks.has(armId));
}

export function placesIn({ hashes }: Pick<RowList, "hashes">): number {
  return hashes.length / HASH_BYTES;
}

/** Returns the hash of the row at an index, as 16 hex digits. */
export function hashAt({ hashes }: Pick<RowList, "hashes">, place: number): string {
  const at = HASH_BYTES * place;
  return Buffer.from(hashes.buffer, hashes.byteOffset + at, HASH_BYTES).toString("hex");
}

/**
 * Returns the reason for which each arm is masked (not drawn), or null. An arm whose rows were all removed from their
 * pool counts as masked.
 */
export function masksOf({ config, masks, lists }: Pick<Listed, "config" | "masks" | "lists">): Listed["masks"] {
  if (lists.length === 0) return masks;
  return masks.map((reason, i) => {
    const list = listOf(lists, config.arms[i]?.id ?? "");
    const isEmptied = list !== undefined && list.gone.size === placesIn(list);
    return reason === null && isEmptied
      ? `pool "${list.pool}" no longer has any of the rows that the run drew from it`
      : reason;
  });
}

/**
 * Returns the row of an arm's task. If the arm chooses rows by pass rate, `row` is the row's index. Otherwise the
 * task's number, `ordinal`, decides.
 */
export function listedRow(
  list: RowList,
  armId: string,
  { ordinal, row, runSeed }: { readonly ordinal: number; readonly row?: number | undefined; readonly runSeed: bigint },
): ListedRow {
  const { place, epoch } = row === undefined ? walked(list, armId, ordinal, runSeed) : { place: row, epoch: 0 };
  return list.gone.has(place) ? undefined : { hash: hashAt(list, place), epoch };
}

/**
 * Returns the row index and the epoch (number of earlier passes) of an arm's task. The rows have another random order
 * in each pass.
 */
function walked(list: RowList, armId: string, ordinal: number, runSeed: bigint) {
  const { environment, pool, level, split, walks } = list;
  const passes = walks.get(armId)?.passes.findLast(({ from }) => from <= ordinal);
  if (passes === undefined) throw new Error(`arm "${armId}" draws from no list of rows of pool "${pool}"`);
  const { from, rows } = passes;
  const epoch = passes.epoch + Math.floor((ordinal - from) / rows);
  const key = [environment, pool, level, split, deriveSeed("arm", runSeed, armId), epoch] as const;
  return { place: permuted(rows, (ordinal - from) % rows, ...key), epoch };
}

/**
 * Returns an arm's walk through a list that has grown to `rows` rows. The current pass still ends after the rows that
 * it began with; new rows come with the next pass.
 */
function extended({ reached, passes }: RowWalk, nextOrdinal: number, rows: number): RowWalk {
  const next = Math.max(nextOrdinal, reached);
  const last = passes.at(-1) as RowPasses;
  // If the list was empty before, no pass has begun.
  const begun = last.rows === 0 ? 0 : Math.max(0, Math.ceil((next - last.from) / last.rows));
  const before = begun === 0 ? passes.slice(0, -1) : passes;
  return { reached, passes: [...before, { from: last.from + begun * last.rows, epoch: last.epoch + begun, rows }] };
}

export function* placesOfRanges(ranges: readonly Range[]): Generator<number> {
  for (const [first, last] of ranges) for (let place = first; place <= last; place++) yield place;
}

/** Returns a list of rows after a change of its pool. `nextOrdinal` returns the number of an arm's next task. */
function changedList(list: RowList, change: RowsChanged, nextOrdinal: (armId: string) => number): RowList {
  const gone = new Set(list.gone);
  for (const place of placesOfRanges(change.gone)) gone.add(place);
  for (const place of placesOfRanges(change.back)) gone.delete(place);
  const hashes = change.added.length === 0 ? list.hashes : Buffer.concat([list.hashes, change.added]);
  const rows = placesIn({ hashes });
  const walks = new Map(list.walks);
  if (hashes !== list.hashes) for (const [id, walk] of list.walks) walks.set(id, extended(walk, nextOrdinal(id), rows));
  for (const id of change.arms) walks.set(id, { reached: 0, passes: [{ from: 0, epoch: 0, rows }] });
  return { ...list, gone, hashes, walks };
}

/** Returns all lists of rows after changes of the lists of one pool. */
export function withRowsSeen(
  { lists, config, arms }: Pick<Listed, "lists" | "config" | "arms">,
  { pool, digest, loadedAtMs }: Pick<RowList, "pool" | "digest" | "loadedAtMs">,
  changes: readonly RowsChanged[],
): readonly RowList[] {
  // An evaluation arm uses all tasks of its set from the start, so its next task number is the size of the set.
  const nextOrdinal = (armId: string): number =>
    arms[config.arms.findIndex(({ id }) => id === armId)]?.nextOrdinal ??
    config.evaluationArms.find(({ id }) => id === armId)?.tasks ??
    0;
  const blank = {
    pool,
    digest,
    firstDigest: digest,
    loadedAtMs,
    walks: new Map<string, never>(),
    hashes: new Uint8Array(),
    gone: new Set<number>(),
  };
  const fresh = changes.filter((change) => !lists.some((list) => isList(list, change, pool)));
  return [...lists, ...fresh.map(({ environment, level, split }) => ({ ...blank, environment, level, split }))].map(
    (list) => {
      if (list.pool !== pool) return list;
      const change = changes.find((each) => isList(list, each, pool));
      const now = { ...list, digest, loadedAtMs };
      return change === undefined ? now : changedList(now, change, nextOrdinal);
    },
  );
}

/**
 * Returns the lists of rows when the policy begins to repeat the same instances. For each arm, the list records how far
 * the arm got before (`reached`).
 */
export function withReached({ lists, config, arms }: Pick<Listed, "lists" | "config" | "arms">): readonly RowList[] {
  return lists.map((list) => {
    const walks = new Map(list.walks);
    for (const [i, { id }] of config.arms.entries()) {
      const walk = walks.get(id);
      if (walk !== undefined) walks.set(id, { ...walk, reached: Math.max(walk.reached, arms[i]?.nextOrdinal ?? 0) });
    }
    return { ...list, walks };
  });
}

/** Returns the numbers of an evaluation arm's tasks whose rows were removed from their pool. */
export function leftOutOf({ lists, config }: Pick<Listed, "lists" | "config">, arm: number): ReadonlySet<number> {
  const { id = "", tasks = 0 } = config.evaluationArms[arm] ?? {};
  const list = listOf(lists, id);
  const leftOut = new Set<number>();
  if (list === undefined || list.gone.size === 0) return leftOut;
  for (let ordinal = 0; ordinal < tasks; ordinal++)
    if (listedRow(list, id, { ordinal, runSeed: config.seed }) === undefined) leftOut.add(ordinal);
  return leftOut;
}
