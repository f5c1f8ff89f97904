/** Countdown: reach a target from given numbers with + − × ÷ (papers 003 and 004). README.md opens with an example. */
import type { Environment } from "../environment.ts";
import { draw } from "./draw.ts";
import { type CountdownAnswer, formatAnswer } from "./expression.ts";
import { generator } from "./generate.ts";
import { type CountdownInstance, canonical, inline } from "./instance.ts";
import { parse } from "./parse.ts";
import { render } from "./prompt.ts";
import { rows } from "./rows.ts";
import { solveCountdown } from "./solve.ts";
import { parameters, tiers } from "./tiers.ts";
import { verify } from "./verify.ts";

export const countdown: Environment<CountdownInstance, CountdownAnswer> = {
  id: "countdown",
  version: 1,
  description: "Write an expression that uses each given number exactly once and equals the target.",
  goal: "satisfy",
  parameters,
  levels: tiers,
  answerFormats: ["think_answer", "answer_line", "answer_tag", "boxed"],
  rewardSchemes: ["graded"],
  generator,
  rows,
  solver: { solve: solveCountdown, trivial: () => 0 },
  inline,
  canonical,
  render,
  metadata: ({ numbers, target }) => ({ numbers: numbers.join(" "), target: `${target}` }),
  parse,
  verify,
  format: formatAnswer,
  draw,
};
