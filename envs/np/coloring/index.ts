/** The graph colouring problem (FORGE A.5.10, NP-ENGINE A.4.10). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { canonicalGraph, graphMetadata } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { inlineGraph } from "../../lib/inline-bits.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { checkParameters, levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Coloring } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const coloring: Environment<Graph, Coloring> = {
  id: "np/coloring",
  version: 1,
  description: "Color a graph with the fewest colors such that no two joined vertices have the same.",
  goal: "minimize",
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
