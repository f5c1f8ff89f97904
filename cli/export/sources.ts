/** Makes rows of training data from an evaluation's graded completions, or from the solvers' answers. */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AnswerFormatName,
  type ChatMessage as WireMessage,
  type EvaluationHandle,
  type GradusClient,
  type Sample,
  type ScoredOutcome,
  Split,
  type SplitName,
  type Task,
} from "../../clients/ts/src/public.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { Environment } from "../../envs/environment.ts";
import type { AnswerFormat, ChatMessage } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Local } from "../local.ts";
import { word } from "../print.ts";
import { CliProblem } from "../problem.ts";
import type { ScoreFilter } from "./filter.ts";
import type { GradedRow } from "./pairs.ts";
import type { ExportRow, RowSource } from "./rows.ts";

function rowOf(
  task: Task,
  written: readonly ChatMessage[],
  graded: Pick<ExportRow, "sample_index" | "source">,
  score: ScoredOutcome,
) {
  const { environment, version, level, groupId, prompt } = task;
  const { reward, solved, ratio = Number(solved) } = score;
  const messages = [...prompt.map(({ role, content }) => ({ role: role as "system" | "user", content })), ...written];
  const where = { environment, version, level, split: word(Split, task.split), group_id: groupId };
  return { messages, ...where, ...graded, ratio, reward, solved } satisfies ExportRow;
}

function assistant(content: string): ChatMessage {
  return { role: "assistant", content };
}

/**
 * Returns the messages after a sample's prompt. Undefined: they cannot be written, because the episode has calls of
 * tools, or its conversation was not submitted whole.
 */
function writtenIn(
  { completion, transcript = [], toolCalls = [] }: Sample,
  { message }: Partial<ScoredOutcome>,
): readonly ChatMessage[] | undefined {
  const calls = message?.result.case === "score" ? message.result.value.calls : 0;
  if (calls <= 1 && transcript.length === 0 && toolCalls.length === 0) return [assistant(completion)];
  const isText = ({ role, toolCalls: made }: WireMessage): boolean =>
    made.length === 0 && (role === "assistant" || role === "user");
  if (toolCalls.length > 0 || !transcript.every(isText)) return undefined;
  const before = transcript.map(({ role, content }) => ({ role: role as "assistant" | "user", content }));
  // An episode that its trainer ended may have an empty last completion, which made no call.
  const all = completion === "" ? before : [...before, assistant(completion)];
  return all.filter(({ role }) => role === "assistant").length === calls ? all : undefined;
}

/** Rows of training data from an evaluation, and warnings about completions that are left out. */
export interface Sifted {
  readonly rows: readonly GradedRow[];
  readonly warnings: readonly string[];
}

/** Returns the completions of an evaluation that have a reward and pass every filter, as rows of training data. */
export async function rowsOfEvaluation(
  evaluation: EvaluationHandle,
  environments: readonly string[],
  levels: readonly string[],
  filters: readonly ScoreFilter[] = [],
): Promise<Sifted> {
  const source = (await evaluation.get()).model;
  const wanted = (names: readonly string[], name: string): boolean => names.length === 0 || names.includes(name);
  const rows: GradedRow[] = [];
  const counts = new Map<string, Counts>();
  const leftOut = new Map<string, number>();
  const seen = { environments: new Set<string>(), levels: new Set<string>() };
  for await (const sample of evaluation.samples({ pageSize: 200 })) {
    const { task, sampleIndex, outcome } = sample;
    if (task === undefined || outcome?.kind !== "scored") continue;
    seen.environments.add(task.environment);
    seen.levels.add(task.level);
    if (!wanted(environments, task.environment) || !wanted(levels, task.level)) continue;
    const isKept = filters.every((filter) => filter.keeps(outcome));
    count(
      counts,
      task.environment,
      isKept,
      filters.filter((filter) => !filter.has(outcome)),
    );
    if (!isKept) continue;
    const written = writtenIn(sample, outcome);
    if (written === undefined) {
      leftOut.set(task.environment, (leftOut.get(task.environment) ?? 0) + 1);
      continue;
    }
    const row = rowOf(task, written, { sample_index: sampleIndex, source }, outcome);
    rows.push({ ...row, commitEnd: outcome.commit?.end, isConversation: written.length > 1 });
  }
  refuseUnseen("--environment", environments, seen.environments);
  refuseUnseen("--level", levels, seen.levels);
  const unwritten = [...leftOut].map(
    ([environment, episodes]) =>
      `${environment}: ${episodes} episodes are left out, because a row has no calls of tools, or not all of the conversation was submitted`,
  );
  return {
    rows,
    warnings: [...[...counts].flatMap(([environment, each]) => wordsOf(environment, each)), ...unwritten],
  };
}

/** Refuses a name that no graded completion has. Without this check, a typing error would silently leave out rows. */
function refuseUnseen(option: string, names: readonly string[], seen: ReadonlySet<string>): void {
  const unseen = names.find((name) => !seen.has(name));
  if (unseen === undefined) return;
  const there = seen.size === 0 ? "there are none at all" : `there are completions of ${[...seen].sort().join(", ")}`;
  throw new CliProblem("missing", `${option}: no graded completion is of ${option.slice(2)} '${unseen}': ${there}`);
}

/** Counts of an environment's completions that have a reward. */
interface Counts {
  graded: number;
  kept: number;
  /** Number of completions that lack the value of a condition, by the condition's text. */
  readonly without: Map<string, number>;
}

function count(
  counts: Map<string, Counts>,
  environment: string,
  isKept: boolean,
  lacking: readonly ScoreFilter[],
): void {
  const of: Counts = counts.get(environment) ?? { graded: 0, kept: 0, without: new Map() };
  counts.set(environment, of);
  of.graded++;
  if (isKept) of.kept++;
  for (const { text } of lacking) of.without.set(text, (of.without.get(text) ?? 0) + 1);
}

function wordsOf(environment: string, { graded, kept, without }: Counts): readonly string[] {
  const lacking = [...without].map(
    ([text, rows]) =>
      `${environment}: --where '${text}' asks for a value that ${rows} of ${graded} completions do not have`,
  );
  const none = `${environment}: none of ${graded} completions meets every --where, so none is written`;
  return kept === 0 ? [...lacking, none] : lacking;
}

export interface SolverChoice {
  readonly environments: readonly string[];
  /** Levels to use, in turns. If empty, all that may be used for training. */
  readonly levels: readonly string[];
  readonly split: SplitName;
  /** Number of tasks of each environment. */
  readonly count: number;
  readonly format?: AnswerFormatName | undefined;
}

/**
 * Number of seeds per call. The number is small, because the process does nothing else until the tasks of all these
 * seeds are solved.
 */
const CHUNK = 10;

/** Makes tasks with their solvers' answers in this process, on demand. Answers never go over the network. */
export function solverSources(local: Local, choice: SolverChoice): readonly RowSource[] {
  const named = chosen(local.deps.registry, choice).map(
    (environment) => [environment, levelsOf(environment, choice)] as const,
  );
  return named.map(([environment, levels]) => ({
    environment: environment.id,
    rows: solverRows(local, environment, levels, choice),
  }));
}

/** Makes rows from the levels of an environment in turns, so that any number of rows includes all levels. */
async function* solverRows(
  local: Local,
  environment: Environment,
  levels: readonly string[],
  choice: SolverChoice,
): AsyncGenerator<ExportRow, undefined, undefined> {
  // Give the first levels one task more if the count cannot be divided evenly.
  const countAt = (i: number): number =>
    Math.floor(choice.count / levels.length) + Number(i < choice.count % levels.length);
  const open = new Set(
    levels.map((level, i) => levelRows(local, environment, level, { ...choice, count: countAt(i) })),
  );
  while (open.size > 0)
    for (const rows of open) {
      const { value } = await rows.next();
      if (value === undefined) open.delete(rows);
      else yield value;
    }
  return undefined;
}

async function* levelRows(
  local: Local,
  environment: Environment,
  level: string,
  choice: SolverChoice,
): AsyncGenerator<ExportRow, undefined, undefined> {
  const { count } = choice;
  for (let from = 0; from < count; from += CHUNK) {
    const tasks = await tasksOf(local.client, environment, level, [from, Math.min(from + CHUNK, count)], choice);
    for (const task of tasks) yield await solvedRow(local, environment, task);
    // Pause, so that Ctrl-C and the progress bar work, because the rest of this loop never yields to the event loop.
    await nextTurn();
  }
  return undefined;
}

async function solvedRow({ client, deps }: Local, environment: Environment, task: Task): Promise<ExportRow> {
  const opened = deps.scorer.open(task.taskId);
  if (opened.kind === "none") throw new Error(opened.detail);
  const completion = solved(environment, opened.scoring.instance, opened.scoring.format);
  const outcome = await client.step(task, completion);
  if (outcome.kind !== "scored") throw new Error(`the solver's answer to a task of ${environment.id} has no score`);
  return rowOf(task, [assistant(completion)], { sample_index: 0, source: "solver" }, outcome);
}

/**
 * Returns the chosen environments, in the registry's order. If no environment is named, returns those that have one of
 * the given levels, or all if no environment has one.
 */
function chosen({ environments }: Registry, { environments: ids, levels }: SolverChoice): readonly Environment[] {
  // A row has one completion, so an episode of several turns cannot be written.
  const isOneTurn = ({ turns }: Environment): boolean => turns === undefined || turns.optional === true;
  const able = environments.filter(
    (each) => each.solver !== undefined && each.generator !== undefined && isOneTurn(each),
  );
  const unknown = ids.find((id) => !able.some((environment) => environment.id === id));
  if (unknown !== undefined)
    throw new CliProblem(
      "missing",
      `--environment: there is no '${unknown}' with a solver and tasks of one completion; there are: ${able.map(({ id }) => id).join(", ")}`,
    );
  if (ids.length > 0) return able.filter(({ id }) => ids.includes(id));
  const having = able.filter((environment) => environment.levels.some(({ name }) => levels.includes(name)));
  return having.length === 0 ? able : having;
}

function levelsOf({ id, levels }: Environment, choice: SolverChoice): readonly string[] {
  const allowed = levels.filter(({ evaluationOnly }) => choice.split !== "train" || evaluationOnly !== true);
  const usual = allowed.filter(({ byName }) => choice.split !== "train" || byName !== true);
  const named = allowed.filter(({ name }) => choice.levels.includes(name));
  const names = (choice.levels.length === 0 ? usual : named).map(({ name }) => name);
  if (names.length > 0) return names;
  throw new CliProblem("usage", `--level: ${id} has ${allowed.map(({ name }) => name).join(", ")}`);
}

async function tasksOf(
  client: GradusClient,
  { id: environment }: Environment,
  level: string,
  [from, to]: readonly [from: number, to: number],
  { split, format: answerFormat }: SolverChoice,
): Promise<readonly Task[]> {
  const seeds = Array.from({ length: to - from }, (_, i) => from + i);
  const results = await client.batchReset({ environment, level, split, answerFormat, seeds });
  return results.map(({ result }) => {
    if (result.case === "task") return result.value;
    throw new CliProblem("failure", result.value?.message ?? "a task could not be made");
  });
}

function solved(environment: Environment, instance: unknown, format: AnswerFormat): string {
  const { solver } = environment;
  if (solver === undefined) throw new Error("bug: the chosen environment has no solver");
  return wrapAnswer(solver.format(solver.solve(instance).answer), format);
}
