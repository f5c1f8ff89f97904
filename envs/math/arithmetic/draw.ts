/** The expression, and the values that an answer gives it and that it has, typeset. */
import type { Picture } from "../../lib/picture/picture.ts";
import { answerPart, drawParts, type Part } from "../draw.ts";
import { texOf } from "./expression.ts";
import type { ArithmeticInstance } from "./generate.ts";
import type { ArithmeticAnswer } from "./verify.ts";

export function draw({ expression }: ArithmeticInstance, answer?: ArithmeticAnswer, best?: ArithmeticAnswer): Picture {
  const parts: readonly (Part | undefined)[] = [
    { label: "expression", runs: [{ kind: "formula", tex: texOf(expression), display: true }] },
    answer && answerPart("answer", answer.values.join(", ")),
    best && answerPart("right", best.values.join(", "), true),
  ];
  return drawParts(parts.filter((part) => part !== undefined));
}
