/** Samples a pool's file: rows are filtered, chosen in proportion, and copied unchanged. */
import type { Environment } from "../../envs/environment.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import { examineRow, type RawRow, viewOf } from "../../envs/pool-columns.ts";
import { nameRow } from "../../envs/pool-finish.ts";
import { createReasonCounter } from "../../envs/pool-reasons.ts";
import { type ColumnNames, wantedColumns } from "../../envs/pool-view.ts";
import { instanceHash } from "../../envs/splits.ts";
import type { ColumnChoice } from "../../server/rows/formats/parquet.ts";
import { columnRemedy } from "../../server/rows/report.ts";
import { columnsOf, openSource, problemText, type Source } from "../../server/rows/pool-files.ts";
import type { Condition } from "../conditions.ts";
import { formatOf } from "../export/write.ts";
import { refuseSame, withOut } from "../out.ts";
import { CliProblem, fileProblem } from "../problem.ts";
import { chooseRows } from "./choose.ts";
import { fieldOf, fileRows, valueOf } from "./stream.ts";
import { copyLines, copyParquet } from "./write.ts";

export interface SampleOptions {
  readonly path: string;
  readonly out: string;
  /**
   * Environment in which each row must be a task. Other rows, and rows with the same task as an earlier row, are
   * dropped. Undefined: rows are not read as tasks.
   */
  readonly environment: Environment | undefined;
  /** Name of the column for each field that the environment reads, if the user gave one. */
  readonly columns: ColumnNames;
  /** Conditions that a row must all meet. */
  readonly where: readonly Condition[];
  /** Maximum size of the rendered prompt, in bytes. */
  readonly promptBytesMax: number | undefined;
  /** Field whose values are the categories. */
  readonly by: string | undefined;
  /** Number of rows to take. Infinity means all. */
  readonly count: number;
  readonly seed: string;
  /** Size in bytes of the parts in which a text file is read. Unset: the default of the pool reader. */
  readonly chunkBytes?: number;
  /** Receives the number of finished parts of the file. Each part is read twice and counts twice. */
  readonly onProgress: (done: number, total: number) => void;
}

export type SampleReport = Awaited<ReturnType<typeof samplePool>>;

const UNNAMED = "(none)";

export async function samplePool(options: SampleOptions) {
  const { path, out, seed, count } = options;
  const source = await openSource(path, options.chunkBytes).catch((error: unknown) => {
    throw fileProblem(`${path}: ${problemText(error)}`, "usage");
  });
  const copy = copierOf(path, out, source);
  const progress = (before: number) => (part: number) => options.onProgress(before + part, 2 * source.parts);
  return withOut("--out", out, async (to) => {
    try {
      const sifted = await sift(options, source, progress(0));
      const chosen = chooseRows(sifted.categories, count, seed);
      const rows = new Set(chosen.flatMap((each) => each.rows));
      if (rows.size === 0)
        throw new CliProblem("failure", `${path}: no row is left; ${sifted.why}${columnRemedy(sifted.why)}`);
      await copy({ source, rows, to, onPart: progress(source.parts) });
      return {
        file: path,
        out,
        seed,
        rows: sifted.rows,
        dropped: sifted.dropped,
        taken: rows.size,
        /** Number of rows of each category that passed the filters, and the number that was taken. */
        categories: chosen.map((each) => ({ category: each.name, rows: each.available, taken: each.rows.length })),
      };
    } catch (error) {
      // A full disk is an error of the output, so it is not reported as a fault of the input file.
      if (error instanceof CliProblem || (error as NodeJS.ErrnoException).syscall === "write") throw error;
      // Report other errors as faults of the file. The Parquet reader throws plain errors for invalid files.
      throw fileProblem(`${path}: ${problemText(error)}`);
    }
  });
}

/** Returns the function that copies rows from the input's format to the output's. */
function copierOf(path: string, out: string, { format: from }: Source): typeof copyLines {
  const format = formatOf(out);
  if (format === undefined) throw new CliProblem("usage", `--out must end in .jsonl or .parquet; got '${out}'`);
  refuseSame("--out", path, out);
  if (format === "jsonl") return copyLines;
  if (from === "parquet") return copyParquet;
  throw new CliProblem(
    "usage",
    `--out must end in .jsonl, because ${path} is not Parquet and its columns have no types`,
  );
}

type Sieved = { readonly category: string } | { readonly why: string };

async function sift(options: SampleOptions, source: Source, onPart: (part: number) => void) {
  const { where, by } = options;
  const names = [...where.map(({ name }) => name), ...(by === undefined ? [] : [by])];
  const found = new Set<string>();
  const categories = new Map<string, number[]>();
  const dropped = new Map<string, { row: number; count: number }>();
  const reasons = createReasonCounter();
  const lines = source.format === "lines";
  const sieve = sieveOf(options, lines, (rejected) => reasons.add(rejected));
  let rows = 0;
  for await (const row of fileRows(source, choiceOf(options, names), onPart)) {
    if (row.json?.trim() === "") continue;
    rows++;
    const value = valueOf(row);
    for (const name of names) if (!found.has(name) && fieldOf(value, name) !== undefined) found.add(name);
    const sieved = sieve(row, value);
    if (sieved === undefined) continue;
    if ("why" in sieved) {
      const before = dropped.get(sieved.why);
      dropped.set(sieved.why, { row: before?.row ?? row.row, count: (before?.count ?? 0) + 1 });
    } else {
      const list = categories.get(sieved.category) ?? [];
      categories.set(sieved.category, list);
      list.push(row.row);
    }
  }
  const unknown = names.find((name) => !found.has(name));
  if (rows > 0 && unknown !== undefined) throw await unknownField(source, unknown, unknown === by ? "--by" : "--where");
  const counted = [...[...dropped].map(([reason, each]) => ({ reason, ...each })), ...reasons.counted()];
  const all = counted
    .toSorted((a, b) => a.row - b.row)
    .map(({ row, reason, count }) => ({ rows: count, first: nameRow(lines, row), why: reason }));
  const why = rows === 0 ? "it is empty" : all.map((each) => `${each.rows}: ${each.why}`).join("; ");
  const sorted = [...categories].sort(([a], [b]) => (a < b ? -1 : 1));
  return { rows, categories: sorted.map(([name, own]) => ({ name, rows: own })), dropped: all, why };
}

/**
 * Returns a function that gives the category of a row, or the reason for dropping it. If the row holds no task, or the
 * same task as an earlier row, the function calls `reject` and returns undefined.
 */
function sieveOf(
  { environment, columns, where, promptBytesMax, by }: SampleOptions,
  lines: boolean,
  reject: (rejected: { readonly row: number; readonly reason: string; readonly count: number }) => void,
): (row: RawRow, value: unknown) => Sieved | undefined {
  /** Row number of the first row with each task, by the task's hash. */
  const firsts = new Map<string, number>();
  const view = environment && viewOf(environment, columns);
  return (raw, value) => {
    const { row } = raw;
    if (value === undefined && environment === undefined) return { why: "not JSON" };
    const fault =
      value === undefined ? undefined : where.find((condition) => !condition.holds(fieldOf(value, condition.name)));
    if (fault !== undefined) return { why: `not ${fault.text}` };
    if (environment !== undefined) {
      const examined = examineRow(environment, raw, view);
      if (examined.kind !== "task") {
        reject({ row, reason: examined.kind === "rejected" ? examined.reason : "blank", count: 1 });
        return undefined;
      }
      const hash = instanceHash(environment, examined.instance);
      const first = firsts.get(hash);
      if (first !== undefined) {
        reject({ row, reason: `the same task as ${nameRow(lines, first)}`, count: 1 });
        return undefined;
      }
      firsts.set(hash, row);
      if (promptBytesMax !== undefined && promptBytes(environment, examined.instance) > promptBytesMax)
        return { why: `a prompt of over ${promptBytesMax} bytes` };
    }
    return { category: by === undefined ? "all" : categoryOf(fieldOf(value, by)) };
  };
}

function promptBytes(environment: Environment, instance: unknown): number {
  const [format] = environment.answerFormats;
  const prompt = environment.render(instance, format ?? "think_answer");
  return prompt.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
}

function categoryOf(value: unknown): string {
  if (value === undefined || value === null) return UNNAMED;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Chooses the columns that filtering needs, for file formats that have columns. */
function choiceOf({ environment, columns }: SampleOptions, fields: readonly string[]): ColumnChoice {
  return (there) => {
    const own = environment && wantedColumns(environment.rows ?? {}, columns, there);
    if (environment !== undefined && own === undefined) return undefined;
    const named = fields.map((name) => (there.includes(name) ? name : (name.split(".")[0] ?? name)));
    const wanted = new Set([...named, ...(own ?? [])]);
    return there.filter((name) => wanted.has(name));
  };
}

async function unknownField(source: Source, name: string, option: string): Promise<CliProblem> {
  const columns = await columnsOf(source);
  const more =
    didYouMean(name, columns) || `; its columns are ${columns.join(", ") || "unknown: it holds no rows with fields"}`;
  return new CliProblem("usage", `${option}: no row of ${source.path} has '${name}'${more}`);
}
