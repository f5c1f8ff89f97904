/** Lists of pools' rows in the independent reader (reader.ts): their changes, and the draws from them. */
import type { Range, RowList, RowsSeen } from "../../proto/gen/gradus/internal/v1/run_pb.js";
import type { Config, Data, ReadRun, ReadTask } from "./reader-state.ts";
import { armsOf, type Reader } from "./reading.ts";

/** Passes of an arm through a number of rows each, from an ordinal on, after some earlier passes. */
interface ReadPasses {
  readonly from: number;
  readonly epoch: number;
  readonly rows: number;
}

interface ReadWalk {
  readonly reached: number;
  readonly passes: readonly ReadPasses[];
}

export interface ReadList {
  readonly pool: string;
  readonly environment: string;
  readonly level: string;
  readonly split: string;
  readonly firstDigest: string;
  digest: string;
  loadedAtMs: number;
  /** Progress of each arm. */
  readonly walks: Map<string, ReadWalk>;
  /** The hash of the row of each place, 16 hex digits. */
  readonly rows: string[];
  /** Places whose row is gone. */
  readonly gone: Set<number>;
}

/** Hash of a place whose row no server has told. */
const UNTOLD = "0".repeat(16);

function rowsIn(packed: Uint8Array): string[] {
  return Buffer.from(packed).toString("hex").match(/.{16}/g) ?? [];
}

function placesIn(ranges: readonly Range[]): number[] {
  return ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

export function readList({ walks, hashes, gone, $typeName: _type, ...list }: RowList): ReadList {
  const plain = ({ from, epoch, rows }: ReadPasses): ReadPasses => ({ from, epoch, rows });
  const ofArms = walks.map(({ arm, reached, passes }) => [arm, { reached, passes: passes.map(plain) }] as const);
  return { ...list, walks: new Map(ofArms), rows: rowsIn(hashes), gone: new Set(placesIn(gone)) };
}

/** A pass that has begun ends with its own rows, and the next pass goes through all rows. */
function lengthened({ reached, passes }: ReadWalk, drawn: number, rows: number): ReadWalk {
  const last = passes.at(-1) as ReadPasses;
  const next = Math.max(drawn, reached);
  let { from, epoch } = last;
  for (; last.rows > 0 && from < next; from += last.rows) epoch++;
  const kept = epoch === last.epoch ? passes.slice(0, -1) : passes;
  return { reached, passes: [...kept, { from, epoch, rows }] };
}

/** Returns how many tasks an arm has drawn in this pass over its instances; for an evaluation arm, the whole set. */
function drawnOf({ config, arms }: ReadRun, id: string): number {
  const evaluated = (config["evaluationArms"] as readonly Config[]).find((arm) => arm["id"] === id);
  const place = armsOf(config).findIndex((arm) => arm["id"] === id);
  return arms[place]?.nextOrdinal ?? Number(evaluated?.["tasks"] ?? 0);
}

function changeList(
  { run, faults }: Reader,
  list: ReadList,
  { arms, added, gone, back }: RowsSeen["lists"][number],
): void {
  const fault = (what: string): void => void faults.push(`the rows of pool "${list.pool}": ${what}`);
  const more = rowsIn(added);
  for (const row of more) {
    if (row !== UNTOLD && list.rows.includes(row)) fault(`row ${row} gets a second place`);
    list.rows.push(row);
  }
  for (const place of placesIn(gone)) {
    if (list.gone.has(place) || place >= list.rows.length) fault(`place ${place} goes, and was not there`);
    list.gone.add(place);
  }
  for (const place of placesIn(back)) if (!list.gone.delete(place)) fault(`place ${place} comes back, and was there`);
  const rows = list.rows.length;
  if (more.length > 0)
    for (const [id, walk] of list.walks) list.walks.set(id, lengthened(walk, drawnOf(run, id), rows));
  for (const id of arms) {
    if (run.lists.some(({ walks }) => walks.has(id))) fault(`arm "${id}" draws from a second list`);
    list.walks.set(id, { reached: 0, passes: [{ from: 0, epoch: 0, rows }] });
  }
}

/** Returns the configuration with row counts: arms that choose their rows choose among all places of their list. */
function withCounts(run: ReadRun): Config {
  const arms = armsOf(run.config).map((arm) => {
    const list = run.lists.find(({ walks }) => walks.has(arm["id"] as string));
    const rule = arm["rows"] as Config | undefined;
    return list === undefined || rule === undefined ? arm : { ...arm, rows: { ...rule, rows: list.rows.length } };
  });
  return { ...run.config, arms };
}

export function rowsSeen(reader: Reader, { pool, digest, loadedAtMs, reason, lists, policy }: RowsSeen): void {
  const { run } = reader;
  for (const change of lists) {
    const { environment, level, split } = change;
    let list = run.lists.find(
      (each) => each.pool === pool && each.environment === environment && each.level === level && each.split === split,
    );
    if (list === undefined) {
      const place = { pool, environment, level, split, firstDigest: digest, digest, loadedAtMs };
      list = { ...place, walks: new Map(), rows: [], gone: new Set() };
      run.lists.push(list);
    }
    changeList(reader, list, change);
  }
  for (const list of run.lists) if (list.pool === pool) Object.assign(list, { digest, loadedAtMs });
  if (policy !== undefined) run.policy = JSON.parse(policy) as Data;
  const config = withCounts(run);
  const isOther = armsOf(config).some(
    ({ rows }, i) =>
      (rows as Config | undefined)?.["rows"] !== (armsOf(run.config)[i]?.["rows"] as Config | undefined)?.["rows"],
  );
  if (isOther) run.configCreated ??= run.config;
  run.config = config;
  if (reason !== "") run.nextSeq++;
}

/** Makes lists remember how far the arms have come when the arms' tasks begin again. */
export function rememberReached(run: ReadRun): void {
  for (const { walks } of run.lists)
    for (const [i, { id }] of armsOf(run.config).entries()) {
      const walk = walks.get(id as string);
      if (walk === undefined) continue;
      walks.set(id as string, { ...walk, reached: Math.max(walk.reached, run.arms[i]?.nextOrdinal ?? 0) });
    }
}

/**
 * Reports faults of a draw from listed rows: a row that does not exist, that is gone, or that comes twice in a pass.
 */
export function checkRow(
  { run, hashOf, inPass }: Reader,
  { arm, ordinal, row, key }: ReadTask,
  fault: (what: string) => void,
) {
  const id = armsOf(run.config)[arm]?.["id"] as string;
  const list = run.lists.find(({ walks }) => walks.has(id));
  if (list === undefined) return;
  const hash = hashOf(key);
  const place = row ?? list.rows.indexOf(hash);
  if (list.rows[place] !== hash) fault(`is row ${hash}, which is not at place ${place}`);
  if (list.gone.has(place)) fault(`is row ${place}, which is gone`);
  if (row !== null) return;
  const passes = list.walks.get(id)?.passes.findLast(({ from }) => from <= ordinal);
  if (passes === undefined) return fault("is of no pass");
  const pass = `${id} ${passes.epoch + Math.floor((ordinal - passes.from) / passes.rows)}`;
  const before = inPass.get(pass) ?? new Set();
  if (before.has(place)) fault(`is row ${place} twice in a pass`);
  inPass.set(pass, before.add(place));
}
