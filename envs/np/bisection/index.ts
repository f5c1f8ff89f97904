/** Balanced minimum bisection (FORGE A.5.4, NP-ENGINE A.4.4). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { minAboveMax } from "../../parameters.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import type { BisectionInstance } from "./instance.ts";
import { levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Sides } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const bisection: Environment<BisectionInstance, Sides> = {
  id: "np/bisection",
  version: 1,
  description: "Divide a graph's vertices into two equal sides so that the edges between them weigh least.",
  goal: "minimize",
  parameters,
  levels,
  ...optimization,
  checkParameters: minAboveMax,
  generator,
  solver,
  canonical: ({ vertices, edges }) => `${vertices} ${edges.map(({ a, b, weight }) => `${a}-${b}=${weight}`).join(" ")}`,
  render,
  metadata: ({ vertices, edges }) => ({ vertices: `${vertices}`, edges: `${edges.length}` }),
  parse,
  verify,
  format,
  draw,
};
