/** Suggests run settings under which an answer would be found in a completion that seems to have none. */
import type { AnswerFormat } from "../prompt.ts";
import { locateAnswers, type Thinking } from "./locate.ts";

interface Asked {
  readonly environment: { readonly answerFormats: readonly AnswerFormat[] };
  readonly format: AnswerFormat;
  readonly thinking?: Thinking | undefined;
  readonly wasCut?: boolean | undefined;
}

const THINKINGS: readonly Thinking[] = ["stripped", "required", "prefilled"];

/**
 * Returns the reason why a completion has no answer, followed by a suggested run setting if one would help. No setting
 * helps a completion that was cut off.
 */
export function withRemedy(task: Asked, completion: string, problem: string): string {
  // Some reasons already suggest a setting.
  if (task.wasCut === true || problem.includes("thinking: ")) return problem;
  return `${problem}${remedyOf(task, completion)}`;
}

/**
 * Returns text that suggests at most two settings, written as in run files, under which an answer would be found. Empty
 * if no setting would help.
 */
function remedyOf({ environment, format, thinking = "required" }: Asked, completion: string): string {
  const others = environment.answerFormats.filter((other) => other !== format);
  const candidates = [
    ...THINKINGS.filter((other) => other !== thinking).map((other) => ({
      format,
      thinking: other,
      words: `thinking: ${other}`,
    })),
    ...others.map((other) => ({ format: other, thinking, words: `answer_format: ${other}` })),
  ];
  const helping = candidates.filter((each) => locateAnswers(completion, each.format, each.thinking).formatValid);
  const named = helping.map(({ words }) => words).slice(0, 2);
  if (named.length > 0) return `; it contains an answer that ${named.join(" or ")} would read`;
  if (format !== "think_answer" || thinking !== "required" || /<\s*\/?\s*think/i.test(completion)) return "";
  const plain = others.includes("answer_tag") ? " or answer_format: answer_tag" : "";
  return `; a model that writes no thinking needs thinking: stripped${plain}`;
}
