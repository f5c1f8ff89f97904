/** The contract's numbers and the domain's words, both ways. */
import type { Thinking } from "../../envs/answers/locate.ts";
import type { Goal, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Verdict } from "../../envs/score.ts";
import type { Source } from "../curriculum/core/types.ts";
import * as environment from "../gen/gradus/v1/environment_pb.js";
import * as outcome from "../gen/gradus/v1/outcome_pb.js";
import * as task from "../gen/gradus/v1/task_pb.js";
import { numbered } from "../tasks/words.ts";

export const splits = numbered<Split, task.Split>({
  train: task.Split.TRAIN,
  eval: task.Split.EVAL,
  bench: task.Split.BENCH,
});

export const sources = numbered<Source, task.Source>({
  synthetic: task.Source.SYNTHETIC,
  real: task.Source.REAL,
  teacher: task.Source.TEACHER,
});

export const answerFormats = numbered<AnswerFormat, task.AnswerFormat>({
  think_answer: task.AnswerFormat.THINK_ANSWER,
  answer_line: task.AnswerFormat.ANSWER_LINE,
  answer_tag: task.AnswerFormat.ANSWER_TAG,
  boxed: task.AnswerFormat.BOXED,
});

export const thinkings = numbered<Thinking, task.Thinking>({
  required: task.Thinking.REQUIRED,
  prefilled: task.Thinking.PREFILLED,
  stripped: task.Thinking.STRIPPED,
});

export const goals = numbered<Goal, environment.Goal>({
  satisfy: environment.Goal.SATISFY,
  minimize: environment.Goal.MINIMIZE,
  maximize: environment.Goal.MAXIMIZE,
});

export const verdicts = numbered<Verdict, outcome.Verdict>({
  malformed: outcome.Verdict.MALFORMED,
  infeasible: outcome.Verdict.INFEASIBLE,
  feasible: outcome.Verdict.FEASIBLE,
  graded: outcome.Verdict.GRADED,
});
