/**
 * Rows of a data pool as columns: typed arrays rather than an object for each row, so that millions of rows take some
 * forty bytes each beside their instance, and go from thread to thread without being copied.
 */
import type { Environment, Split } from "./environment.ts";
import { createReasonCounter, type RejectedRows } from "./pool-reasons.ts";
import { instanceHash, splitOf } from "./splits.ts";

export const POOL_SPLITS: readonly Split[] = ["train", "eval", "bench"];

/** A row as it is in its file. */
export interface RawRow {
  /** Its place in the unit, from 0. */
  readonly row: number;
  /** Its JSON, if it is to be parsed; else its value. White space alone is passed over. */
  readonly json?: string;
  readonly value?: unknown;
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
  /** NaN where the environment knows none. */
  readonly difficulties: Float64Array<ArrayBuffer>;
  /** Where each instance ends in the bytes. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rejected: number;
  /** By kind; the rows are places in the unit. */
  readonly rejections: readonly RejectedRows[];
}

/** The rows of a pool. Each list but the last two has a place for each row, in the file's order. */
export interface PoolColumns {
  /** Rows of the file, from 0. */
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Level and split: index of the level times three, and index of the split. */
  readonly groups: Uint8Array<ArrayBuffer>;
  /** How many rows of its group are easier; empty where the environment knows no difficulty. */
  readonly ranks: Uint32Array<ArrayBuffer>;
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

/** Reads the rows of a unit into columns. A row that is not JSON, not a task or of no level is rejected and counted. */
export function readUnit<Instance>(environment: Environment<Instance>, rows: Iterable<RawRow>): UnitColumns {
  const lists = { rows: [] as number[], hashes: [] as number[], levels: [] as number[], splits: [] as number[] };
  const [difficulties, ends]: [number[], number[]] = [[], []];
  const instances = new InstanceBytes();
  const reasons = createReasonCounter();
  let rejected = 0;
  let rowsRead = 0;
  for (const raw of rows) {
    const { row } = raw;
    rowsRead = row + 1;
    const examined = examineRow(environment, raw);
    if (examined.kind === "blank") continue;
    if (examined.kind === "rejected") {
      rejected++;
      reasons.add({ row, reason: examined.reason, count: 1 });
      continue;
    }
    const { instance, level, inline, bytes } = examined;
    const hash = instanceHash(environment, instance);
    lists.rows.push(row);
    lists.hashes.push(parseInt(hash.slice(0, 8), 16), parseInt(hash.slice(8), 16));
    lists.levels.push(level);
    lists.splits.push(POOL_SPLITS.indexOf(splitOf(environment, instance)));
    difficulties.push(environment.rows?.difficulty?.(instance) ?? NaN);
    ends.push(instances.add(inline ? INLINE : JSON_ROW, bytes));
  }
  return {
    ...{ rowsRead, rejected, rejections: reasons.counted() },
    rows: Uint32Array.from(lists.rows),
    hashes: Uint32Array.from(lists.hashes),
    levels: Uint8Array.from(lists.levels),
    splits: Uint8Array.from(lists.splits),
    difficulties: Float64Array.from(difficulties),
    ends: Uint32Array.from(ends),
    bytes: instances.done(),
  };
}

/** What a row is, taken by itself. */
export type ExaminedRow<Instance> =
  | { readonly kind: "blank" }
  | { readonly kind: "rejected"; readonly reason: string }
  | {
      readonly kind: "task";
      readonly instance: Instance;
      /** Its index in the environment's levels. */
      readonly level: number;
      /** Whether the bytes are those of the environment's inline codec; else they are the row's JSON. */
      readonly inline: boolean;
      readonly bytes: Uint8Array;
    };

export function examineRow<Instance>(
  environment: Environment<Instance>,
  { json, value }: RawRow,
): ExaminedRow<Instance> {
  const reader = environment.rows;
  if (reader === undefined) throw new Error(`${environment.id} has no data pools`);
  if (json?.trim() === "") return { kind: "blank" };
  const rejected = (reason: string) => ({ kind: "rejected", reason }) as const;
  let whole = value;
  if (json !== undefined)
    try {
      whole = JSON.parse(json);
    } catch (error) {
      return rejected(`not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ""}`);
    }
  // Read as it is kept, so that it is sure to be read again.
  const row = projectRow(whole, reader.columns);
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
  return { kind: "task", instance, level, inline: inline !== undefined, bytes };
}

/** A row with the columns alone that its reader looks at. */
export function projectRow(row: unknown, columns: readonly string[] | undefined): unknown {
  if (columns === undefined || typeof row !== "object" || row === null || Array.isArray(row)) return row;
  const own = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(columns.filter((name) => Object.hasOwn(own, name)).map((name) => [name, own[name]]));
}

/** The instance in bytes that readUnit wrote. */
export function decodeInstance<Instance>(environment: Environment<Instance>, bytes: Uint8Array): Instance {
  const content = bytes.subarray(1);
  if (bytes[0] === INLINE && environment.inline !== undefined) return environment.inline.decode(content);
  const read = environment.rows?.read(JSON.parse(decoder.decode(content)));
  if (read?.kind !== "answer")
    throw new Error(`bug: a row of ${environment.id} that was read once cannot be read again`);
  return read.answer;
}
