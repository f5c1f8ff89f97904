/** The knapsack problem (FORGE A.5.3, NP-ENGINE A.4.3). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { inline } from "./instance.ts";
import type { KnapsackInstance } from "./instance.ts";
import { checkParameters, levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Choice } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const knapsack: Environment<KnapsackInstance, Choice> = {
  id: "np/knapsack",
  version: 1,
  description: "Choose the items of the largest total value that fit within a capacity.",
  goal: "maximize",
  parameters,
  levels,
  ...optimization,
  checkParameters,
  generator,
  solver,
  inline,
  canonical: ({ capacity, weights, values }) => `${capacity} ${weights.join(" ")} ${values.join(" ")}`,
  render,
  metadata: ({ capacity, weights }) => ({ items: `${weights.length}`, capacity: `${capacity}` }),
  parse,
  verify,
  format,
  draw,
};
