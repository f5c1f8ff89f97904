/** Pairs that differ in one place, in a connective, or in the range that they count over. */
import { labelled } from "../labelled.ts";

const r = String.raw;

export const pairs = [
  ...labelled(
    "a sign is 0 where what it is taken of is",
    [r`\operatorname{sgn}(x)^2`, "1", "different", "undecided"],
    [r`|\operatorname{sgn}(x)|`, "1", "different", "undecided"],
    [r`\operatorname{sgn}(x^2)`, "1", "different", "undecided"],
    [r`|y|+1-\operatorname{sgn}(y-2x+3)^2`, r`|y|`, "different", "undecided"],
    [r`\sqrt{b^2}`, r`\sqrt{b^2}+1-\operatorname{sgn}(2b+2w+11)^2`, "different", "undecided"],
    [r`(1-\operatorname{sgn}(x)^2)(1-\operatorname{sgn}(y)^2)`, "0", "different", "undecided"],
    [r`\operatorname{sgn}(x^2-2)^2`, "1", "different", "undecided"],
    [r`\operatorname{sgn}(x)\operatorname{sgn}(y)`, r`\operatorname{sgn}(xy)`, "equal"],
    [r`x\operatorname{sgn}(y)|y|`, "xy", "equal"],
  ),
  // Before math distinguished kinds of answers, these pairs were undecided: a system is no set of alternatives.
  ...labelled(
    "named values that hold together are no alternatives",
    ["x=1, y=2", r`x=1 \text{ or } y=2`, "different"],
    [r`x=1 \text{ and } y=2`, r`x=1 \text{ or } y=2`, "different"],
  ),
  ...labelled(
    "what is said of several letters holds together",
    ["a>0, b>0", r`a>0 \text{ or } b>0`, "undecided"],
    ["x>y, y>z", r`x>y \text{ or } y>z`, "undecided"],
    ["(1,2)", r`x=1 \text{ or } y=2`, "different"],
    ["(1,2,3)", r`1 \text{ or } 2 \text{ or } 3`, "different"],
    [r`(x-y)(x+3y)=0`, r`x-y=0 \text{ and } x+3y=0`, "different", "undecided"],
    ["y=2x, y=-2x", r`y=2x \text{ or } y=-2x`, "equal"],
    ["x_1=1, x_2=2", r`x=1 \text{ or } x=2`, "equal"],
    [r`x=2 \text{ or } x=-2`, "x^2=4", "undecided"],
  ),
  ...labelled(
    "a factor that has a value everywhere and one sign",
    ["y<x", "(y-x)e^x>0", "different", "different"],
    ["y=x", r`(y-x)(\sqrt{x}+1)=0`, "different", "undecided"],
    ["y=x", r`(y-x)e^{\sqrt{x}}=0`, "different", "undecided"],
  ),
  ...labelled(
    "what is counted over some whole numbers alone",
    [r`\{1,4,9\}`, r`\{n^2\mid n\in\mathbb{Z},1\le n\le4\}`, "different", "undecided"],
    [r`\{2n\mid n\in\mathbb{Z},1\le n\le4\}`, r`\{2n\mid n\in\mathbb{Z}\}`, "different", "undecided"],
    [r`k\pi, k\in\mathbb{Z}`, r`k\pi, k\in\mathbb{Z}, k\ge1`, "different", "undecided"],
    ["2^n", r`2^n, 1\le n\le 3`, "different", "undecided"],
    ["2^n", r`2^n, n\ge1`, "equal"],
  ),
];
