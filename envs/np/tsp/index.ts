/** The travelling salesman problem (FORGE A.5.7, NP-ENGINE A.4.7). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { minAboveMax } from "../../parameters.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import type { TspInstance } from "./instance.ts";
import { levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Tour } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const tsp: Environment<TspInstance, Tour> = {
  id: "np/tsp",
  version: 1,
  description: "Find the shortest closed tour that visits every city exactly once.",
  goal: "minimize",
  parameters,
  levels,
  answerFormats: ["think_answer", "answer_line", "answer_tag", "boxed"],
  rewardSchemes: ["quality", "binary", "optimal_only", "coarse", "normalized"],
  checkParameters: minAboveMax,
  generator,
  solver,
  canonical: ({ distances }) => distances.join(" "),
  render,
  metadata: ({ cities }) => ({ cities: `${cities}` }),
  parse,
  verify,
  format,
  draw,
};
