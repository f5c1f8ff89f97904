/** Pairs of numbers with hundreds of digits, in which every digit counts. */
import { labelled } from "../labelled.ts";

const nines = "9".repeat(200);
const other = `${"9".repeat(199)}8`;

export const pairs = [
  ...labelled(
    "all digits count",
    [nines, nines, "equal"],
    [nines, `+${nines}`, "equal"],
    [nines, other, "different"],
    [nines, "8".repeat(200), "different"],
    [nines, `-${nines}`, "different"],
    [nines, `10^{200}-1`, "equal"],
    [nines, `10^{200}-2`, "different"],
    [nines, `${"9".repeat(199)}`, "different"],
    [`1/${nines}`, `1/${other}`, "different"],
    [`0.${nines}`, `0.${other}`, "different"],
    [`0.${nines}`, `0.${nines}0`, "equal"],
    [`x+${nines}`, `${nines}+x`, "equal"],
    [`x+${nines}`, `x+${other}`, "different"],
    [`${nines}, 5`, `5, ${nines}`, "equal"],
    [`${nines}, 5`, `${other}, 5`, "different"],
    [`\\{1, ${nines}\\}`, `\\{1, ${other}\\}`, "different"],
    [`(1, ${nines})`, `(1, ${other})`, "different"],
    [`x = ${nines}`, `x = ${other}`, "different"],
    [`x < ${nines}`, `x < ${other}`, "different"],
    [`${nines}\\text{ cm}`, `${other}\\text{ cm}`, "different"],
  ),
];
