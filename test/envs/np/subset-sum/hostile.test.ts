import { subsetSum } from "../../../../envs/np/subset-sum/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";

testHostileAnswers({
  environment: subsetSum,
  /** The worked example of FORGE A.5.2. */
  instance: { target: 10, numbers: Int32Array.of(2, 3, 7, 8, 5), planted: [1, 2] },
  good: "[0, 1, 4]",
  objective: 3,
  infeasible: [
    ["[0, 1]", "the numbers sum up to 5, not to the target 10"],
    ["[]", "the numbers sum up to 0, not to the target 10"],
    ["[ ]", "the numbers sum up to 0, not to the target 10"],
    ["[0, 1, 2, 3, 4]", "the numbers sum up to 25, not to the target 10"],
    ["[0, 0]", "index 0 is listed twice"],
    ["[4, 4]", "index 4 is listed twice"],
    ["[0, 0, 0, 0, 0]", "index 0 is listed twice"],
    ["[1, 2, 1]", "index 1 is listed twice"],
    ["[1, 2, 01]", "index 1 is listed twice"],
    ["[0, -0]", "index 0 is listed twice"],
    ["[2, 3, 5]", "index 5 does not exist: indices are 0 to 4"],
    ["[-1]", "index -1 does not exist: indices are 0 to 4"],
    ["[429496729]", "index 429496729 does not exist: indices are 0 to 4"],
    ["[999999999]", "index 999999999 does not exist: indices are 0 to 4"],
    ["[-999999999]", "index -999999999 does not exist: indices are 0 to 4"],
    [`[${Array.from({ length: 1000 }, (_, v) => v).join()}]`, "index 5 does not exist: indices are 0 to 4"],
  ],
  feasible: [
    ["[4, 1, 0]", 3],
    ["[01, 002]", 2],
    ["\n[\t3 ,\u00a00 ]\r\n", 2],
    ["[-0, 3]", 2],
  ],
});
