import { bitMatrixOf } from "../../../../envs/lib/bit-matrix.ts";
import { setCover } from "../../../../envs/np/set-cover/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";

testHostileAnswers({
  environment: setCover,
  /** The worked example of FORGE A.5.1. */
  instance: {
    subsets: bitMatrixOf(6, [
      [0, 1, 2],
      [2, 3],
      [0, 4],
      [3, 4, 5],
      [1, 2, 5],
    ]),
  },
  good: "[0, 3]",
  objective: 2,
  infeasible: [
    ["[0, 1]", "element 4 is in none of the chosen subsets"],
    ["[]", "element 0 is in none of the chosen subsets"],
    ["[3]", "element 0 is in none of the chosen subsets"],
    ["[0, 0]", "subset 0 is listed twice"],
    ["[0, 3, 3]", "subset 3 is listed twice"],
    ["[0, 3, 0]", "subset 0 is listed twice"],
    ["[-0, 3, 000]", "subset 0 is listed twice"],
    ["[0, 3, 5]", "subset 5 does not exist: subsets are 0 to 4"],
    ["[0, -3]", "subset -3 does not exist: subsets are 0 to 4"],
    ["[-1]", "subset -1 does not exist: subsets are 0 to 4"],
    ["[0, 3, 999999999]", "subset 999999999 does not exist: subsets are 0 to 4"],
    ["[1, 2, 1]", "subset 1 is listed twice"],
  ],
  feasible: [
    ["[3, 0]", 2],
    // The paper's own answer, which is not the smallest.
    ["[0, 3, 4]", 3],
    ["[0, 1, 2, 3, 4]", 5],
    ["[00, 03]", 2],
    ["\n[\t3 ,\u00a00 ]\r\n", 2],
  ],
});
