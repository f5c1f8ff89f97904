/** What people ask of a server: what an answer is worth, pictures, solutions, and runs before there are any. */
import type { CallOptions, Caller } from "./caller.ts";
import { runConfigOf } from "./choices.ts";
import type { RunChoice, Seed } from "./choices.ts";
import { seedOf } from "./choices.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { CheckRunResponse, RunConfig, SimulateRunResponse } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { SolveTaskResponse } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type Outcome, outcomeOf } from "./outcomes.ts";
import { present } from "./reply.ts";

/** What a person wrote: an answer alone, without its marks, or a whole completion. */
export type TextChoice = { readonly answer: string } | { readonly completion: string };

/** What an answer would be worth. */
export interface TriedAnswer {
  /** What was scored: spans are places in it. */
  readonly completion: string;
  readonly outcome: Outcome;
}

/** How a task is solved. */
export interface SolveChoice extends CallOptions {
  /** Whether to draw the solution. */
  readonly draw?: boolean | undefined;
  /** With `draw`: what to draw it beside. */
  readonly beside?: TextChoice | undefined;
}

/** How a run is simulated. */
export interface SimulationChoice extends CallOptions {
  /** From ServerInfo.students; left out: the first. */
  readonly student?: string | undefined;
  readonly seed?: Seed | undefined;
  /** Update batches; left out: the run's length, at most 500. */
  readonly updates?: number | undefined;
  /** Points of the series; left out: 100. */
  readonly points?: number | undefined;
}

export interface PeopleCalls {
  /** Scores an answer as `step` would, and tells no run of it. */
  tryAnswer(task: { readonly taskId: string }, text: TextChoice, options?: CallOptions): Promise<TriedAnswer>;
  /** An SVG of a task, and of an answer to it with what is wrong with it; a best answer is drawn by `solveTask` alone. */
  drawTask(task: { readonly taskId: string }, text?: TextChoice, options?: CallOptions): Promise<string>;
  /** A right answer, or the best that the solver found. For operators, and never of a benchmark's task. */
  solveTask(task: { readonly taskId: string }, options?: SolveChoice): Promise<SolveTaskResponse>;
  /** All that is wrong with a run's configuration, or with a run file's text; makes no run. */
  checkRun(source: RunChoice | RunConfig | { readonly file: string }, options?: CallOptions): Promise<CheckRunResponse>;
  /** What a run would draw with a simulated student, beside equal shares. */
  simulateRun(choice: RunChoice | RunConfig, options?: SimulationChoice): Promise<SimulateRunResponse>;
}

const textOf = (text: TextChoice) =>
  "answer" in text
    ? ({ case: "answer", value: text.answer } as const)
    : ({ case: "completion", value: text.completion } as const);

const none = { case: undefined } as const;

/** Those calls, over a caller. */
export function peopleCalls({ unary }: Caller): PeopleCalls {
  const { tryAnswer, drawTask, solveTask } = EnvironmentService.method;
  const { checkRun, simulateRun } = CurriculumService.method;
  return {
    tryAnswer: async ({ taskId }, text, options) => {
      const { completion, outcome } = await unary(tryAnswer, { taskId, text: textOf(text) }, options);
      return { completion, outcome: outcomeOf(present(outcome, "outcome")) };
    },
    drawTask: async ({ taskId }, text, options) =>
      (await unary(drawTask, { taskId, text: text === undefined ? none : textOf(text) }, options)).svg,
    solveTask: ({ taskId }, { draw = false, beside, ...options } = {}) =>
      unary(solveTask, { taskId, draw, beside: beside === undefined ? none : textOf(beside) }, options),
    checkRun: (source, options) =>
      unary(
        checkRun,
        "file" in source
          ? { source: { case: "file", value: source.file } }
          : { source: { case: "config", value: runConfigOf(source) } },
        options,
      ),
    simulateRun: (choice, { student = "", seed = 0, updates = 0, points = 0, ...options } = {}) =>
      unary(simulateRun, { config: runConfigOf(choice), student, seed: seedOf(seed), updates, points }, options),
  };
}
