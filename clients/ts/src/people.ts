/** Calls for interactive use: try an answer, get a picture or a solution of a task, check or simulate a run. */
import { create } from "@bufbuild/protobuf";
import type { CallOptions, Caller } from "./caller.ts";
import { rescoreSettingsOf, runConfigOf } from "./choices.ts";
import type { RescoreChoice, RunChoice, Seed } from "./choices.ts";
import { seedOf } from "./choices.ts";
import { policyOf, type PolicyChoice } from "./policies.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type {
  CheckRunResponse,
  ComparedDraw,
  Policy,
  RunConfig,
  SimulateRunResponse,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { SolveTaskResponse } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type { RescoredGroup } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type Outcome, outcomeOf } from "./outcomes.ts";
import { present } from "./reply.ts";
import type { TurnChoice } from "./turns.ts";
import { turnFieldsOf } from "./turns.ts";

/** Text that a person wrote: an answer alone, without its marks, or a whole completion. */
export type TextChoice = { readonly answer: string } | { readonly completion: string };

/** Calls of tools, or the end of an episode, in place of a completion's text. */
export type CallChoice = Pick<TurnChoice, "toolCalls" | "end">;

/** Outcome that an answer would have if a model gave it. It has the next turn if the task's episode goes on. */
export interface TriedAnswer {
  /** Completion that was scored. Spans in the outcome are positions in it. */
  readonly completion: string;
  readonly outcome: Outcome;
}

export interface SolveChoice extends CallOptions {
  /** Whether the response has a picture (SVG) of the solution. Defaults to false. */
  readonly draw?: boolean | undefined;
  /** Answer or completion to show in the picture beside the solution. Used only with `draw`. */
  readonly beside?: TextChoice | undefined;
}

export interface SimulationChoice extends CallOptions {
  /** Name of a simulated student (a model of how a policy learns), from ServerInfo.students. Defaults to the first. */
  readonly student?: string | undefined;
  readonly seed?: Seed | undefined;
  /** Number of update batches to simulate. Defaults to the run's length, at most 500. */
  readonly updates?: number | undefined;
  /** Number of points of each curve in the response. Defaults to 100. */
  readonly points?: number | undefined;
}

export interface PeopleCalls {
  /** Scores an answer like `step`, but does not report the score to the run. */
  tryAnswer(
    task: { readonly taskId: string },
    given: TextChoice | CallChoice,
    options?: CallOptions,
  ): Promise<TriedAnswer>;
  /**
   * Returns a picture (SVG) of a task, with an answer and its errors if one is given. A picture of the best answer
   * comes only from `solveTask`.
   */
  drawTask(task: { readonly taskId: string }, text?: TextChoice, options?: CallOptions): Promise<string>;
  /**
   * Returns a right answer, or the best one that the solver found. Needs an operator's token. Tasks of benchmarks
   * (split "bench") are refused.
   */
  solveTask(task: { readonly taskId: string }, options?: SolveChoice): Promise<SolveTaskResponse>;
  /** Returns all problems and warnings of a run's configuration, or of a run file's text. Creates no run. */
  checkRun(source: RunChoice | RunConfig | { readonly file: string }, options?: CallOptions): Promise<CheckRunResponse>;
  /**
   * Scores the completions of an evaluation, or those that a run keeps, once more under other settings, and yields them
   * group by group. The evaluation or run does not change. Needs an operator's token. `armIds` are the arms of the run,
   * or the parts of the suite, to which the completions belong. Unset: all.
   */
  rescore(
    source: ({ readonly evaluationId: string } | { readonly runId: string }) & { readonly armIds?: readonly string[] },
    settings?: RescoreChoice,
    options?: Pick<CallOptions, "signal">,
  ): AsyncGenerator<RescoredGroup, void, undefined>;
  /**
   * Returns which arms a run would draw tasks from and how much a simulated student would learn, compared with a run
   * that draws all arms equally.
   */
  simulateRun(choice: RunChoice | RunConfig, options?: SimulationChoice): Promise<SimulateRunResponse>;
  /**
   * Yields the draws of a run's update batches. Each has the arms' probabilities in the run, and those that another
   * policy would give after learning from the same groups. The run does not change.
   */
  comparePolicy(
    runId: string,
    policy: PolicyChoice | Policy,
    options?: Pick<CallOptions, "signal">,
  ): AsyncGenerator<ComparedDraw, void, undefined>;
}

const textOf = (text: TextChoice) =>
  "answer" in text
    ? ({ case: "answer", value: text.answer } as const)
    : ({ case: "completion", value: text.completion } as const);

const none = { case: undefined } as const;

/** Returns the calls for interactive use: tried answers, pictures, solutions, and checked or simulated runs. */
export function peopleCalls({ unary, transport }: Caller): PeopleCalls {
  const { tryAnswer, drawTask, solveTask } = EnvironmentService.method;
  const { checkRun, comparePolicy, simulateRun } = CurriculumService.method;
  return {
    tryAnswer: async ({ taskId }, given, options) => {
      const isText = "answer" in given || "completion" in given;
      const asked = isText ? { text: textOf(given) } : turnFieldsOf(given);
      const { completion, outcome } = await unary(tryAnswer, { taskId, ...asked }, options);
      return { completion, outcome: outcomeOf(present(outcome, "outcome")) };
    },
    drawTask: async ({ taskId }, text, options) =>
      (await unary(drawTask, { taskId, text: text === undefined ? none : textOf(text) }, options)).svg,
    solveTask: ({ taskId }, { draw = false, beside, ...options } = {}) =>
      unary(solveTask, { taskId, draw, beside: beside === undefined ? none : textOf(beside) }, options),
    async *rescore(source, settings = {}, { signal } = {}) {
      const { method } = EvaluationService;
      const request = create(method.rescore.input, {
        source:
          "runId" in source
            ? { case: "runId", value: source.runId }
            : { case: "evaluationId", value: source.evaluationId },
        settings: rescoreSettingsOf(settings),
        armIds: [...(source.armIds ?? [])],
      });
      for await (const { groups } of transport.serverStream(method.rescore, request, { signal })) yield* groups;
    },
    checkRun: (source, options) =>
      unary(
        checkRun,
        "file" in source
          ? { source: { case: "file", value: source.file } }
          : { source: { case: "config", value: runConfigOf(source) } },
        options,
      ),
    async *comparePolicy(runId, policy, { signal } = {}) {
      const request = create(comparePolicy.input, { runId, policy: policyOf(policy) });
      for await (const { draws } of transport.serverStream(comparePolicy, request, { signal })) yield* draws;
    },
    simulateRun: (choice, { student = "", seed = 0, updates = 0, points = 0, ...options } = {}) =>
      unary(simulateRun, { config: runConfigOf(choice), student, seed: seedOf(seed), updates, points }, options),
  };
}
