/** Reads the rows of Arrow files, and of Arrow streams as Hugging Face `datasets` saves them. */
import { readFileSync } from "node:fs";
import type { DataType, Precision, Vector } from "apache-arrow";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { differing, PoolFileProblem } from "./bytes.ts";
import type { ColumnChoice } from "./parquet.ts";
import { decimalOf, floatOf, plain } from "./plain.ts";

/** Loads the Arrow package only when it is needed, because most pools are not Arrow. */
async function tableOf(path: string) {
  const arrow = await import("apache-arrow");
  const bytes = readFileSync(path);
  try {
    const table = arrow.tableFromIPC(bytes);
    return { arrow, table, names: differing(table.schema.names.map(String)) };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof PoolFileProblem) throw error;
    const isPacked = error.message.includes("codec not found");
    throw new PoolFileProblem(
      isPacked
        ? "its batches are compressed: save it as Parquet, or with compression=None"
        : `the file cannot be read: it is cut off or damaged (${error.message})`,
    );
  }
}

export async function arrowColumns(path: string): Promise<readonly string[]> {
  return (await tableOf(path)).names;
}

export async function readArrow(path: string, choose: ColumnChoice): Promise<Iterable<RawRow>> {
  const { arrow, table, names } = await tableOf(path);
  const columns = choose(names) ?? names;
  const read = valueReader(arrow.DataType, arrow.Precision.SINGLE);
  return (function* () {
    let row = 0;
    for (const batch of table.batches) {
      const vectors = columns.map((name): Named => [name, batch.getChild(name)]);
      for (let i = 0; i < batch.numRows; i++) {
        const entries = vectors.map(([name, vector]) => [name, vector && read(vector.type, vector.get(i))]);
        yield { row: row++, value: Object.fromEntries(entries) as unknown };
      }
    }
  })();
}

type Types = typeof DataType;
type Named = readonly [name: string, vector: Vector<DataType> | null];

/**
 * Returns a function that converts a value by the type of its column. The value alone does not show whether a number
 * had 32 bits, or how many decimals it has.
 */
function valueReader(types: Types, single: Precision): (type: DataType, value: unknown) => unknown {
  const read = (type: DataType, value: unknown): unknown => {
    if (value === null || value === undefined) return null;
    if (types.isDictionary(type)) return read(type.dictionary as DataType, value);
    if (types.isDecimal(type)) return decimalOf(littleEndian(value as Uint32Array), type.scale);
    if (types.isFloat(type)) return plain(type.precision === single ? floatOf(value) : value);
    // Dates are recognised by their type, because a date's value is milliseconds and looks like any other number.
    if (types.isDate(type) || types.isTimestamp(type)) return plain(new Date(Number(value)));
    if (types.isList(type) || types.isLargeList(type) || types.isFixedSizeList(type)) {
      const [child] = type.children;
      return Array.from(value as Vector, (each) => read(child?.type as DataType, each));
    }
    if (types.isStruct(type)) {
      const row = (value as { toJSON(): Record<string, unknown> }).toJSON();
      return Object.fromEntries(type.children.map(({ name, type: of }) => [name, read(of as DataType, row[name])]));
    }
    if (types.isMap(type)) return plain((value as { toJSON(): object }).toJSON());
    return plain(value);
  };
  return read;
}

/** Converts 32-bit words, the least significant one first, into a signed integer. */
function littleEndian(words: Uint32Array): bigint {
  const whole = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(32 * words.length, whole);
}
