/**
 * Defines the environment for balanced minimum bisection (FORGE A.5.4, NP-ENGINE A.4.4). README.md begins with an
 * example.
 */
import { defineEnvironment } from "../../define.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { invariant, type BisectionInstance, generator } from "./generate.ts";
import { heuristic } from "./heuristic.ts";
import { solve, trivial } from "./solve/index.ts";
import { format, parse, type Sides, verify } from "./verify.ts";

/** Worked example in the prompts, from the paper FORGE (A.5.4). The sides that it shows are optimal. */
const EXAMPLE: BisectionInstance = {
  vertices: 4,
  edges: [
    { a: 0, b: 1, weight: 3 },
    { a: 0, b: 2, weight: 1 },
    { a: 1, b: 2, weight: 2 },
    { a: 1, b: 3, weight: 2 },
    { a: 2, b: 3, weight: 3 },
  ],
};
const EXAMPLE_SIDES: Sides = [
  [0, 1],
  [2, 3],
];
const EXAMPLE_WEIGHT = 5;

function textOf(instance: BisectionInstance): TaskText {
  const { vertices } = instance;
  const small = Math.floor(vertices / 2);
  const sizes = vertices % 2 === 0 ? `${small} vertices each` : `${small} and ${small + 1} vertices`;
  return {
    question: `Divide the ${vertices} vertices of a graph, numbered from 0 to ${vertices - 1}, into two sides of ${sizes}, so that the total weight of the edges between the sides is as small as possible.`,
    answer:
      "Write the answer as two lists of vertices, one for each side, within square brackets. Every vertex must be in exactly one of them; the order does not matter.",
    notation:
      "Each line below gives a vertex and, after the colon, its edges to vertices with larger numbers, as vertex=weight. Pairs that are not given have no edge.",
    exampleTitle: "Example with 4 vertices",
    example: edgeLines(EXAMPLE),
    exampleAnswer: `A best division is ${format(EXAMPLE_SIDES)}: the edges between its sides weigh ${EXAMPLE_WEIGHT} in total.`,
    instance: edgeLines(instance),
  };
}

/** Returns a line for each vertex that has edges to vertices with larger numbers, such as "0: 1=3 2=1". */
function edgeLines({ edges }: BisectionInstance): string {
  const lines = new Map<number, string>();
  for (const { a, b, weight } of edges) lines.set(a, `${lines.get(a) ?? `${a}:`} ${b}=${weight}`);
  return lines.size === 0 ? "no edges" : [...lines.values()].join("\n");
}

export const bisection = defineEnvironment<BisectionInstance, Sides>({
  id: "np/bisection",
  version: 3,
  earlier: [2],
  description: "Divide a graph's vertices into two equal sides so that the edges between them weigh least.",
  goal: "minimize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  canonical: ({ vertices, edges }) => `${vertices} ${edges.map(({ a, b, weight }) => `${a}-${b}=${weight}`).join(" ")}`,
  invariant,
  render: promptsOf(textOf),
  metadata: ({ vertices, edges }) => ({ vertices: `${vertices}`, edges: `${edges.length}` }),
  answerNames: ["sides", "division", "bisection", "partition", "parts"],
  parse,
  verify,
  tries: true,
  shape: { kind: "arrangement", count: ({ vertices }) => vertices },
});
