/** What a server makes of a pool's file, in plain values: the line of its log, and what `gradus pools check` says. */
import { groupCounts, type Pool, rowOf } from "../../envs/pool.ts";
import { nameRow } from "../../envs/pool-finish.ts";
import type { ChatMessage } from "../../envs/prompt.ts";

/** Rows of which one thing is said. */
interface CountedRows {
  readonly rows: number;
  /** E.g. "line 3". */
  readonly first: string;
  readonly reason: string;
}

export type PoolReportView = ReturnType<typeof reportOf>;

/** What a row is as a policy is asked it, and the answer that is right. */
export interface ExampleView {
  readonly row: string;
  readonly prompt: readonly ChatMessage[];
  /** Undefined: the environment has none to show. */
  readonly answer: string | undefined;
}

/** The first row; undefined: there is none. */
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

/** What to do where a row is refused because a column has another name, for the end of the reason; else nothing. */
export function columnRemedy(reason: string): string {
  const [, name] = /\b(?:column|one of) (\w+)/.exec(reason) ?? [];
  return name === undefined ? "" : `; where that column has another name, give it: --column ${name}=NAME`;
}

/** Rejected rows by kind, each where its first one stands: "qa.jsonl:3: … (and 2 more rows)"; rows of Parquet have no lines. */
export function remarkLines(path: string, { lines, rejections, instructions }: Pool): readonly string[] {
  return [...rejections, ...instructions].map(({ row, reason, count }) => {
    const place = lines ? `${path}:${row + 1}` : `${path}: ${nameRow(lines, row)}`;
    return `${place}: ${reason}${count > 1 ? ` (and ${count - 1} more rows)` : ""}`;
  });
}

function contradictionText({ lines, contradictions: { first } }: Pool): { readonly first?: string } {
  return first === undefined ? {} : { first: `${nameRow(lines, first[0])} and ${nameRow(lines, first[1])}` };
}

/** Rows that contradict each other, for whoever is to mend them; undefined: there are none. */
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
    /** Rows that hold a task. */
    rows: size,
    /** Rows that hold a task by level and split, where there are any. */
    groups: groupCounts(pool),
    rejected,
    /** Rejected rows by the kind of reason, in the order of their first rows. */
    rejections: counted(rejections),
    /** Instructions about the form of the answer in rows that hold a task, by kind. */
    instructions: counted(instructions),
    /** Rows that the selection leaves out. */
    leftOut,
    /** Rows that hold a task as far as is known: what checks them could not be asked. */
    unchecked,
    /** Rejected rows that hold a task that came before. */
    repeats,
    /** The fields that were taken from each column, by how many rows. */
    taken,
    /** Rows that are asked what a row before them is asked, and have another answer; the first of them in words. */
    contradictions: { rows: contradictions.rows, ...contradictionText(pool) },
    /** The measure that rows are ranked by, or why they have no ranks. */
    ranks,
  };
}
