/** Where rows come from: an evaluation's graded completions, or the solvers' answers. */
import { wrapAnswer } from "../../../envs/answer-format.ts";
import type { AnswerFormat, Environment } from "../../../envs/environment.ts";
import { environments } from "../../../envs/registry.ts";
import { Split } from "../../../clients/ts/src/public.ts";
import type {
  AnswerFormatName,
  EvaluationHandle,
  GradusClient,
  Sample,
  Score,
  SplitName,
  Task,
} from "../../../clients/ts/src/public.ts";
import type { Local } from "../local.ts";
import { word } from "../print.ts";
import { CliProblem } from "../problem.ts";
import type { ExportRow } from "./rows.ts";

function rowOf(task: Task, completion: string, graded: Pick<ExportRow, "sample_index" | "source">, score: Score) {
  const { environment, version, level, groupId, prompt } = task;
  const { reward, solved, ratio = Number(solved) } = score;
  const messages = [
    ...prompt.map(({ role, content }) => ({ role: role as "system" | "user", content })),
    { role: "assistant" as const, content: completion },
  ];
  const where = { environment, version, level, split: word(Split, task.split), group_id: groupId };
  return { messages, ...where, ...graded, ratio, reward, solved } satisfies ExportRow;
}

/** Completions with a reward. */
export async function rowsOfEvaluation(evaluation: EvaluationHandle): Promise<readonly ExportRow[]> {
  const source = (await evaluation.get()).model;
  const rows: ExportRow[] = [];
  for await (const sample of evaluation.samples({ pageSize: 200 })) rows.push(...rowsOfSample(sample, source));
  return rows;
}

function rowsOfSample({ task, sampleIndex, completion, outcome }: Sample, source: string): readonly ExportRow[] {
  if (task === undefined || outcome?.result.case !== "score") return [];
  return [rowOf(task, completion, { sample_index: sampleIndex, source }, outcome.result.value)];
}

export interface SolverChoice {
  readonly environments: readonly string[];
  /** Empty: all that may be trained on, in turns. */
  readonly levels: readonly string[];
  readonly split: SplitName;
  /** Tasks of each environment. */
  readonly count: number;
  readonly format?: AnswerFormatName | undefined;
}

/** Seeds that one call asks for. */
const CHUNK = 100;

/** Tasks with their solvers' answers, made in this process: no answer ever goes over the wire. */
export async function rowsOfSolvers({ client, deps }: Local, choice: SolverChoice): Promise<readonly ExportRow[]> {
  const rows: ExportRow[] = [];
  for (const environment of chosen(choice.environments)) {
    const levels = levelsOf(environment, choice);
    for (const [i, level] of levels.entries()) {
      // The first levels have one task more where the count does not come out even.
      const count = Math.floor(choice.count / levels.length) + Number(i < choice.count % levels.length);
      for (const task of await tasksOf(client, environment, level, count, choice)) {
        const opened = deps.scorer.open(task.taskId);
        if (opened.kind === "none") throw new Error(opened.detail);
        const completion = solved(environment, opened.scoring.instance, opened.scoring.format);
        const outcome = await client.step(task, completion);
        if (outcome.result.case !== "score") throw new Error(`a solver's answer of ${environment.id} has no score`);
        rows.push(rowOf(task, completion, { sample_index: 0, source: "solver" }, outcome.result.value));
      }
    }
  }
  return rows;
}

function chosen(ids: readonly string[]): readonly Environment[] {
  const able = environments.filter(({ solver, generator }) => solver !== undefined && generator !== undefined);
  if (ids.length === 0) return able;
  return ids.map((id) => {
    const found = able.find((environment) => environment.id === id);
    if (found === undefined) throw new CliProblem("usage", `--environment: there is no '${id}' with a solver here`);
    return found;
  });
}

function levelsOf({ id, levels }: Environment, choice: SolverChoice): readonly string[] {
  const allowed = levels.filter(({ evaluationOnly }) => choice.split !== "train" || evaluationOnly !== true);
  const names = allowed
    .map(({ name }) => name)
    .filter((name) => choice.levels.length === 0 || choice.levels.includes(name));
  if (names.length > 0) return names;
  throw new CliProblem("usage", `--level: ${id} has ${allowed.map(({ name }) => name).join(", ")}`);
}

async function tasksOf(
  client: GradusClient,
  { id: environment }: Environment,
  level: string,
  count: number,
  { split, format: answerFormat }: SolverChoice,
): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  for (let from = 0; from < count; from += CHUNK) {
    const seeds = Array.from({ length: Math.min(CHUNK, count - from) }, (_, i) => from + i);
    for (const { result } of await client.batchReset({ environment, level, split, answerFormat, seeds })) {
      if (result.case !== "task") throw new CliProblem("failure", result.value?.message ?? "a task could not be made");
      tasks.push(result.value);
    }
  }
  return tasks;
}

function solved(environment: Environment, instance: unknown, format: AnswerFormat): string {
  const { solver } = environment;
  if (solver === undefined) throw new Error("an environment was chosen for its solver, and has none");
  return wrapAnswer(environment.format(solver.solve(instance).answer), format);
}
