/** Defines one environment for each rule that transforms a sequence of digits. The prompt states the rule. */
import { formatInstruction } from "../answers/wording.ts";
import { defineEnvironment } from "../define.ts";
import type { SyncEnvironment } from "../environment.ts";
import { formatIntList, parseDigits } from "../lib/parse-lists.ts";
import { generator, isSmall, type SequenceInstance } from "./generate.ts";
import { type Digits, type Rule, rules } from "./rules.ts";
import { verify } from "./verify.ts";

export type SequenceEnvironment = SyncEnvironment<SequenceInstance, Digits>;

function sequenceOf(rule: Rule): SequenceEnvironment {
  const rightOf = ({ sequence, symbols }: SequenceInstance): Digits => rule.apply(sequence, symbols);
  return defineEnvironment<SequenceInstance, Digits>({
    id: `sequence/${rule.name}`,
    version: 2,
    earlier: [1],
    description: `Turn a sequence of digits into another one of the same length: ${rule.description}.`,
    generator,
    solver: {
      solve: (instance) => ({ answer: rightOf(instance), value: 1, bound: 1, proven: true, nodes: 0 }),
      format: formatIntList,
    },
    inEverySplit: isSmall,
    render({ sequence, symbols }, format) {
      const count = sequence.length === 1 ? "1 digit" : `${sequence.length} digits`;
      const content = [
        `Here is a sequence of ${count}, each from 0 to ${symbols - 1}:`,
        "",
        sequence.join(" "),
        "",
        rule.statement(symbols),
        `The result has ${count}, too: write it as a list in square brackets, with commas between the digits.`,
        "",
        formatInstruction(format),
      ].join("\n");
      return [{ role: "user", content }];
    },
    metadata: ({ sequence, symbols }) => ({ sequence: sequence.join(" "), symbols: `${symbols}` }),
    answerNames: ["result"],
    parse: parseDigits,
    verify: (instance, answer) => verify(instance, rightOf(instance), answer),
  });
}

export const sequences: readonly SequenceEnvironment[] = rules.map(sequenceOf);
