/** Background jobs for people: pictures, solutions, run files, simulations. `background-threads.ts` runs them in threads. */
import type { Baseline, Environment } from "../../envs/environment.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { Thinking } from "../../envs/answers/locate.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import { drawCompletion, drawTask, type DrawOptions } from "../../pictures/draw.ts";
import { runFields } from "../run-files/contract.ts";
import { readRunText, type RunTextResult } from "../run-files/read-run-file.ts";
import { simulate, type SimulateJob, type Simulated } from "./simulate.ts";

/** A task in the form that goes to a thread: its instance is plain data. */
export interface BackgroundTask {
  readonly environment: string;
  readonly version: number;
  readonly instance: unknown;
  readonly format: AnswerFormat;
  readonly thinking: Thinking;
  /** Undefined: there is none. */
  readonly baseline: Baseline | undefined;
}

/** The answer or completion that is drawn with a task. */
export type Text =
  | { readonly kind: "none" }
  /** The text without answer marks. */
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
  /** Undefined: nothing is drawn. */
  readonly drawBeside: Text | undefined;
}

/** A run file, which may take seconds to read. */
export interface ReadJob {
  readonly kind: "read";
  readonly text: string;
}

export type BackgroundJob = DrawJob | SolveJob | ReadJob | SimulateJob;

/** A picture as SVG; undefined: the environment draws no pictures. */
export type DrawnSvg = string | undefined;

/** A right answer, or the best one that was found. */
export interface Solved {
  /** In the form that a model would write. */
  readonly answer: string;
  /** A whole completion with the answer. */
  readonly completion: string;
  /** Undefined: an answer is right or wrong, without a baseline. */
  readonly baseline: Baseline | undefined;
  /** Number of search nodes; 0: the answer is the row's own. */
  readonly nodes: number;
  readonly svg: DrawnSvg;
}

export interface ValueOf {
  readonly draw: DrawnSvg;
  /** Undefined: there is neither a solver nor a solution in the row. */
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
