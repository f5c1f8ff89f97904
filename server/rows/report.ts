/** Describes a pool as plain values, for the server's log and for `gradus pools check`. */
import { groupCounts, type Pool, rowOf } from "../../envs/pool.ts";
import { nameRow } from "../../envs/pool-finish.ts";
import type { ChatMessage } from "../../envs/prompt.ts";

/**
 * Counts the rows of a pool that were rejected for the same reason, or whose prompts contain the same kind of
 * instruction.
 */
interface CountedRows {
  readonly rows: number;
  /** Place in the pool's file of the first row that is counted, for example "line 3". */
  readonly first: string;
  readonly reason: string;
}

export type PoolReportView = ReturnType<typeof reportOf>;

/** Prompt and correct answer of a row. */
export interface ExampleView {
  readonly row: string;
  readonly prompt: readonly ChatMessage[];
  /** Correct answer. Undefined: the environment has neither a reference answer nor a solver for the row. */
  readonly answer: string | undefined;
}

/** Returns the pool's first row as an example. Undefined: the pool has no rows. */
export function exampleOf(pool: Pool): ExampleView | undefined {
  if (pool.size === 0) return undefined;
  const { definition, lines } = pool;
  const { index, instance } = rowOf(pool, 0);
  const [format] = definition.answerFormats;
  const answer =
    definition.reference?.(instance) ??
    (definition.solver && definition.solver.format(definition.solver.solve(instance).answer));
  return { row: nameRow(lines, index), prompt: definition.render(instance, format ?? "think_answer"), answer };
}

/**
 * If a reason for a rejection names a missing column, returns advice to append: the column may have another name in the
 * file. Otherwise returns "".
 */
export function columnRemedy(reason: string): string {
  const [, name] = /\b(?:column|one of) (\w+)/.exec(reason) ?? [];
  return name === undefined ? "" : `; if the column has another name in the file, give it: --column ${name}=NAME`;
}

/**
 * Returns one line for each reason why rows were rejected, with the place of the first such row, e.g. "qa.jsonl:3: …
 * (and 2 more rows)". Formats without lines show the row's number instead.
 */
export function remarkLines(path: string, { lines, rejections, instructions }: Pool): readonly string[] {
  return [...rejections, ...instructions].map(({ row, reason, count }) => {
    const place = lines ? `${path}:${row + 1}` : `${path}: ${nameRow(lines, row)}`;
    return `${place}: ${reason}${count > 1 ? ` (and ${count - 1} more rows)` : ""}`;
  });
}

function contradictionText({ lines, contradictions: { first } }: Pool): { readonly first?: string } {
  return first === undefined ? {} : { first: `${nameRow(lines, first[0])} and ${nameRow(lines, first[1])}` };
}

/**
 * Returns a warning about rows with the same question and different answers, for the person who fixes the file.
 * Undefined: there are no such rows.
 */
export function contradictionLine(path: string, pool: Pool): string | undefined {
  const { rows } = pool.contradictions;
  if (rows === 0) return undefined;
  return `${path}: ${rows} rows have the question of another row but a different answer, such as ${contradictionText(pool).first}`;
}

export function reportOf(pool: Pool) {
  const { name, definition, size, rejected, rejections, leftOut, unchecked, lines } = pool;
  const { repeats, contradictions, ranking, taken, instructions } = pool;
  const counted = (rows: Pool["rejections"]): readonly CountedRows[] =>
    rows.map(({ row, reason, count }) => ({ rows: count, first: nameRow(lines, row), reason }));
  const ranks: { readonly by?: string; readonly none?: string } =
    ranking.source === undefined ? { none: ranking.reason ?? "" } : { by: ranking.source };
  return {
    pool: name,
    environment: definition.id,
    version: definition.version,
    /** Number of rows that give a task. */
    rows: size,
    /** Number of rows that give a task, by level and split. Pairs without rows are left out. */
    groups: groupCounts(pool),
    rejected,
    /** Rejected rows by reason, ordered by the first row of each reason. */
    rejections: counted(rejections),
    /** Rows that give a task but tell the model how to write its answer, by kind of instruction. */
    instructions: counted(instructions),
    /** Number of rows that the selection leaves out. */
    leftOut,
    /** Number of rows that could not be checked. They count as giving a task. */
    unchecked,
    /** Number of rows that were rejected because an earlier row gives the same task. */
    repeats,
    /** Names of the fields that were read from each column, with the number of rows. */
    taken,
    /** Number of rows with the question of an earlier row but another answer. `first` names the first such pair. */
    contradictions: { rows: contradictions.rows, ...contradictionText(pool) },
    /** Name of the measure that ranks the rows by difficulty, or the reason why they have no ranks. */
    ranks,
  };
}
