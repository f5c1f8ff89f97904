import { graphOf } from "../../../../envs/lib/graph.ts";
import { independentSet } from "../../../../envs/np/independent-set/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";

testHostileAnswers({
  environment: independentSet,
  /** The worked example of FORGE A.5.9. */
  instance: graphOf([[1, 2], [2, 3], [3], []]),
  good: "[0, 3]",
  objective: 2,
  infeasible: [
    ["[0, 1]", "vertices 0 and 1 are joined"],
    ["[3, 0, 2]", "vertices 3 and 2 are joined"],
    ["[]", "an independent set has at least one vertex"],
    ["[0, 0]", "vertex 0 is listed twice"],
    ["[0, 0, 0, 0, 0]", "vertex 0 is listed twice"],
    ["[0, 3, 0]", "vertex 0 is listed twice"],
    ["[3, 003]", "vertex 3 is listed twice"],
    ["[0, 3, 4]", "vertex 4 does not exist: vertices are 0 to 3"],
    ["[0, -3]", "vertex -3 does not exist: vertices are 0 to 3"],
    ["[0, 3, 32]", "vertex 32 does not exist: vertices are 0 to 3"],
    ["[999999999]", "vertex 999999999 does not exist: vertices are 0 to 3"],
    ["[0, 1, 2, 3]", "vertices 0 and 1 are joined"],
  ],
  feasible: [
    ["[3, 0]", 2],
    ["[03, -0]", 2],
    ["\n[\t3 ,\u00a00 ]\r\n", 2],
    ["[2]", 1],
  ],
});
