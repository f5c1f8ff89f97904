/** What every answer format's scanner gives. */

/** The marked answers in part of a text. */
export interface Marks {
  /** Where the closed ones lie, in order, without their marks: start, end, start, end, … in UTF-16 units. */
  readonly offsets: readonly number[];
  /** Whether one is open at the end. */
  readonly open: boolean;
}

/** Finds the marked answers in text[start, end), in time linear in the text's length. */
export type Scanner = (text: string, start: number, end: number) => Marks;
