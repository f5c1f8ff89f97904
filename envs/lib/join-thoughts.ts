/** Joins thoughts and text that an inference server returns separately. */

/** Returns a whole completion from thoughts and text. `thoughts` is undefined if the server returned none. */
export function withThoughts(thoughts: string | undefined, text: string, isCut: boolean): string {
  if (thoughts === undefined || text.includes("</think>")) return text;
  // The thought itself was cut off, so it gets no closing tag.
  if (isCut && text.trim() === "") return `<think>\n${thoughts}`;
  return `<think>\n${thoughts}\n</think>\n${text}`;
}
