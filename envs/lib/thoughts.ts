/** Thoughts that a server gives apart from the text that follows them. */

/** A whole completion of thoughts and a text that a server gave apart; thoughts undefined: there are none. */
export function withThoughts(thoughts: string | undefined, text: string, isCut: boolean): string {
  if (thoughts === undefined || text.includes("</think>")) return text;
  // The thought itself was cut off: it has no end.
  if (isCut && text.trim() === "") return `<think>\n${thoughts}`;
  return `<think>\n${thoughts}\n</think>\n${text}`;
}
