import { knapsack } from "../../../../envs/np/knapsack/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";

testHostileAnswers({
  environment: knapsack,
  /** The worked example of FORGE A.5.3. */
  instance: { capacity: 20, weights: Int32Array.of(3, 4, 7, 8), values: Int32Array.of(4, 5, 10, 11) },
  good: "[1, 2, 3]",
  objective: 26,
  infeasible: [
    ["[0, 1, 2, 3]", "the items weigh 22, more than the capacity 20"],
    ["[0, 0]", "item 0 is listed twice"],
    ["[2, 2, 2, 2]", "item 2 is listed twice"],
    ["[1, 2, 3, 1]", "item 1 is listed twice"],
    ["[0, 00]", "item 0 is listed twice"],
    ["[0, -0]", "item 0 is listed twice"],
    ["[1, 2, 3, 4]", "item 4 does not exist: items are 0 to 3"],
    ["[-1]", "item -1 does not exist: items are 0 to 3"],
    ["[429496729]", "item 429496729 does not exist: items are 0 to 3"],
    ["[999999999]", "item 999999999 does not exist: items are 0 to 3"],
    ["[-999999999]", "item -999999999 does not exist: items are 0 to 3"],
    [`[${Array.from({ length: 1000 }, (_, v) => v).join()}]`, "item 4 does not exist: items are 0 to 3"],
  ],
  feasible: [
    ["[3, 2, 1]", 26],
    ["[000, 03]", 15],
    ["\n[\t2 ,\u00a00 ]\r\n", 14],
    ["[-0]", 4],
    ["[]", 0],
    ["[ ]", 0],
  ],
});
