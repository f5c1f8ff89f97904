/** Tone of a word, shown by its colour. */
export type Tone = "good" | "bad" | "poor" | "plain" | "best";
