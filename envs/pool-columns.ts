/**
 * Reads the rows of a data pool and stores each property of all rows in one typed array, rather than one object for
 * each row. A row takes about 40 bytes in addition to its instance, and typed arrays move between threads without a
 * copy.
 */
import type { Environment, RowProof, Split, Taken } from "./environment.ts";
import { parseExact, repeatedKey } from "./lib/exact-json.ts";
import { hashKey } from "./lib/rng.ts";
import { type Difficulty, difficultyIn, OWN_MEASURE } from "./pool-ranks.ts";
import { createReasonCounter, type RowsWithReason } from "./pool-reasons.ts";
import { type ColumnNames, createView, type Reader, type View } from "./pool-view.ts";
import { instanceFamily, instanceHash, splitOf } from "./splits.ts";

export const POOL_SPLITS: readonly Split[] = ["train", "eval", "bench"];

/** Row as the file holds it. */
export interface RawRow {
  /** Index of the row in its unit (a part of the file that is read at once), from 0. */
  readonly row: number;
  /**
   * JSON text of the row, if it still has to be parsed. Otherwise `value` holds the parsed row. Text that is only white
   * space is skipped.
   */
  readonly json?: string;
  readonly value?: unknown;
  /** Reason why the row cannot be read, e.g. that it is not UTF-8. */
  readonly problem?: string;
}

/** Row whose Python code a sandbox must analyse before the row can be read. */
export interface PythonRow {
  readonly row: number;
  readonly python: string;
}

/** Findings of a sandbox about the Python code in rows, by the row's index in its unit (part of the file). */
export type FoundPython = ReadonlyMap<number, string>;

const NOTHING_FOUND: FoundPython = new Map();

/** Number of rows in which a field's value came from the same column in the same way, e.g. "solution, in \boxed{}". */
export interface TakenRows {
  readonly field: string;
  readonly from: string;
  readonly rows: number;
}

/**
 * Rows that hold tasks in one unit (part) of a file, in the order of the file. Each list has one entry for each of
 * these rows, unless its comment says otherwise.
 */
export interface UnitColumns {
  /** Number of rows in the unit (part of the file), including the rows without a task. */
  readonly rowsRead: number;
  /** Index of each row in its unit (part of the file). */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** Hash of each row's instance, as two entries: the upper and the lower half. */
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Index of each row's level in the environment's levels. */
  readonly levels: Uint8Array<ArrayBuffer>;
  /** Index of each row's split in POOL_SPLITS. */
  readonly splits: Uint8Array<ArrayBuffer>;
  /** Difficulty of each row. NaN if nothing tells how hard the row is. */
  readonly difficulties: Float64Array<ArrayBuffer>;
  /** Origin of each difficulty: an index in RANK_COLUMNS, OWN_MEASURE or UNRANKED (pool-ranks.ts). */
  readonly rankSources: Uint8Array<ArrayBuffer>;
  /**
   * Hash of everything that each row asks, in two entries as in `hashes`. Empty if the environment does not define
   * `asked`.
   */
  readonly asked: Uint32Array<ArrayBuffer>;
  /**
   * Hash that is equal for rows whose answers reveal each other, in two entries as in `hashes`. Empty if the
   * environment defines neither `problem` nor `invariant`.
   */
  readonly problems: Uint32Array<ArrayBuffer>;
  /**
   * Conditions that some row of the file must meet (RowProof), each with whether a row of this unit (part of the file)
   * meets it.
   */
  readonly proofs: readonly RowProof[];
  /** Columns that the fields of instances were taken from, with the number of rows for each. */
  readonly taken: readonly TakenRows[];
  /** Number of rows that have each of the columns that the operator named with --column. */
  readonly named: Uint32Array<ArrayBuffer>;
  /** Offset in `bytes` where each instance ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Rows that cannot be read until a sandbox has analysed their Python code. */
  readonly waiting: readonly PythonRow[];
  readonly rejected: number;
  /**
   * Reasons why rows were rejected, similar ones counted together. `row` is a row's index in its unit (part of the
   * file).
   */
  readonly rejections: readonly RowsWithReason[];
  /**
   * Instructions about the form of the answer in the rows' texts, similar ones counted together. `row` is a row's index
   * in the unit.
   */
  readonly instructions: readonly RowsWithReason[];
}

/**
 * Rows of a pool, in the order of the file. A list has one entry for each row, or two if its comment says so. The lists
 * `bytes`, `members` and `starts` differ.
 */
export interface PoolColumns {
  /** Number of each row in the file, from 0. */
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Level and split of each row: three times the index of the level, plus the index of the split. */
  readonly groups: Uint8Array<ArrayBuffer>;
  /** Number of easier rows among the rows of the same level and split. Empty if rows have no ranks. */
  readonly ranks: Uint32Array<ArrayBuffer>;
  /** Difficulty that decides the rank, greater for harder rows. Empty if rows have no ranks. */
  readonly difficulties: Float64Array<ArrayBuffer>;
  /**
   * Hashes that are equal for rows whose answers reveal each other, with two entries for each row as in `hashes`. If
   * empty, `hashes` serves instead.
   */
  readonly problems: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Indices of the rows, one group (level and split) after the other, each in the order of the file. */
  readonly members: Uint32Array<ArrayBuffer>;
  /** Index in `members` where each group starts. Has one more entry than there are groups. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Maximum size, in bytes, of the stored data of a row, even if its environment allows more. Each Step call that needs
 * the row parses the data again, which takes some milliseconds for a megabyte.
 */
const ROW_BYTES_MAX = 4 << 20;

/** First byte of an instance that the environment's inline codec encoded. */
const INLINE = 0;
/** First byte of an instance that is stored as its row's JSON. */
const JSON_ROW = 1;

/** Instances one after the other, in a growing buffer. */
class InstanceBytes {
  #bytes = new Uint8Array(1 << 16);
  #at = 0;

  /** Appends an instance and returns the offset after it. */
  add(kind: number, bytes: Uint8Array): number {
    const end = this.#at + 1 + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#at] = kind;
    this.#bytes.set(bytes, this.#at + 1);
    return (this.#at = end);
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at);
  }
}

/**
 * Maximum number of different columns that are counted as sources of one field. Further columns are counted together.
 */
const TAKEN_MAX = 16;

/**
 * Reads the rows of a unit (part of a file) into columns. Rejects and counts rows that are not JSON, hold no task, or
 * belong to no level.
 */
export function readUnit<Instance>(
  environment: Environment<Instance>,
  rows: Iterable<RawRow>,
  names: ColumnNames = [],
  found: FoundPython = NOTHING_FOUND,
): UnitColumns {
  const lists = { rows: [] as number[], hashes: [] as number[], levels: [] as number[], splits: [] as number[] };
  const keys = { asked: [] as number[], problems: [] as number[] };
  const ranked = { difficulties: [] as number[], rankSources: [] as number[] };
  const ends: number[] = [];
  const instances = new InstanceBytes();
  const reasons = createReasonCounter();
  const instructions = createReasonCounter();
  const proofs = new Map<string, boolean>();
  const taken = createTakenCounter();
  const view = viewOf(environment, names);
  const waiting: PythonRow[] = [];
  let [rejected, rowsRead] = [0, 0];
  for (const raw of rows) {
    const { row } = raw;
    rowsRead = row + 1;
    const examined = examineRow(environment, raw, view, found.get(row));
    if (examined.kind === "blank") continue;
    if (examined.kind === "waiting") {
      waiting.push({ row, python: examined.python });
      continue;
    }
    if (examined.kind === "rejected") {
      rejected++;
      reasons.add({ row, reason: examined.reason, count: 1 });
      continue;
    }
    const { instance, level, inline, bytes, difficulty, proof } = examined;
    lists.rows.push(row);
    lists.hashes.push(...halvesOf(instanceHash(environment, instance)));
    lists.levels.push(level);
    lists.splits.push(POOL_SPLITS.indexOf(splitOf(environment, instance)));
    addKeys(environment, instance, keys);
    ranked.difficulties.push(difficulty.value);
    ranked.rankSources.push(difficulty.source);
    ends.push(instances.add(inline ? INLINE : JSON_ROW, bytes));
    for (const each of examined.taken) taken.add(each, 1);
    for (const reason of examined.instructions) instructions.add({ row, reason, count: 1 });
    if (proof !== undefined) proofs.set(proof.wanted, proof.given || proofs.get(proof.wanted) === true);
  }
  return {
    rowsRead,
    rejected,
    rejections: reasons.counted(),
    instructions: instructions.counted(),
    named: view.found,
    waiting,
    taken: taken.counted(),
    proofs: [...proofs].map(([wanted, given]) => ({ wanted, given })),
    rows: Uint32Array.from(lists.rows),
    hashes: Uint32Array.from(lists.hashes),
    levels: Uint8Array.from(lists.levels),
    splits: Uint8Array.from(lists.splits),
    difficulties: Float64Array.from(ranked.difficulties),
    rankSources: Uint8Array.from(ranked.rankSources),
    asked: Uint32Array.from(keys.asked),
    problems: Uint32Array.from(keys.problems),
    ends: Uint32Array.from(ends),
    bytes: instances.done(),
  };
}

/**
 * Counts, for each field of instances, how many rows took its value from each column. Columns beyond TAKEN_MAX are
 * counted together, because a data row could name any number of them.
 */
export function createTakenCounter() {
  const fields = new Map<string, Map<string, number>>();
  return {
    add([field, from]: Taken, rows: number): void {
      const own = fields.get(field) ?? new Map<string, number>();
      fields.set(field, own);
      const name = own.has(from) || own.size < TAKEN_MAX ? from : "other columns";
      own.set(name, (own.get(name) ?? 0) + rows);
    },
    counted: (): readonly TakenRows[] =>
      [...fields].flatMap(([field, own]) => [...own].map(([from, rows]) => ({ field, from, rows }))),
  };
}

/** Returns the upper and the lower half of a hash of 16 hex digits. */
const halvesOf = (hash: string): [number, number] => [parseInt(hash.slice(0, 8), 16), parseInt(hash.slice(8, 16), 16)];

/**
 * Adds a row's hashes to the lists. `asked` gets the hash of everything that the row asks. `problems` gets a hash that
 * rows share if their answers reveal each other. A list gets nothing if the environment does not define its key.
 */
function addKeys<Instance>(
  environment: Environment<Instance>,
  instance: Instance,
  { asked, problems }: { readonly asked: number[]; readonly problems: number[] },
): void {
  const { rows } = environment;
  const family = instanceFamily(environment);
  const add = (list: number[], name: string, key: string): void =>
    void list.push(...halvesOf(hashKey(name, family, key)));
  if (rows?.asked !== undefined) add(asked, "asked", rows.asked(instance));
  const problem = rows?.problem?.(instance) ?? environment.invariant?.(instance);
  if (problem !== undefined) add(problems, "problem", problem);
}

interface Viewed {
  readonly id: string;
  readonly rows?: Reader;
}

/**
 * Returns the view that renames a file's columns for the environment's row reader. `names` are the columns that the
 * operator named.
 */
export function viewOf({ id, rows }: Viewed, names: ColumnNames): View {
  if (rows === undefined) throw new Error(`${id} has no data pools`);
  return createView(rows, names);
}

/** Result of reading one row without regard to the other rows of the file. */
export type ExaminedRow<Instance> =
  | { readonly kind: "blank" }
  | { readonly kind: "rejected"; readonly reason: string }
  /** The row cannot be read until a sandbox has analysed this Python code. */
  | { readonly kind: "waiting"; readonly python: string }
  | {
      readonly kind: "task";
      readonly instance: Instance;
      /** Index of the row's level in the environment's levels. */
      readonly level: number;
      /** True if the bytes come from the environment's inline codec. Otherwise they are the row's JSON. */
      readonly inline: boolean;
      readonly bytes: Uint8Array;
      readonly difficulty: Difficulty;
      readonly taken: readonly Taken[];
      readonly proof: RowProof | undefined;
      readonly instructions: readonly string[];
    };

export function examineRow<Instance>(
  environment: Environment<Instance>,
  { json, value, problem }: RawRow,
  view: View = viewOf(environment, []),
  found?: string,
): ExaminedRow<Instance> {
  const reader = environment.rows;
  if (reader === undefined) throw new Error(`${environment.id} has no data pools`);
  if (json?.trim() === "") return { kind: "blank" };
  const rejected = (reason: string) => ({ kind: "rejected", reason }) as const;
  if (problem !== undefined) return rejected(problem);
  let whole = value;
  if (json !== undefined)
    try {
      whole = parseExact(json);
    } catch (error) {
      return rejected(`not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ""}`);
    }
  const twice = json === undefined ? undefined : repeatedKey(json);
  if (twice !== undefined) return rejected(`it has the key ${JSON.stringify(twice)} twice: remove one`);
  const alike = view.alike(whole);
  if (alike !== undefined) return rejected(alike);
  const seen = view.row(whole);
  // Read the row in the form in which it is stored, so that reading the stored row later gives the same instance.
  let row = view.kept(seen);
  const python = reader.python?.of(row);
  if (python !== undefined) {
    if (found === undefined) return { kind: "waiting", python };
    row = reader.python?.told(row, found);
  }
  const read = reader.read(row);
  if (read.kind === "malformed") return rejected(read.reason);
  const instance = read.answer;
  const inline = environment.inline?.encode(instance);
  const bytes = inline ?? encoder.encode(row === whole && json !== undefined ? json : JSON.stringify(row));
  if (bytes.length > ROW_BYTES_MAX)
    return rejected(`its task takes ${bytes.length} bytes, and the limit is ${ROW_BYTES_MAX}`);
  const name = reader.levelOf(instance);
  const level = environment.levels.findIndex((each) => each.name === name);
  if (level < 0) return rejected("its task belongs to no level of the environment");
  const difficulty =
    reader.difficulty === undefined
      ? difficultyIn(seen)
      : { source: OWN_MEASURE, value: reader.difficulty.of(instance) };
  const { taken = [], proof } = read;
  const { cut, left } = read.instructions?.() ?? { cut: [], left: [] };
  const said = [...cut.map((text) => `${CUT}${text}`), ...left.map((text) => `${LEFT}${text}`)];
  const instructions = said.map((text) => text.replaceAll(/\s+/g, " "));
  return { kind: "task", instance, level, inline: inline !== undefined, bytes, difficulty, taken, proof, instructions };
}

// Prefixes that a report puts before an instruction's text.
const CUT = "cut from the prompt: ";
const LEFT = "left in the prompt, because it may be part of the problem: ";

/** Decodes an instance from bytes that readUnit wrote. */
export function decodeInstance<Instance>(environment: Environment<Instance>, bytes: Uint8Array): Instance {
  const content = bytes.subarray(1);
  if (bytes[0] === INLINE && environment.inline !== undefined) return environment.inline.decode(content);
  const read = environment.rows?.read(parseExact(decoder.decode(content)));
  if (read?.kind !== "answer")
    throw new Error(`bug: a row of ${environment.id} that was read once cannot be read again`);
  return read.answer;
}
