/** Adds to the violation of a missed answer the settings of the run that would have read it. */
import { locateAnswers, type Thinking } from "../../envs/answers/locate.ts";
import { clipUtf8 } from "../../envs/lib/text.ts";
import { type AnyScoreTask, type Score, VIOLATION_BYTES_MAX } from "../../envs/score.ts";

const THINKINGS: readonly Thinking[] = ["stripped", "required", "prefilled"];

/**
 * The score with its remedy. An answer that was found and cannot be read has none, nor has a completion that was cut: no
 * setting finds the answer in it.
 */
export function withRemedy(task: AnyScoreTask, completion: string, score: Score): Score {
  if (score.verdict !== "malformed" || task.wasCut === true) return score;
  const { problem } = locateAnswers(completion, task.format, task.thinking);
  // Some problems name their remedy themselves.
  if (problem === undefined || problem.includes("thinking: ")) return score;
  return { ...score, violation: clipUtf8(`${score.violation}${remedyOf(task, completion)}`, VIOLATION_BYTES_MAX) };
}

/** At most two settings that would read an answer of the completion, by the names of run files; empty: none is known to. */
function remedyOf({ environment, format, thinking = "required" }: AnyScoreTask, completion: string): string {
  const others = environment.answerFormats.filter((other) => other !== format);
  const candidates = [
    ...THINKINGS.map((other) => ({ format, thinking: other, words: `thinking: ${other}` })),
    ...others.map((other) => ({ format: other, thinking, words: `answer_format: ${other}` })),
  ];
  const helping = candidates.filter((each) => locateAnswers(completion, each.format, each.thinking).formatValid);
  const named = helping.map(({ words }) => words).slice(0, 2);
  if (named.length > 0) return `; an answer is there that ${named.join(" or ")} would read`;
  if (format !== "think_answer" || thinking !== "required" || /<\s*\/?\s*think/i.test(completion)) return "";
  const plain = others.includes("answer_tag") ? " or answer_format: answer_tag" : "";
  return `; a model that writes no thinking needs thinking: stripped${plain}`;
}
