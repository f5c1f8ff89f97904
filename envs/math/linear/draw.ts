/** The equations or the inequality, and what an answer says of the unknowns and what holds, typeset. */
import type { Picture } from "../../lib/picture/picture.ts";
import { answerPart, drawParts, type Part } from "../draw.ts";
import { type LinearInstance, texsOf } from "./statement.ts";
import { format, type LinearAnswer } from "./verify.ts";

export function draw(instance: LinearInstance, answer?: LinearAnswer, best?: LinearAnswer): Picture {
  const lines = texsOf(instance).map((tex) => tex.replace(/ (=|<|>|\\le|\\ge) /, " &$1 "));
  const tex = `\\begin{aligned}${lines.join("\\\\")}\\end{aligned}`;
  const parts: readonly (Part | undefined)[] = [
    { label: lines.length > 1 ? "equations" : "to solve", runs: [{ kind: "formula", tex, display: true }] },
    answer && answerPart("answer", format(answer)),
    best && answerPart("right", format(best), true),
  ];
  return drawParts(parts.filter((part) => part !== undefined));
}
