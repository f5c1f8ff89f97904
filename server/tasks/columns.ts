/**
 * Made tasks as flat lists of texts and numbers: threads hand these on at a third of what a tree of objects for each task
 * costs.
 */
import type { Baseline, Parameters } from "../../envs/environment.ts";
import type { ChatMessage } from "../../envs/prompt.ts";
import type { MadeResult, MadeTask } from "./task.ts";

/** A place in each list for each task, unless said otherwise. */
export interface Columns {
  /** Why there is no task; empty: there is one. The other lists have no place for those without. */
  readonly problems: readonly string[];
  /** Which of the seed's attempts gave it. */
  readonly attempts: readonly number[];
  readonly hashes: readonly string[];
  readonly inlines: readonly (string | undefined)[];
  /** Value, bound, and 1 if proven: three places for each task, or none at all. */
  readonly baselines: readonly number[];
  /** How many messages its prompt has; and the messages of all, one after the other. */
  readonly messages: readonly number[];
  readonly roles: readonly ChatMessage["role"][];
  readonly contents: readonly string[];
  /** How many entries its metadata has; and the entries of all. */
  readonly entries: readonly number[];
  readonly names: readonly string[];
  readonly values: readonly string[];
}

export function toColumns(results: readonly MadeResult[]): Columns {
  const tasks = results.flatMap((result) => (result.kind === "made" ? [result.task] : []));
  const prompts = tasks.flatMap(({ prompt }) => prompt);
  const metadata = tasks.map((task) => Object.entries(task.metadata));
  const entries = metadata.flat();
  return {
    problems: results.map((result) => (result.kind === "made" ? "" : result.message)),
    attempts: tasks.map(attemptOf),
    hashes: tasks.map(({ key }) => key.hash),
    inlines: tasks.map(({ inline }) => inline),
    baselines: tasks.flatMap(({ key: { baseline } }) =>
      baseline === undefined ? [] : [baseline.value, baseline.bound, Number(baseline.proven)],
    ),
    messages: tasks.map(({ prompt }) => prompt.length),
    roles: prompts.map(({ role }) => role),
    contents: prompts.map(({ content }) => content),
    entries: metadata.map(({ length }) => length),
    names: entries.map(([name]) => name),
    values: entries.map(([, value]) => value),
  };
}

function attemptOf({ key: { origin } }: MadeTask): number {
  if (origin.kind !== "generated") throw new Error(`bug: a worker made a task of origin ${origin.kind}`);
  return origin.attempt;
}

/** What toColumns was given; `seeds` are those of the results. */
export function fromColumns(
  { parameters }: { readonly parameters: Parameters },
  seeds: readonly bigint[],
  columns: Columns,
): readonly MadeResult[] {
  const { problems, attempts, hashes, inlines, messages, roles, contents, entries, names, values } = columns;
  let task = 0;
  let message = 0;
  let entry = 0;
  return problems.map((problem, i): MadeResult => {
    if (problem !== "") return { kind: "exhausted", message: problem };
    const prompt: ChatMessage[] = [];
    for (const end = message + messages[task]!; message < end; message++)
      prompt.push({ role: roles[message]!, content: contents[message]! });
    const metadata: Record<string, string> = {};
    for (const end = entry + entries[task]!; entry < end; entry++) metadata[names[entry]!] = values[entry]!;
    const origin = { kind: "generated", parameters, seed: seeds[i]!, attempt: attempts[task]! } as const;
    const hash = hashes[task]!;
    const inline = inlines[task];
    const baseline = baselineAt(columns, task++);
    const key = baseline === undefined ? { origin, hash } : { origin, hash, baseline };
    return { kind: "made", task: inline === undefined ? { key, prompt, metadata } : { key, prompt, metadata, inline } };
  });
}

function baselineAt({ baselines }: Columns, task: number): Baseline | undefined {
  const at = 3 * task;
  if (baselines.length === 0) return undefined;
  return { value: baselines[at]!, bound: baselines[at + 1]!, proven: baselines[at + 2] === 1 };
}
