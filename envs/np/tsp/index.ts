/**
 * Defines the environment for the travelling salesman problem (FORGE A.5.7, NP-ENGINE A.4.7). README.md begins with an
 * example.
 */
import { defineEnvironment } from "../../define.ts";
import { formatCycleList as format, parseCycleList as parse } from "../../lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { invariant, generator, rowStart, type TspInstance } from "./generate.ts";
import { heuristic } from "./heuristic.ts";
import { solve, trivial } from "./solve/index.ts";
import { type Tour, verify } from "./verify.ts";

/** Worked example in the prompts, from the paper FORGE (A.5.7). The tour that it shows is optimal. */
const EXAMPLE: TspInstance = { cities: 4, distances: Int32Array.of(10, 15, 20, 35, 25, 30) };
const EXAMPLE_TOUR = [0, 1, 3, 2] as const;
const EXAMPLE_LENGTH = 80;

function textOf(instance: TspInstance): TaskText {
  const { cities } = instance;
  return {
    question: `Find the shortest closed tour of ${cities} cities, numbered from 0 to ${cities - 1}: it visits every city exactly once and then returns to the city where it started. Its length is the sum of the distances along it, the way back included.`,
    answer:
      "Write the tour as a list of the cities in the order they are visited, in square brackets and separated by commas, with the first city again at the end. It may start at any city.",
    notation:
      "Each line below gives a city and, after the colon, its distances to the cities with larger numbers, as city=distance. Distances are the same in both directions.",
    exampleTitle: "Example with 4 cities",
    example: matrix(EXAMPLE),
    exampleAnswer: `A shortest tour is ${format(EXAMPLE_TOUR)}, of length ${EXAMPLE_LENGTH}.`,
    instance: matrix(instance),
  };
}

/**
 * Returns the upper triangle of the distance matrix, one row a line, each distance with its city, such as "0: 1=10 2=15
 * 3=20".
 */
function matrix({ cities, distances }: TspInstance): string {
  const lines: string[] = [];
  for (let from = 0; from < cities - 1; from++) {
    const start = rowStart(cities, from);
    let line = `${from}:`;
    for (let to = from + 1; to < cities; to++) line += ` ${to}=${distances[start + to]}`;
    lines.push(line);
  }
  return lines.join("\n");
}

export const tsp = defineEnvironment<TspInstance, Tour>({
  id: "np/tsp",
  version: 3,
  earlier: [2],
  description: "Find the shortest closed tour that visits every city exactly once.",
  goal: "minimize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  canonical: ({ distances }) => distances.join(" "),
  invariant,
  render: promptsOf(textOf),
  metadata: ({ cities }) => ({ cities: `${cities}` }),
  answerNames: ["tour", "route", "cycle", "path"],
  parse,
  verify,
  tries: true,
  shape: { kind: "arrangement", count: ({ cities }) => cities },
});
