/** Compares words with words. */
import type { Node } from "../syntax.ts";
import { type Comparison, different, EQUAL } from "./outcome.ts";
import { textOf } from "./shape.ts";

/** The words that are said of what was asked for: "The function is odd", "It is odd"; but not "Ann is odd". */
function saidOf(answer: Node): Node {
  const [name, words, ...others] = answer.kind === "relation" && answer.operators[0] === "=" ? answer.parts : [];
  const isSaid = name?.kind === "text" && /^(?:the|it|this|that|they|its)(?: |$)/i.test(name.text);
  return isSaid && words?.kind === "text" && others.length === 0 ? words : answeredBy(answer);
}

const LIMITING = /\b(?:yes|no|true|false|maybe|but|unless|if|only|however|except|not)\b/i;

/** "Yes, it converges" says yes. */
function answeredBy(answer: Node): Node {
  const [first, ...rest] = answer.kind === "list" ? answer.items : [];
  const isRemark = rest.every((item) => item.kind === "text" && !LIMITING.test(item.text));
  return first?.kind === "text" && /^(?:yes|no)$/i.test(first.text) && isRemark ? first : answer;
}

/** "all even integers" are even integers. */
function bareText(text: string): string {
  return textOf(text).replace(/^(?:all|the|an?|only|on) (?=.)/, "");
}

export function compareTexts(gold: Node, given: Node): Comparison {
  const answer = saidOf(given);
  if (gold.kind === "text" && answer.kind === "text")
    return bareText(gold.text) === bareText(answer.text) ? EQUAL : different("the words are others");
  return different(answer.kind === "text" ? "it is words" : "words are expected");
}
