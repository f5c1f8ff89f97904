/** Reports on a pool's file, in plain values, for the server's log and for `gradus pools check`. */
import { groupCounts, type Pool, rowOf } from "../../envs/pool.ts";
import { nameRow } from "../../envs/pool-finish.ts";
import type { ChatMessage } from "../../envs/prompt.ts";

/** Rows with one reason. */
interface CountedRows {
  readonly rows: number;
  /** For example "line 3". */
  readonly first: string;
  readonly reason: string;
}

export type PoolReportView = ReturnType<typeof reportOf>;

/** A row's prompt and its right answer. */
export interface ExampleView {
  readonly row: string;
  readonly prompt: readonly ChatMessage[];
  /** Undefined: the environment has no answer to show. */
  readonly answer: string | undefined;
}

/** Returns the first row as an example; undefined: the pool has no rows. */
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
 * Returns advice for the end of a reason that names a missing column: the column may have another name. Else returns
 * "".
 */
export function columnRemedy(reason: string): string {
  const [, name] = /\b(?:column|one of) (\w+)/.exec(reason) ?? [];
  return name === undefined ? "" : `; where that column has another name, give it: --column ${name}=NAME`;
}

/**
 * Returns rejected rows by reason, each with the place of its first row: "qa.jsonl:3: … (and 2 more rows)". Rows of
 * Parquet have no lines.
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
 * Returns a line about rows that contradict each other, for the person who mends the file; undefined: there are none.
 */
export function contradictionLine(path: string, pool: Pool): string | undefined {
  const { rows } = pool.contradictions;
  if (rows === 0) return undefined;
  return `${path}: ${rows} rows are asked what another row is asked and have another answer, such as ${contradictionText(pool).first}`;
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
    /** Number of rows that hold a task. */
    rows: size,
    /** Number of rows that hold a task by level and split, without empty groups. */
    groups: groupCounts(pool),
    rejected,
    /** Rejected rows by reason, in the order of their first rows. */
    rejections: counted(rejections),
    /** Instructions about the form of the answer in rows that hold a task, by kind. */
    instructions: counted(instructions),
    /** Number of rows that the selection leaves out. */
    leftOut,
    /** Number of rows that could not be checked, and count as holding a task. */
    unchecked,
    /** Number of rejected rows whose task came before. */
    repeats,
    /** Fields that were read from each column, with the number of rows. */
    taken,
    /** Number of rows with the question of an earlier row and another answer; the first of them in words. */
    contradictions: { rows: contradictions.rows, ...contradictionText(pool) },
    /** The measure by which rows are ranked, or why they have no ranks. */
    ranks,
  };
}
