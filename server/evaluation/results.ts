/** What operations on evaluations answer: the same kinds of refusal as runs have. */
export type { Refusal, Result } from "../curriculum/index.ts";
