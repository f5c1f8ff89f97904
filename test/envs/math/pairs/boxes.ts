/** Pairs in which the words before a box name its content, where that name counts. */
import { labelled, ofProblem } from "../labelled.ts";

const r = String.raw;

export const pairs = [
  ...labelled(
    "each of several boxes has its own name",
    ["x=2, y=-3", r`x = \boxed{2}, y = \boxed{-3}`, "equal"],
    ["x=2, y=-3", r`y = \boxed{-3}, x = \boxed{2}`, "equal"],
    ["x=2, y=-3", r`y = \boxed{2}, x = \boxed{-3}`, "different"],
    ["(2,-3)", r`x = \boxed{2}, y = \boxed{-3}`, "equal"],
    ["x=5, y=5", r`x = \boxed{5} and y = \boxed{5}`, "equal"],
    ["x=5, y=5", r`x = \boxed{5} and y = \boxed{6}`, "different"],
    ["2, 3", r`x = \boxed{2} or x = \boxed{3}`, "equal"],
    ["2, 3", r`x = \boxed{2} or x = \boxed{4}`, "different"],
    ["2, 3", r`\boxed{2} and \boxed{3}`, "equal"],
    ["2", r`\boxed{2} and \boxed{3}`, "different"],
    ["a_1=2, a_2=3", r`a_1 = \boxed{2}, a_2 = \boxed{3}`, "equal"],
    ["a_1=2, a_2=3", r`a_2 = \boxed{2}, a_1 = \boxed{3}`, "different"],
  ),
  ...ofProblem("Solve the inequality.", "a relation before a box says that it is an interval", [
    "(1,3)",
    r`x \in \boxed{(1,3)}`,
    "equal",
  ]),
  ...labelled(
    "a relation before a box counts",
    ["x>3", r`x > \boxed{3}`, "equal"],
    ["x>3", r`$x > \boxed{3}$`, "equal"],
    ["x>3", r`x < \boxed{3}`, "different"],
    ["x>3", r`x \ge \boxed{3}`, "different"],
    [r`x\ge 3`, r`x \ge \boxed{3}`, "equal"],
    ["3", r`x > \boxed{3}`, "undecided"],
    ["(3,\\infty)", r`x > \boxed{3}`, "equal"],
    ["[1,3)", r`x \in \boxed{(1,3)}`, "different"],
  ),
  ...labelled(
    "a name before the only box says nothing",
    ["31", r`p = \boxed{31}`, "equal"],
    ["31", r`$p = \boxed{31}$`, "equal"],
    ["31", r`The value is \boxed{31}.`, "equal"],
    ["31", r`p = \boxed{13}`, "different"],
    ["(2,-3)", r`(x,y) = \boxed{(2,-3)}`, "equal"],
    ["(2,-3)", r`(x,y) = \boxed{(-3,2)}`, "different"],
  ),
];
