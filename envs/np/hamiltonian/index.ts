/** The longest cycle (FORGE A.5.6, NP-ENGINE A.4.6: "Hamiltonian cycle"). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { canonicalGraph, edgeCount } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { inlineGraph } from "../../lib/inline-bits.ts";
import { minAboveMax } from "../../parameters.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Cycle } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const hamiltonian: Environment<Graph, Cycle> = {
  id: "np/hamiltonian",
  version: 1,
  description: "Find a cycle through as many vertices of a graph as possible.",
  goal: "maximize",
  parameters,
  levels,
  ...optimization,
  checkParameters: minAboveMax,
  generator,
  solver,
  inline: inlineGraph,
  canonical: canonicalGraph,
  render,
  // Not the number of vertices, which is often the optimum.
  metadata: (graph) => ({ edges: `${edgeCount(graph)}` }),
  parse,
  verify,
  format,
  draw,
};
