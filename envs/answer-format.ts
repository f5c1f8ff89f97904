/** Answer formats: how a completion marks its answer, how that is asked for, and how it is found again. */
export { formatInstruction, stopStrings, wrapAnswer } from "./answer-format/wording.ts";
export { locateAnswers, SPANS_MAX } from "./answer-format/locate.ts";
export type { Located, LocatedSpan } from "./answer-format/locate.ts";
