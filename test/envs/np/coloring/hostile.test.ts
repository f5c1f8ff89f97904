import { graphOf } from "../../../../envs/lib/graph.ts";
import { coloring } from "../../../../envs/np/coloring/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";

testHostileAnswers({
  environment: coloring,
  /** The worked example of FORGE A.5.10. */
  instance: graphOf([[1, 2], [3], [3], []]),
  good: "[1, 2, 2, 1]",
  objective: 2,
  infeasible: [
    // The paper's own answer.
    ["[1, 2, 1, 2]", "vertices 0 and 2 are joined, and both have color 1"],
    ["[]", "the list has 0 colors, and the graph 4 vertices"],
    ["[1]", "the list has 1 colors, and the graph 4 vertices"],
    ["[1, 2, 2]", "the list has 3 colors, and the graph 4 vertices"],
    ["[1, 2, 2, 1, 1]", "the list has 5 colors, and the graph 4 vertices"],
    ["[1, 2, 2, 1, 1, 2, 2, 1]", "the list has 8 colors, and the graph 4 vertices"],
    ["[1, 1, 1, 1]", "vertices 0 and 1 are joined, and both have color 1"],
    ["[0, 0, 0, 0]", "vertices 0 and 1 are joined, and both have color 0"],
    ["[-1, -1, -1, -1]", "vertices 0 and 1 are joined, and both have color -1"],
    ["[0, 1, -0, 1]", "vertices 0 and 2 are joined, and both have color 0"],
    ["[1, 2, 01, 2]", "vertices 0 and 2 are joined, and both have color 1"],
    ["[3, 1, 2, 2]", "vertices 2 and 3 are joined, and both have color 2"],
    ["[1234567890, 1, 01234567890, 2]", "vertices 0 and 2 are joined, and both have color 1234567890"],
    // No violation names the stand-in for a label that is too large for a double, because the answer never held it.
    [`[${"9".repeat(26)}, 1, 0${"9".repeat(26)}, 2]`, "vertices 0 and 2 are joined, and both have the same color"],
    [`[${"9".repeat(100_000)}]`, "the list has 1 colors, and the graph 4 vertices"],
  ],
  // Labels are names: which they are does not matter.
  feasible: [
    ["[2, 1, 1, 2]", 2],
    ["[0, 1, 1, 0]", 2],
    ["[-1, 7, 7, -1]", 2],
    ["[999999999, -999999999, -999999999, 999999999]", 2],
    ["[1, 02, 2, 001]", 2],
    ["\n[\t1 ,\u00a02, 3,4 ]\r\n", 4],
    ["[1, 2, 3, 1]", 3],
    ["[1234567890, 1, 1, 1234567890]", 2],
    [`[${"9".repeat(26)}, ${"9".repeat(27)}, ${"9".repeat(27)}, 0${"9".repeat(26)}]`, 2],
    // Doubles cannot tell these two apart.
    ["[9007199254740992, 9007199254740993, 9007199254740993, 9007199254740992]", 2],
    ["[9007199254740991, 99999999999999999, 3, 9007199254740990]", 4],
  ],
  labels: true,
});
