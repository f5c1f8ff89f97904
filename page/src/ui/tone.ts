/** How something stands: what a word's colour says with it. */
export type Tone = "good" | "bad" | "poor" | "plain" | "best";
