/** Defines rows of training data in chat format, and selects the rows to keep. */
import type { ChatMessage } from "../../envs/prompt.ts";

/** Row of training data: a prompt with the completion to be learnt. */
export interface ExportRow {
  /** Prompt, followed by the completion as the assistant's message. */
  readonly messages: readonly ChatMessage[];
  readonly environment: string;
  readonly version: number;
  /** Name of the level. Empty if the task was made from parameters. */
  readonly level: string;
  readonly split: string;
  /** Id that completions of the same prompt share. */
  readonly group_id: string;
  readonly sample_index: number;
  /** Ratio of the answer to the best one, from 0 to 1. For answers that are only right or wrong, 1 or 0. */
  readonly ratio: number;
  readonly reward: number;
  readonly solved: boolean;
  /** Model that wrote the completion, or "solver". */
  readonly source: string;
}

export interface Selection {
  readonly rows: readonly ExportRow[];
  /** Number of rows of each environment that passed the filter, before a selection took the same number of each. */
  readonly available: ReadonlyMap<string, number>;
}

/**
 * Selects rows with a ratio above a bound, the same number for each environment (FORGE A.3.2: 1,000 per task). The
 * number is `perEnvironment`, or that of the environment with the fewest rows. Within an environment each prompt gives
 * one row before any gives a second one, so that prompts with many good completions do not dominate. Levels take turns,
 * because suites begin with the easiest. In the result, environments take turns.
 */
export function selectEvenly(rows: readonly ExportRow[], ratioAbove: number, perEnvironment?: number): Selection {
  const good = rows.filter(({ ratio }) => ratio > ratioAbove);
  const byEnvironment = Map.groupBy(good, ({ environment }) => environment);
  const names = [...new Set(rows.map(({ environment }) => environment))].sort();
  const available = new Map(names.map((name) => [name, byEnvironment.get(name)?.length ?? 0]));
  const count = perEnvironment ?? Math.min(...available.values());
  const kept = names.map((name) => promptByPrompt(byEnvironment.get(name) ?? []).slice(0, count));
  return { rows: inTurns(kept), available };
}

function promptByPrompt(rows: readonly ExportRow[]): readonly ExportRow[] {
  const prompts = [...Map.groupBy(rows, ({ group_id }) => group_id).values()];
  return inTurns(inTurns([...Map.groupBy(prompts, ([first]) => first?.level).values()]));
}

/** Returns the first item of each list, then the second of each, and so on. */
function inTurns<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Rows of one environment, made on demand. */
export interface RowSource {
  readonly environment: string;
  readonly rows: AsyncIterator<ExportRow, undefined>;
}

/**
 * Selects rows as selectEvenly does, but from rows that are made on demand, each with its own prompt. A round takes one
 * good row of each environment. `available` counts good rows as they are found.
 */
export async function* takeEvenly(
  sources: readonly RowSource[],
  available: Map<string, number>,
  ratioAbove: number,
  perEnvironment?: number,
): AsyncGenerator<ExportRow, void, undefined> {
  for (let round = 0; round < (perEnvironment ?? Infinity); round++) {
    const good: ExportRow[] = [];
    for (const { environment, rows } of sources) {
      const row = await nextGood(rows, ratioAbove);
      available.set(environment, (available.get(environment) ?? 0) + Number(row !== undefined));
      if (row !== undefined) good.push(row);
      else if (perEnvironment === undefined) return;
    }
    if (good.length === 0) return;
    yield* good;
  }
}

async function nextGood(rows: AsyncIterator<ExportRow, undefined>, ratioAbove: number): Promise<ExportRow | undefined> {
  for (;;) {
    const { value } = await rows.next();
    if (value === undefined || value.ratio > ratioAbove) return value;
  }
}
