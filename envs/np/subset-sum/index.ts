/** Subset sum with as many numbers as possible (FORGE A.5.2, NP-ENGINE A.4.2). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { inline } from "./instance.ts";
import type { SubsetSumInstance } from "./instance.ts";
import { checkParameters, levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Subset } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const subsetSum: Environment<SubsetSumInstance, Subset> = {
  id: "np/subset-sum",
  version: 1,
  description: "Choose as many numbers as possible that sum up to exactly a target.",
  goal: "maximize",
  parameters,
  levels,
  ...optimization,
  checkParameters,
  generator,
  solver,
  inline,
  canonical: ({ target, numbers }) => `${target} ${numbers.join(" ")}`,
  render,
  metadata: ({ numbers }) => ({ numbers: `${numbers.length}` }),
  parse,
  verify,
  format,
  draw,
};
