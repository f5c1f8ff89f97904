/** Reads stored completions from a file, and puts the completions of one prompt into groups. */
import {
  answerFormatNames,
  type FinishReasonName,
  splitNames,
  type TaskChoice,
  thinkingNames,
} from "../../clients/ts/src/public.ts";
import { isRawNumber, numberText } from "../../envs/lib/exact-json.ts";
import { nameRow } from "../../envs/pool-finish.ts";
import { contentOf, openSource, problemText, type Source } from "../../server/rows/pool-files.ts";
import { fileRows, valueOf } from "../pools/stream.ts";
import { CliProblem, fileProblem } from "../problem.ts";

/**
 * Type of a column's values. `wanted` describes the type in error messages. `read` returns a value, or undefined if the
 * value is of another type.
 */
interface Kind<T> {
  readonly wanted: string;
  readonly read: (value: unknown) => T | undefined;
}

const text: Kind<string> = { wanted: "a text", read: (value) => (typeof value === "string" ? value : undefined) };
const flag: Kind<boolean> = {
  wanted: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};
const number: Kind<number> = {
  wanted: "a number",
  read: (value) => (isRawNumber(value) ? Number(value.rawJSON) : typeof value === "number" ? value : undefined),
};
/** Reads a whole number as a text of digits, because JavaScript would round a 64-bit seed. */
const digits: Kind<string> = {
  wanted: "a whole number from 0",
  read: (value) => /^\d{1,20}$/.exec(typeof value === "string" ? value : (numberText(value) ?? ""))?.[0],
};
const count: Kind<number> = {
  wanted: "a whole number from 0 to 2^32 - 1",
  read: (value) => [Number(digits.read(value) ?? NaN)].find((found) => found < 2 ** 32),
};
const word = <Word extends string>(words: readonly Word[]): Kind<Word> => ({
  wanted: `one of ${words.join(", ")}`,
  read: (value) => words.find((each) => each === value),
});

/** Columns of the file that are read, with the types of their values. Other columns are ignored. */
const COLUMNS = {
  task_id: text,
  environment: text,
  version: count,
  level: text,
  seed: digits,
  split: word(splitNames),
  answer_format: word(answerFormatNames),
  thinking: word(thinkingNames),
  completion: text,
  finish_reason: text,
  group_id: text,
  sample_index: count,
  num_generations: count,
  arm: text,
  sample: text,
  reward: number,
  verdict: text,
  solved: flag,
  rloo_advantage: number,
  grpo_advantage: number,
} as const;

type Column = keyof typeof COLUMNS;

/** Row of a file, in which null and missing fields are undefined. */
export type StoredRow = { readonly [Name in Column]?: ReturnType<(typeof COLUMNS)[Name]["read"]> };

/** Task of a stored completion: its id, or a specification with a seed, from which it is made again. */
export type StoredTask =
  | { readonly kind: "id"; readonly taskId: string }
  | { readonly kind: "seed"; readonly choice: TaskChoice; readonly seed: string };

export interface StoredCompletion {
  /** Name of the sample at its source, e.g. "#12" in a run. By default its row in the file. */
  readonly name: string;
  readonly sampleIndex: number;
  readonly text: string;
  readonly finishReason: FinishReasonName | undefined;
  /** Score that the completion had before. Fields that the file does not have are undefined. */
  readonly before: Pick<StoredRow, "reward" | "verdict" | "solved" | "rloo_advantage" | "grpo_advantage">;
}

/** Completions of one prompt, whose advantages are computed together. */
export interface StoredGroup {
  readonly id: string;
  readonly task: StoredTask;
  /** Arm of the run from which the task was drawn. Empty: the file names none. */
  readonly arm: string;
  /** Number of completions of the whole group. If the file has fewer of them, the group gets no advantages. */
  readonly size: number;
  /** Completions, sorted by their indices in the group. */
  readonly completions: readonly StoredCompletion[];
}

/** Maximum length of all completions of a file together, in UTF-16 units, because they are held in memory. */
const LENGTH_MAX = 512 * 1024 ** 2;

function opened(path: string): Promise<Source> {
  return openSource(path).catch((error: unknown) => {
    throw fileProblem(`'${path}': ${problemText(error)}`);
  });
}

/** Returns the SHA-256 of a file, in hex. */
export async function digestOf(path: string): Promise<string> {
  return contentOf(await opened(path));
}

/** Returns the groups of a file in the order of their first completions. */
export async function readStored(path: string): Promise<readonly StoredGroup[]> {
  const source = await opened(path);
  const groups = new Map<string, OpenGroup>();
  let length = 0;
  for await (const raw of fileRows(source, (there) => there.filter((name) => Object.hasOwn(COLUMNS, name)))) {
    if (raw.json?.trim() === "") continue;
    const at = nameRow(source.format === "lines", raw.row);
    const refuse = (words: string): never => {
      throw new CliProblem("usage", `'${path}', ${at}: ${words}`);
    };
    const row = rowOf(raw.problem === undefined ? valueOf(raw) : refuse(raw.problem), refuse);
    addRow(groups, row, at, refuse);
    length += row.completion?.length ?? 0;
    if (length > LENGTH_MAX) refuse(`the completions have over ${LENGTH_MAX} characters so far: split the file`);
  }
  if (groups.size === 0) throw new CliProblem("usage", `'${path}' has no completions`);
  return [...groups.values()].map(({ places, size, ...group }) => {
    const completions = [...places.values()].sort((a, b) => a.sampleIndex - b.sampleIndex);
    return { ...group, size: Math.max(size, completions.length), completions };
  });
}

type Refuse = (words: string) => never;

function rowOf(value: unknown, refuse: Refuse): StoredRow {
  if (typeof value !== "object" || value === null) return refuse("the row is not a JSON object");
  const fields = value as Readonly<Record<string, unknown>>;
  const read = Object.entries<Kind<unknown>>(COLUMNS).map(([name, kind]) => {
    const field = fields[name] ?? undefined;
    return [name, field === undefined ? undefined : (kind.read(field) ?? refuse(`${name}: must be ${kind.wanted}`))];
  });
  return Object.fromEntries(read) as StoredRow;
}

/** Group that is being filled, with its completions by their indices. */
interface OpenGroup extends Omit<StoredGroup, "completions"> {
  readonly places: Map<number, StoredCompletion>;
}

function addRow(groups: Map<string, OpenGroup>, row: StoredRow, at: string, refuse: Refuse): void {
  const { arm = "", num_generations: size = 0, finish_reason: reason } = row;
  const task = taskOf(row, refuse);
  const key = JSON.stringify(task);
  const id = row.group_id ?? key;
  const group: OpenGroup = groups.get(id) ?? { id, task, arm, size, places: new Map() };
  groups.set(id, group);
  if (JSON.stringify(group.task) !== key) refuse("group_id: an earlier row of this group has another task");
  const { sample_index: sampleIndex = group.places.size, sample: name = at } = row;
  const earlier = group.places.get(sampleIndex)?.name;
  if (earlier !== undefined) refuse(`sample_index: ${sampleIndex} is also that of ${earlier}, of the same group`);
  const finishReason = reason === "length" || reason === "stop" ? reason : undefined;
  const text = row.completion ?? refuse("completion: must be set");
  const { reward, verdict, solved, rloo_advantage, grpo_advantage } = row;
  const before = { reward, verdict, solved, rloo_advantage, grpo_advantage };
  group.places.set(sampleIndex, { name, sampleIndex, text, finishReason, before });
}

function taskOf(row: StoredRow, refuse: Refuse): StoredTask {
  if (row.task_id) return { kind: "id", taskId: row.task_id };
  const environment = row.environment ?? refuse("task_id: must be set, or 'environment' and 'seed' must");
  const seed = row.seed ?? refuse("seed: must be set if there is no 'task_id'");
  const { version, level, split, answer_format: answerFormat, thinking } = row;
  return { kind: "seed", seed, choice: { environment, version, level, split, answerFormat, thinking } };
}
