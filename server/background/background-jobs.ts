/**
 * Types of the jobs that people start on the page or the command line: pictures, solutions, run files, simulations.
 * Threads run them (background-threads.ts).
 */
import type { Baseline, Environment } from "../../envs/environment.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { Thinking } from "../../envs/answers/locate.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import { drawCompletion, drawTask, type DrawOptions } from "../../pictures/draw.ts";
import { runFields } from "../run-files/contract.ts";
import { readRunText, type RunTextResult } from "../run-files/read-run-file.ts";
import { simulate, type SimulateJob, type Simulated } from "./simulate.ts";

/** A task in a form that can be sent to a thread: plain data, without functions. */
export interface BackgroundTask {
  readonly environment: string;
  readonly version: number;
  readonly instance: unknown;
  readonly format: AnswerFormat;
  readonly thinking: Thinking;
  /** Known objective value, to which an answer's value is compared. Undefined: there is none. */
  readonly baseline: Baseline | undefined;
}

/** Answer to show in a task's picture: none, a bare answer, or the final answer of a whole completion. */
export type Text =
  | { readonly kind: "none" }
  /** The answer alone, without the marks of an answer format, e.g. without tags. */
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "completion"; readonly text: string };

export interface DrawJob {
  readonly kind: "draw";
  readonly task: BackgroundTask;
  readonly text: Text;
}

export interface SolveJob {
  readonly kind: "solve";
  readonly task: BackgroundTask;
  /**
   * Answer, or completion with an answer, to draw next to the solution of the task. "none": only the solution is drawn.
   * Undefined: no picture is drawn.
   */
  readonly drawBeside: Text | undefined;
}

/** Request to parse the text of a run file, which may take seconds. */
export interface ReadJob {
  readonly kind: "read";
  readonly text: string;
}

export type BackgroundJob = DrawJob | SolveJob | ReadJob | SimulateJob;

/** A picture as SVG text. Undefined: the environment has no pictures. */
export type DrawnSvg = string | undefined;

/** A correct answer to a task, or the best answer that the solver found. */
export interface Solved {
  /** The answer as a model would write it, without the marks around it. */
  readonly answer: string;
  /** A whole completion that contains the answer. */
  readonly completion: string;
  /**
   * Objective value of the answer, to which the values of other answers are compared. Undefined: in this environment an
   * answer is only right or wrong.
   */
  readonly baseline: Baseline | undefined;
  /** Number of nodes that the solver searched. 0: the solution is stored in the task's data row. */
  readonly nodes: number;
  readonly svg: DrawnSvg;
}

export interface ValueOf {
  readonly draw: DrawnSvg;
  /** Solution of the task. Undefined: the environment has no solver, and the task's data row contains no solution. */
  readonly solve: Solved | undefined;
  readonly read: RunTextResult;
  readonly simulate: Simulated;
}

export function runJob<Kind extends BackgroundJob["kind"]>(
  registry: Registry,
  job: Extract<BackgroundJob, { readonly kind: Kind }>,
): ValueOf[Kind];
export function runJob(registry: Registry, job: BackgroundJob): ValueOf[BackgroundJob["kind"]] {
  if (job.kind === "simulate") return simulate(job);
  if (job.kind === "read") return readRunText(job.text, runFields);
  const environment = environmentOf(registry, job.task);
  if (job.kind === "solve") return solve(environment, job);
  const { baseline } = job.task;
  return draw(environment, job.task, job.text, { against: { baseline } });
}

function environmentOf(registry: Registry, { environment, version }: BackgroundTask): Environment {
  const found = registry.find(environment, version);
  if (found.kind !== "found") throw new Error(found.message);
  return found.environment;
}

function draw(environment: Environment, task: BackgroundTask, text: Text, options: DrawOptions): DrawnSvg {
  const { instance, format, thinking } = task;
  if (text.kind === "completion") return drawCompletion(environment, instance, format, text.text, thinking, options);
  return drawTask(environment, instance, text.kind === "answer" ? text.text : undefined, options);
}

function solve(environment: Environment, { task, drawBeside }: SolveJob): Solved | undefined {
  const { instance, format, thinking } = task;
  const { solver, goal } = environment;
  const solution = solver?.solve(instance);
  const answer = solution === undefined ? environment.reference?.(instance) : solver?.format(solution.answer);
  if (answer === undefined) return undefined;
  const { value = 0, bound = 0, proven = false, nodes = 0 } = solution ?? {};
  const shown = drawBeside?.kind === "none" ? ({ kind: "answer", text: answer } as const) : drawBeside;
  return {
    answer,
    completion: wrapAnswer(answer, format, "", thinking),
    baseline: solution === undefined || goal === "satisfy" ? undefined : { value, bound, proven },
    nodes,
    svg: shown && draw(environment, task, shown, {}),
  };
}
