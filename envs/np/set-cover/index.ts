/**
 * Defines the environment for the set cover problem (FORGE A.5.1, NP-ENGINE A.4.1). README.md begins with an example.
 */
import { defineEnvironment } from "../../define.ts";
import { bitMatrixOf, canonicalBits, rowsText } from "../../lib/bit-matrix.ts";
import { formatIntList as format, type IndexList as Cover, parseIntList as parse } from "../../lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { invariant, generator, inline, type SetCoverInstance } from "./generate.ts";
import { heuristic } from "./heuristic.ts";
import { solve, trivial } from "./solve/index.ts";
import { verify } from "./verify.ts";

/**
 * Worked example in the prompts, from the paper FORGE (A.5.1). The paper's own answer, [0, 3, 4], has one subset too
 * many.
 */
const EXAMPLE = bitMatrixOf(6, [
  [0, 1, 2],
  [2, 3],
  [0, 4],
  [3, 4, 5],
  [1, 2, 5],
]);
const EXAMPLE_COVER = [0, 3] as const;

function textOf({ subsets }: SetCoverInstance): TaskText {
  const { rows, columns } = subsets;
  return {
    question: `Cover a universe with as few subsets as possible: choose subsets such that each of the ${columns} elements, numbered from 0 to ${columns - 1}, is in at least one of them. There are ${rows} subsets to choose from, numbered from 0 to ${rows - 1}.`,
    answer:
      "Write the choice as a list of the numbers of the chosen subsets, in square brackets and separated by commas, in any order and each once.",
    notation: "Each line below gives a subset and, after the colon, its elements.",
    exampleTitle: `Example with ${EXAMPLE.columns} elements and ${EXAMPLE.rows} subsets`,
    example: rowsText(EXAMPLE),
    exampleAnswer: `A smallest cover is ${format(EXAMPLE_COVER)}, of ${EXAMPLE_COVER.length} subsets.`,
    instance: rowsText(subsets),
  };
}

export const setCover = defineEnvironment<SetCoverInstance, Cover>({
  id: "np/set-cover",
  version: 3,
  earlier: [2],
  description: "Choose the fewest subsets that together hold every element of a universe.",
  goal: "minimize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline,
  canonical: ({ subsets }) => canonicalBits(subsets),
  invariant,
  render: promptsOf(textOf),
  metadata: ({ subsets }) => ({ elements: `${subsets.columns}`, subsets: `${subsets.rows}` }),
  answerNames: ["subsets", "cover", "set cover", "sets", "choice", "selection", "s"],
  parse,
  verify,
  tries: true,
  shape: { kind: "choice", count: ({ subsets }) => subsets.rows },
});
