/** Rows of training data in chat format, and which of them are kept. Pure. */
import type { ChatMessage } from "../../envs/prompt.ts";

/** One row: a prompt with the completion that is to be learnt. */
export interface ExportRow {
  /** The prompt, and the completion as the assistant's message. */
  readonly messages: readonly ChatMessage[];
  readonly environment: string;
  readonly version: number;
  /** Empty: parameters were given. */
  readonly level: string;
  readonly split: string;
  /** The same for completions of one prompt. */
  readonly group_id: string;
  readonly sample_index: number;
  /** In [0, 1]; where an answer is right or not: 1 or 0. */
  readonly ratio: number;
  readonly reward: number;
  readonly solved: boolean;
  /** The model that wrote the completion, or "solver". */
  readonly source: string;
}

export interface Selection {
  readonly rows: readonly ExportRow[];
  /** Rows of each environment that passed the filter, before they were made even. */
  readonly available: ReadonlyMap<string, number>;
}

/**
 * Rows with a ratio above a bound, as many of each environment (FORGE A.3.2: 1,000 per task): of each `perEnvironment`,
 * or as many as the scarcest has. An environment's rows are taken prompt by prompt, one of each before a second of any,
 * so that prompts with many good completions do not crowd out others, and its levels take turns: suites begin with the
 * easiest. Environments take turns in what comes out.
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

/** The first of each list, then the second of each, and so on. */
function inTurns<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Rows of one environment, made as they are taken. */
export interface RowSource {
  readonly environment: string;
  readonly rows: AsyncIterator<ExportRow, undefined>;
}

/**
 * The same choice from rows that are made as they are taken, each of another prompt: a round takes one good row of each
 * environment. `available` counts good rows as they are found.
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
