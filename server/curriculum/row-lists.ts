/**
 * Lists the rows of pools as a run knows them. A row keeps the index that it got when the run first saw it, even if the
 * file's order changes. New rows get indices at the end, and rows that the pool no longer has are marked as gone.
 */
import { deriveSeed, permuted } from "../../envs/lib/rng.ts";

/** Number of bytes of a row's hash. */
const HASH_BYTES = 8;

/** First and last of a range of successive indices of the list. */
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
  /** Reason for which each arm is masked. Null: it is not masked. */
  readonly masks: readonly (string | null)[];
}

/** Successive passes of an arm through the same number of rows. */
export interface RowPasses {
  /** Number of the arm's task at which the first of these passes begins. */
  readonly from: number;
  /** Number of passes that the arm had made before. */
  readonly epoch: number;
  /** Number of rows in each of these passes. Rows that are gone count. */
  readonly rows: number;
}

export interface RowWalk {
  /** Highest task number that earlier passes over the same instances reached, plus 1. 0: there were none. */
  readonly reached: number;
  /** Passes in order. There is a new entry each time the pool has grown. */
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
  /** Digest of the pool when the run last saw it. `firstDigest` is that of the first time. */
  readonly digest: string;
  readonly firstDigest: string;
  /** Time at which the server that last reported the pool had read its file. */
  readonly loadedAtMs: number;
  /** Position in the list of each arm that draws from it, by arm id. */
  readonly walks: ReadonlyMap<string, RowWalk>;
  /** Hashes of the rows in order of index, 8 bytes each. */
  readonly hashes: Uint8Array;
  /** Indices of rows that the pool no longer has. */
  readonly gone: ReadonlySet<number>;
}

/** Changes of a list of rows: added hashes, and ranges of indices of rows that are gone or back. */
export interface RowsChanged extends Omit<RowListName, "pool"> {
  /** Ids of arms that draw from the list for the first time. */
  readonly arms: readonly string[];
  readonly added: Uint8Array;
  readonly gone: readonly Range[];
  readonly back: readonly Range[];
}

/**
 * Hash of a row, and the number of passes that its arm had made through all rows before. Undefined: the row is gone.
 */
export type ListedRow = { readonly hash: string; readonly epoch: number } | undefined;

export function isList(one: RowListName, { environment, level, split }: Omit<RowListName, "pool">, pool: string) {
  return one.pool === pool && one.environment === environment && one.level === level && one.split === split;
}

/**
 * Returns the list of rows that an arm draws from. Undefined: its tasks are not rows, or no server has loaded them yet.
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
 * Returns the reason why each arm is masked. Null: it is not. An arm whose rows are all gone from its pool counts as
 * masked.
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

/** Returns the row of an arm's task. `row` is its index if the arm chooses its rows; else the task's number decides. */
export function listedRow(
  list: RowList,
  armId: string,
  { ordinal, row, runSeed }: { readonly ordinal: number; readonly row?: number | undefined; readonly runSeed: bigint },
): ListedRow {
  const { place, epoch } = row === undefined ? walked(list, armId, ordinal, runSeed) : { place: row, epoch: 0 };
  return list.gone.has(place) ? undefined : { hash: hashAt(list, place), epoch };
}

/** Returns the row index and the epoch of an arm's task. The rows have another random order in each pass. */
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
 * Returns the walk through a list that has grown to `rows` rows. The current pass ends with the rows that it began
 * with.
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

/** Returns a list after a change. `nextOrdinal` gives the number of an arm's next task. */
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

/** Returns all lists after changes of the lists of one pool. */
export function withRowsSeen(
  { lists, config, arms }: Pick<Listed, "lists" | "config" | "arms">,
  { pool, digest, loadedAtMs }: Pick<RowList, "pool" | "digest" | "loadedAtMs">,
  changes: readonly RowsChanged[],
): readonly RowList[] {
  // For an evaluation arm it is the size of the set, because all tasks of the set are used from the start.
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
 * Returns the lists when a new pass over the same instances begins. Each arm's walk records the number of the arm's
 * next task.
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

/** Returns the numbers of an evaluation arm's tasks whose rows are gone. */
export function leftOutOf({ lists, config }: Pick<Listed, "lists" | "config">, arm: number): ReadonlySet<number> {
  const { id = "", tasks = 0 } = config.evaluationArms[arm] ?? {};
  const list = listOf(lists, id);
  const leftOut = new Set<number>();
  if (list === undefined || list.gone.size === 0) return leftOut;
  for (let ordinal = 0; ordinal < tasks; ordinal++)
    if (listedRow(list, id, { ordinal, runSeed: config.seed }) === undefined) leftOut.add(ordinal);
  return leftOut;
}
