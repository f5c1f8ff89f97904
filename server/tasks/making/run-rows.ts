/**
 * Compares the rows that a run has recorded with this server's pools, which other servers may have read at another
 * time. If they differ, the pools that were read last count: the run adopts their rows. A server with older pools
 * refuses to work on the run.
 */
import { placeOfHalves, placeOfHash, placesOf, type Pool } from "../../../envs/pool.ts";
import type { TaskKey } from "../../../envs/origin.ts";
import type { RowsSeen, RunEvent } from "../../curriculum/events.ts";
import { isList, listOf, placesIn, type RowList, type RowsChanged } from "../../curriculum/row-lists.ts";
import { openGroups, type Range, type RunState, toRanges } from "../../curriculum/state.ts";
import { rankUsesOf, withRankRanges } from "../../curriculum/policies/registry.ts";
import type { RowsLook, RunRows } from "../../runs/dependencies.ts";
import type { Policy } from "../../curriculum/types.ts";
import { poolDigest } from "../../rows/digest.ts";
import type { TaskSpec } from "../spec.ts";
import type { Replaced } from "./replaced-sources.ts";
import type { RunRanks } from "./run-ranks.ts";

type State = RunState<TaskSpec, TaskKey>;

/** Rows of one level and split of a pool, with the ids of the arms that draw from them. */
interface RowSelection {
  readonly pool: Pool;
  readonly level: string;
  readonly split: TaskSpec["split"];
  readonly arms: readonly string[];
}

export interface RunRowsDeps {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly ranks: RunRanks;
  /** Finds groups whose mounted environment has other source code now. Unset: no environment is ever replaced. */
  readonly replaced?: Replaced;
  /** Time at which this server read its pools, by the store's clock. */
  readonly loadedAtMs: number;
}

export function createRunRows({ pools, ranks, replaced, loadedAtMs }: RunRowsDeps): RunRows<TaskSpec, TaskKey> {
  /**
   * Cache of a run's recorded lists of rows that were found equal to this server's pools, with the arms that the
   * comparison covered.
   */
  const same = new WeakMap<State["lists"], State["config"]["arms"]>();
  const lookAtRows = (state: State): RowsLook => {
    const { lists, config } = state;
    if (same.get(lists) === config.arms) return lateGone(state, pools);
    const changes: RowsSeen[] = [];
    for (const [pool, parts] of Map.groupBy(partsOf(state, pools), (part) => part.pool)) {
      const newest = lists.find((list) => list.pool === pool.name);
      const digest = poolDigest(pool);
      const isSame = newest?.digest === digest;
      if (isSame && parts.every(({ arms }) => arms.every((id) => listOf(lists, id) !== undefined))) continue;
      if (newest !== undefined && !isSame && isNewer(newest, { digest, loadedAtMs }))
        return { kind: "stale", message: staleText(state.runId, newest, digest) };
      const changed = parts.flatMap((part) => changedPart(state, part) ?? []);
      const reason = newest === undefined ? adopted(state, pool, digest) : changeText(newest, digest, changed);
      const policy = recounted(state, ranks);
      changes.push({ kind: "rowsSeen", pool: pool.name, digest, loadedAtMs, reason, lists: changed, policy });
    }
    if (changes.length > 0) {
      const message = changes.flatMap(({ reason }) => (reason === "" ? [] : [reason])).join("; ");
      return { kind: "changed", events: [...changes, ...closing(goneGroups(state, pools))], message };
    }
    same.set(lists, config.arms);
    return lateGone(state, pools);
  };
  return {
    ...(replaced && { whyMissing: replaced.whyMissing }),
    has: (key, spec) => hasRow(pools, key) && replaced?.why(spec) === undefined,
    look(state) {
      const look = lookAtRows(state);
      const events = (look.kind === "same" && replaced?.closing(state)) || [];
      if (events.length === 0) return look;
      return {
        kind: "changed",
        events,
        message: `open groups are closed, ${events.map(({ reason }) => reason).join("; ")}`,
      };
    },
  };
}

/** Reason for closing a group whose row the pool no longer has. The contract documents it at ControlRecord.reason. */
const ROW_GONE = "row_gone: the pool no longer has the group's row";

function closing(cursors: readonly number[]): readonly RunEvent<never, never>[] {
  return cursors.length === 0 ? [] : [{ kind: "closed", cursors, reason: ROW_GONE, cause: "row_gone" }];
}

function isNewer(list: RowList, own: Pick<RowList, "digest" | "loadedAtMs">): boolean {
  return list.loadedAtMs > own.loadedAtMs || (list.loadedAtMs === own.loadedAtMs && list.digest > own.digest);
}

function staleText(runId: string, { pool, digest }: RowList, own: string): string {
  return `run "${runId}" draws from pool "${pool}" with the digest ${digest}, and this server read an older version with the digest ${own}: restart the server with the newer file, or restart it unchanged to go back to the older one`;
}

/**
 * Returns the levels and splits of pools from which a run's arms draw. Pools that this server lacks are left out,
 * because making a task of them reports it.
 */
function partsOf({ config }: State, pools: RunRowsDeps["pools"]): readonly RowSelection[] {
  const parts = new Map<string, RowSelection>();
  for (const { id, spec, ...arm } of [...config.arms, ...config.evaluationArms]) {
    const pool = spec.source === "real" ? pools.get(spec.pool) : undefined;
    if (pool === undefined || ("removed" in arm && arm.removed)) continue;
    const { level, split } = spec;
    const key = JSON.stringify([pool.name, level, split]);
    parts.set(key, { pool, level, split, arms: [...(parts.get(key)?.arms ?? []), id] });
  }
  return [...parts.values()];
}

/**
 * Returns the hashes of rows of a pool, 8 bytes each, for the rows at `places` in the pool. Zeros fill the result up to
 * `rows` hashes.
 */
function hashesOf({ columns }: Pool, places: ArrayLike<number>, rows = places.length): Uint8Array {
  const bytes = new Uint8Array(8 * rows);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < places.length; i++) {
    view.setUint32(8 * i, columns.hashes[2 * places[i]!]!);
    view.setUint32(8 * i + 4, columns.hashes[2 * places[i]! + 1]!);
  }
  return bytes;
}

/**
 * Returns how a run's recorded list of rows differs from the rows in this server's pool. Undefined: they are equal.
 */
function changedPart({ lists, config }: State, { pool, level, split, arms }: RowSelection): RowsChanged | undefined {
  const name = { environment: pool.environment, level, split };
  const list = lists.find((each) => isList(each, name, pool.name));
  const members = placesOf(pool, level, split);
  const fresh = arms.filter((id) => list?.walks.has(id) !== true);
  if (list === undefined) {
    // An older server may have given an arm a table of pass rates for more rows than the pool has now. The surplus rows
    // stay in the run's list and count as gone.
    const tables = config.arms.flatMap(({ id, rows }) => (arms.includes(id) ? (rows?.rows ?? 0) : 0));
    const rows = Math.max(members.length, ...tables);
    const gone: readonly Range[] = rows > members.length ? [[members.length, rows - 1]] : [];
    return { ...name, arms: fresh, added: hashesOf(pool, members, rows), gone, back: [] };
  }
  const listed = new DataView(list.hashes.buffer, list.hashes.byteOffset);
  const isListed = new Uint8Array(pool.size);
  const [gone, back]: [number[], number[]] = [[], []];
  const own = new Uint8Array(pool.size);
  for (const place of members) own[place] = 1;
  for (let place = 0; place < placesIn(list); place++) {
    const at = placeOfHalves(pool, listed.getUint32(8 * place), listed.getUint32(8 * place + 4));
    const isThere = at >= 0 && own[at] === 1;
    if (isThere) isListed[at] = 1;
    if (isThere === list.gone.has(place)) (isThere ? back : gone).push(place);
  }
  const added = members.filter((place) => isListed[place] === 0);
  if (fresh.length + added.length + gone.length + back.length === 0) return undefined;
  return { ...name, arms: fresh, added: hashesOf(pool, added), gone: toRanges(gone), back: toRanges(back) };
}

const countIn = (ranges: readonly Range[]): number => ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);

function changeText({ pool, digest: before }: RowList, digest: string, lists: readonly RowsChanged[]): string {
  if (before === digest) return "";
  const sum = (of: (list: RowsChanged) => number): number => lists.reduce((all, list) => all + of(list), 0);
  const counts = [
    `${sum(({ added }) => added.length / 8)} new`,
    `${sum(({ gone }) => countIn(gone))} gone`,
    `${sum(({ back }) => countIn(back))} back`,
  ];
  return `pool "${pool}" changed from the digest ${before} to ${digest}: of the rows that the run draws from ${counts.join(", ")}; the others keep their positions`;
}

/**
 * Returns a warning for a run whose rows are recorded for the first time, because an older server created it. Empty:
 * the last rows that the run drew are still at their positions, and its tables of pass rates have as many rows as the
 * pool.
 */
function adopted({ batches, config, arms }: State, pool: Pool, digest: string): string {
  const drawn = batches.flatMap(({ groups }) => groups.map(({ task }) => task.key.origin));
  const rows = drawn.flatMap((origin) => (origin.kind === "row" && origin.pool === pool.name ? [origin] : []));
  const moved = rows.filter(({ row, contentHash }) => {
    const place = placeOfHash(pool, contentHash);
    return place < 0 || pool.columns.rows[place] !== row;
  }).length;
  const others = config.arms.filter(({ spec, rows: rule }, i) => {
    const isDrawn = spec.source === "real" && spec.pool === pool.name && (arms[i]?.issued ?? 0) > 0;
    return isDrawn && rule !== undefined && rule.rows !== placesOf(pool, spec.level, spec.split).length;
  });
  if (moved === 0 && others.length === 0) return "";
  return `the run recorded no rows of pool "${pool.name}" before, and records them now, with the digest ${digest}: ${moved} of the ${rows.length} last rows that it drew are at other positions now, so what the run learnt about a row may belong to another row`;
}

/**
 * Returns the run's policy with the present number of each arm's rows in each range of ranks. Null: no number changed.
 */
function recounted({ policy, config }: State, ranks: RunRanks): Policy | null {
  const staying = config.arms.filter(({ removed }) => !removed);
  const uses = rankUsesOf(policy);
  const ranges = uses.map(({ range, draws }) => {
    const drawn = staying.flatMap((arm) => (draws(arm.id) ? [[arm.id, ranks.of(arm, staying)] as const] : []));
    const rows = drawn.flatMap(([id, of]) => (of === undefined ? [] : [[id, of.within(range)] as const]));
    return { ...range, rows: Object.fromEntries(rows) };
  });
  const isSame = uses.every(({ range }, i) => JSON.stringify(range.rows) === JSON.stringify(ranges[i]?.rows));
  return isSame ? null : withRankRanges(policy, ranges);
}

/**
 * Returns the cursors of open groups whose rows this server's pools no longer have. Their tasks cannot be given out.
 */
function goneGroups(state: State, pools: RunRowsDeps["pools"]): readonly number[] {
  return openGroups(state).flatMap(({ group: { task } }) => (hasRow(pools, task.key) ? [] : [task.cursor]));
}

function hasRow(pools: RunRowsDeps["pools"], { origin, hash }: TaskKey): boolean {
  const pool = origin.kind === "row" ? pools.get(origin.pool) : undefined;
  return pool === undefined || placeOfHash(pool, hash) >= 0;
}

/**
 * Closes groups whose rows the pool no longer has. Such groups appear late if their tasks were a reserve, which dynamic
 * sampling gives out only when other groups prove useless.
 */
function lateGone(state: State, pools: RunRowsDeps["pools"]): RowsLook {
  const mayBe = state.config.dynamicSampling !== undefined && state.lists.some(({ gone }) => gone.size > 0);
  const cursors = mayBe ? goneGroups(state, pools) : [];
  if (cursors.length === 0) return { kind: "same" };
  return { kind: "changed", events: closing(cursors), message: "" };
}
