/** Joins the thoughts and the text of a completion, which some inference servers return separately. */

/**
 * Returns a whole completion: the thoughts in <think> tags, then the text. `thoughts` is undefined if the inference
 * server returned none. `isCut` is true if generation stopped at its length limit.
 */
export function withThoughts(thoughts: string | undefined, text: string, isCut: boolean): string {
  if (thoughts === undefined || text.includes("</think>")) return text;
  // Generation stopped within the thoughts, so they get no closing tag.
  if (isCut && text.trim() === "") return `<think>\n${thoughts}`;
  return `<think>\n${thoughts}\n</think>\n${text}`;
}
