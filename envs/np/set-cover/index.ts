/** The set cover problem (FORGE A.5.1, NP-ENGINE A.4.1). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { canonicalBits } from "../../lib/bit-matrix.ts";
import { minAboveMax } from "../../parameters.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { inline } from "./instance.ts";
import type { SetCoverInstance } from "./instance.ts";
import { levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Cover } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const setCover: Environment<SetCoverInstance, Cover> = {
  id: "np/set-cover",
  version: 1,
  description: "Choose the fewest subsets that together hold every element of a universe.",
  goal: "minimize",
  parameters,
  levels,
  ...optimization,
  checkParameters: minAboveMax,
  generator,
  solver,
  inline,
  canonical: ({ subsets }) => canonicalBits(subsets),
  render,
  metadata: ({ subsets }) => ({ elements: `${subsets.columns}`, subsets: `${subsets.rows}` }),
  parse,
  verify,
  format,
  draw,
};
