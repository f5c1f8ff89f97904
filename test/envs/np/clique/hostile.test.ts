import { graphOf } from "../../../../envs/lib/graph.ts";
import { clique } from "../../../../envs/np/clique/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";

testHostileAnswers({
  environment: clique,
  /** The worked example of FORGE A.5.8. */
  instance: graphOf([[1, 2, 3, 4], [3, 4], [3], [4], []]),
  good: "[0, 1, 3, 4]",
  objective: 4,
  infeasible: [
    ["[0, 1, 2]", "vertices 1 and 2 are not joined"],
    ["[]", "a clique has at least one vertex"],
    ["[ ]", "a clique has at least one vertex"],
    ["[0, 0]", "vertex 0 is listed twice"],
    ["[0, 1, 3, 4, 0]", "vertex 0 is listed twice"],
    ["[0, 00]", "vertex 0 is listed twice"],
    ["[0, -0]", "vertex 0 is listed twice"],
    ["[0, 0, 0, 0, 0, 0]", "vertex 0 is listed twice"],
    ["[0, 1, 3, 4, 5]", "vertex 5 does not exist: vertices are 0 to 4"],
    ["[-1]", "vertex -1 does not exist: vertices are 0 to 4"],
    ["[429496729]", "vertex 429496729 does not exist: vertices are 0 to 4"],
    ["[999999999]", "vertex 999999999 does not exist: vertices are 0 to 4"],
    ["[-999999999]", "vertex -999999999 does not exist: vertices are 0 to 4"],
    ["[0, 1, 2, 3, 4]", "vertices 1 and 2 are not joined"],
    [`[${Array.from({ length: 1000 }, (_, v) => v).join()}]`, "vertex 5 does not exist: vertices are 0 to 4"],
  ],
  feasible: [
    ["[4, 3, 1, 0]", 4],
    ["[000, 01]", 2],
    ["\n[\t2 ,\u00a00 ]\r\n", 2],
    ["[-0]", 1],
    ["[3]", 1],
  ],
});
