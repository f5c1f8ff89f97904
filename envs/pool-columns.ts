/**
 * Rows of a data pool as columns: typed arrays rather than an object for each row, so that millions of rows take some
 * forty bytes each beside their instance, and go from thread to thread without being copied.
 */
import type { Environment, RowProof, Split, Taken } from "./environment.ts";
import { parseExact, repeatedKey } from "./lib/exact-json.ts";
import { hashKey } from "./lib/rng.ts";
import { type Difficulty, difficultyIn, OWN_MEASURE } from "./pool-ranks.ts";
import { createReasonCounter, type RejectedRows } from "./pool-reasons.ts";
import { type ColumnNames, createView, type Reader, type View } from "./pool-view.ts";
import { instanceFamily, instanceHash, splitOf } from "./splits.ts";

export const POOL_SPLITS: readonly Split[] = ["train", "eval", "bench"];

/** A row as it is in its file. */
export interface RawRow {
  /** Its place in the unit, from 0. */
  readonly row: number;
  /** Its JSON, if it is to be parsed; else its value. White space alone is passed over. */
  readonly json?: string;
  readonly value?: unknown;
  /** Why it cannot be read, e.g. that it is not UTF-8. */
  readonly problem?: string;
}

/** A row with Python in it, which has to be read by a sandbox before the row can be. */
export interface PythonRow {
  readonly row: number;
  readonly python: string;
}

/** What a sandbox found in the Python of rows, by their places in the unit. */
export type FoundPython = ReadonlyMap<number, string>;

const NOTHING_FOUND: FoundPython = new Map();

/** Rows of which a field was taken from one column, in one way. */
export interface TakenRows {
  readonly field: string;
  readonly from: string;
  readonly rows: number;
}

/** Rows of a unit of a file that hold tasks, in the file's order. Each list has a place for each of them. */
export interface UnitColumns {
  /** How many rows the unit has, those without a task included. */
  readonly rowsRead: number;
  /** Places in the unit. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** Two places for each: the upper and the lower half of the hash. */
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Indices of the environment's levels. */
  readonly levels: Uint8Array<ArrayBuffer>;
  /** Indices of POOL_SPLITS. */
  readonly splits: Uint8Array<ArrayBuffer>;
  /** NaN where nothing says how hard a row is. */
  readonly difficulties: Float64Array<ArrayBuffer>;
  /** What says it: see pool-ranks.ts. */
  readonly rankSources: Uint8Array<ArrayBuffer>;
  /** Two places for each, as for hashes: of what is asked, and of the problem. Empty where the environment does not say. */
  readonly asked: Uint32Array<ArrayBuffer>;
  readonly problems: Uint32Array<ArrayBuffer>;
  /** Proofs that rows want, each with whether one of them gives it. */
  readonly proofs: readonly RowProof[];
  /** What was taken from which column, by how many rows. */
  readonly taken: readonly TakenRows[];
  /** How many rows had each column that the operator named. */
  readonly named: Uint32Array<ArrayBuffer>;
  /** Where each instance ends in the bytes. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Rows that are not here yet: what a sandbox finds in their Python was not given. */
  readonly waiting: readonly PythonRow[];
  readonly rejected: number;
  /** By kind; the rows are places in the unit. */
  readonly rejections: readonly RejectedRows[];
  /** Instructions about the form of the answer, by kind; the rows are places in the unit. */
  readonly instructions: readonly RejectedRows[];
}

/** The rows of a pool. Each list but the last two has a place for each row, in the file's order. */
export interface PoolColumns {
  /** Rows of the file, from 0. */
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Level and split: index of the level times three, and index of the split. */
  readonly groups: Uint8Array<ArrayBuffer>;
  /** How many rows of its group are easier; empty where rows have no ranks. */
  readonly ranks: Uint32Array<ArrayBuffer>;
  /** What the ranks are by: greater for harder rows; empty where rows have no ranks. */
  readonly difficulties: Float64Array<ArrayBuffer>;
  /** Two places for each row, as for hashes: the same for rows that teach each other's answers. Empty: hashes are. */
  readonly problems: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Places of the rows of group 0 in the file's order, then of group 1, and so on. */
  readonly members: Uint32Array<ArrayBuffer>;
  /** Where each group begins in the members; one more place than there are groups. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Of what is kept of a row, whatever an environment itself allows: it is parsed anew at every step that needs it, a megabyte
 * in some milliseconds.
 */
const ROW_BYTES_MAX = 4 << 20;

/** What the bytes of an instance begin with. */
const INLINE = 0;
const JSON_ROW = 1;

/** Instances one after the other, in a buffer that grows. */
class InstanceBytes {
  #bytes = new Uint8Array(1 << 16);
  #at = 0;

  /** The offset past what was added. */
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

/** Ways to take a field that are told apart. */
const TAKEN_MAX = 16;

/** Reads the rows of a unit into columns. A row that is not JSON, not a task or of no level is rejected and counted. */
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

/** Counts what was taken from where. Ways beyond so many are not told apart: a column may be named by the row. */
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

/** The upper and the lower half of a hash of 16 hex digits. */
const halvesOf = (hash: string): [number, number] => [parseInt(hash.slice(0, 8), 16), parseInt(hash.slice(8, 16), 16)];

/** Where the environment says nothing, a task is asked once and is its own problem. */
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

/** What an environment sees of rows whose columns were given these names. */
export function viewOf({ id, rows }: Viewed, names: ColumnNames): View {
  if (rows === undefined) throw new Error(`${id} has no data pools`);
  return createView(rows, names);
}

/** What a row is, taken by itself. */
export type ExaminedRow<Instance> =
  | { readonly kind: "blank" }
  | { readonly kind: "rejected"; readonly reason: string }
  /** A sandbox has to read this first. */
  | { readonly kind: "waiting"; readonly python: string }
  | {
      readonly kind: "task";
      readonly instance: Instance;
      /** Its index in the environment's levels. */
      readonly level: number;
      /** Whether the bytes are those of the environment's inline codec; else they are the row's JSON. */
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
  // Read as it is kept, so that it is sure to be read again.
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
    return rejected(`what is read of it takes ${bytes.length} bytes, and the limit is ${ROW_BYTES_MAX}`);
  const name = reader.levelOf(instance);
  const level = environment.levels.findIndex((each) => each.name === name);
  if (level < 0) return rejected("of no level");
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

// A report says one of these before the words of an instruction.
const CUT = "cut from the prompt: ";
const LEFT = "left in the prompt, for the problem may be in it: ";

/** The instance in bytes that readUnit wrote. */
export function decodeInstance<Instance>(environment: Environment<Instance>, bytes: Uint8Array): Instance {
  const content = bytes.subarray(1);
  if (bytes[0] === INLINE && environment.inline !== undefined) return environment.inline.decode(content);
  const read = environment.rows?.read(parseExact(decoder.decode(content)));
  if (read?.kind !== "answer")
    throw new Error(`bug: a row of ${environment.id} that was read once cannot be read again`);
  return read.answer;
}
