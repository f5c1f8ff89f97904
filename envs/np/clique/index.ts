/** The maximum clique problem (FORGE A.5.8, NP-ENGINE A.4.8). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { canonicalGraph, graphMetadata } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { inlineGraph } from "../../lib/inline-bits.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { checkParameters, levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Clique } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const clique: Environment<Graph, Clique> = {
  id: "np/clique",
  version: 1,
  description: "Find a largest set of vertices of which every two are joined by an edge.",
  goal: "maximize",
  parameters,
  levels,
  ...optimization,
  checkParameters,
  generator,
  solver,
  inline: inlineGraph,
  canonical: canonicalGraph,
  render,
  metadata: graphMetadata,
  parse,
  verify,
  format,
  draw,
};
