/**
 * The rows of pools as a run knows them. A row keeps the place at which the run first saw it, whatever its number in the
 * file becomes: new rows get the places behind, and rows that the pool has no longer are marked as gone.
 */
import { deriveSeed, permuted } from "../../envs/lib/rng.ts";

/** Bytes of a row's hash. */
const HASH_BYTES = 8;

/** The first and the last of places without a gap. */
type Range = readonly [number, number];

/** Of a run's state what its lists are read with. */
interface Listed {
  readonly lists: readonly RowList[];
  readonly config: {
    readonly seed: bigint;
    readonly arms: readonly { readonly id: string }[];
    readonly evaluationArms: readonly { readonly id: string; readonly tasks: number }[];
  };
  readonly arms: readonly { readonly nextOrdinal: number }[];
  /** By arm: why it is not drawn from; null: it is. */
  readonly masks: readonly (string | null)[];
}

/** Passes of an arm through so many places each. */
export interface RowPasses {
  /** The ordinal that the first of them begins with. */
  readonly from: number;
  /** How many passes came before. */
  readonly epoch: number;
  /** Places that each pass goes through. */
  readonly rows: number;
}

export interface RowWalk {
  /** The ordinal after the last one that an earlier pass over the same instances came to; 0: there was none. */
  readonly reached: number;
  /** In order; new ones begin where the list has grown. */
  readonly passes: readonly RowPasses[];
}

/** The key of a list within a run. */
export interface RowListName {
  readonly pool: string;
  /** The id of the environment that the pool's instances belong to. */
  readonly environment: string;
  readonly level: string;
  readonly split: string;
}

export interface RowList extends RowListName {
  /** The pool's digest when the run saw it last, and first. */
  readonly digest: string;
  readonly firstDigest: string;
  /** When the server whose pool that was had read it. */
  readonly loadedAtMs: number;
  /** By the id of each arm that draws from the list. */
  readonly walks: ReadonlyMap<string, RowWalk>;
  /** The hash of the row of each place, 8 bytes each. */
  readonly hashes: Uint8Array;
  /** Places of rows that the pool has no longer. */
  readonly gone: ReadonlySet<number>;
}

/** How a list changes. */
export interface RowsChanged extends Omit<RowListName, "pool"> {
  /** Ids of arms that draw from the list for the first time. */
  readonly arms: readonly string[];
  readonly added: Uint8Array;
  readonly gone: readonly Range[];
  readonly back: readonly Range[];
}

/** A row by its content, and how often its arm had gone through all rows before; undefined: the row is gone. */
export type ListedRow = { readonly hash: string; readonly epoch: number } | undefined;

export function isList(one: RowListName, { environment, level, split }: Omit<RowListName, "pool">, pool: string) {
  return one.pool === pool && one.environment === environment && one.level === level && one.split === split;
}

/** The list that an arm draws from; undefined: its tasks are no rows, or no server has looked at the rows yet. */
export function listOf(lists: readonly RowList[], armId: string): RowList | undefined {
  return lists.find(({ walks }) => walks.has(armId));
}

export function placesIn({ hashes }: Pick<RowList, "hashes">): number {
  return hashes.length / HASH_BYTES;
}

/** 16 hex digits. */
export function hashAt({ hashes }: Pick<RowList, "hashes">, place: number): string {
  const at = HASH_BYTES * place;
  return Buffer.from(hashes.buffer, hashes.byteOffset + at, HASH_BYTES).toString("hex");
}

/** By arm: why it is not drawn from, which also is that its pool has none of its rows any more; null: it is drawn from. */
export function masksOf({ config, masks, lists }: Pick<Listed, "config" | "masks" | "lists">): Listed["masks"] {
  if (lists.length === 0) return masks;
  return masks.map((reason, i) => {
    const list = listOf(lists, config.arms[i]?.id ?? "");
    const isEmptied = list !== undefined && list.gone.size === placesIn(list);
    return reason === null && isEmptied ? `pool "${list.pool}" has none of its rows any more` : reason;
  });
}

/** What the ordinal-th task of an arm is, or the row at a place where the arm chooses its rows. */
export function listedRow(
  list: RowList,
  armId: string,
  { ordinal, row, runSeed }: { readonly ordinal: number; readonly row?: number | undefined; readonly runSeed: bigint },
): ListedRow {
  const { place, epoch } = row === undefined ? walked(list, armId, ordinal, runSeed) : { place: row, epoch: 0 };
  return list.gone.has(place) ? undefined : { hash: hashAt(list, place), epoch };
}

/** Each pass is a permutation of its own. */
function walked(list: RowList, armId: string, ordinal: number, runSeed: bigint) {
  const { environment, pool, level, split, walks } = list;
  const passes = walks.get(armId)?.passes.findLast(({ from }) => from <= ordinal);
  if (passes === undefined) throw new Error(`arm "${armId}" draws from no list of rows of pool "${pool}"`);
  const { from, rows } = passes;
  const epoch = passes.epoch + Math.floor((ordinal - from) / rows);
  const key = [environment, pool, level, split, deriveSeed("arm", runSeed, armId), epoch] as const;
  return { place: permuted(rows, (ordinal - from) % rows, ...key), epoch };
}

/** A walk through a list that has grown: the pass that is under way ends as it began. */
function extended({ reached, passes }: RowWalk, nextOrdinal: number, rows: number): RowWalk {
  const next = Math.max(nextOrdinal, reached);
  const last = passes.at(-1) as RowPasses;
  // A list that had no rows had no pass either.
  const begun = last.rows === 0 ? 0 : Math.max(0, Math.ceil((next - last.from) / last.rows));
  const before = begun === 0 ? passes.slice(0, -1) : passes;
  return { reached, passes: [...before, { from: last.from + begun * last.rows, epoch: last.epoch + begun, rows }] };
}

export function* placesOfRanges(ranges: readonly Range[]): Generator<number> {
  for (const [first, last] of ranges) for (let place = first; place <= last; place++) yield place;
}

/** `nextOrdinal` gives that of each arm by its id. */
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

/** The lists after changes of those of a pool. */
export function withRowsSeen(
  { lists, config, arms }: Pick<Listed, "lists" | "config" | "arms">,
  { pool, digest, loadedAtMs }: Pick<RowList, "pool" | "digest" | "loadedAtMs">,
  changes: readonly RowsChanged[],
): readonly RowList[] {
  // A set that is evaluated on is all of its first tasks from the start.
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

/** The lists once a pass over the same instances begins again: how far the arms had come. */
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

/** Tasks of an evaluation arm's set whose rows are gone. */
export function leftOutOf({ lists, config }: Pick<Listed, "lists" | "config">, arm: number): ReadonlySet<number> {
  const { id = "", tasks = 0 } = config.evaluationArms[arm] ?? {};
  const list = listOf(lists, id);
  const leftOut = new Set<number>();
  if (list === undefined || list.gone.size === 0) return leftOut;
  for (let ordinal = 0; ordinal < tasks; ordinal++)
    if (listedRow(list, id, { ordinal, runSeed: config.seed }) === undefined) leftOut.add(ordinal);
  return leftOut;
}
