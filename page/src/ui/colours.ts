/** The colours and dashes that tell the lines of a chart apart. */

/**
 * A colour of style/base.css. Observable Plot draws it as a colour; it takes another string, e.g. "light-dark(…)", for the
 * name of a column, and draws nothing.
 */
export type Ink = `var(--${string})`;

/** Colours in style/base.css that are made for lines. */
const INKS = 8;

/** More lines than colours repeat the colours with the next of these. */
const DASHES = [undefined, "7 3", "2 3", "9 3 2 3"] as const;

export interface Pen {
  readonly ink: Ink;
  /** As SVG's stroke-dasharray; undefined: a whole line. */
  readonly dash?: string | undefined;
  /** In pixels; left out: 1.6. */
  readonly width?: number;
  /** From 0 to 1; left out: 1. */
  readonly opacity?: number;
}

/** A pen for each line of a chart: the first 32 are all different. */
export function pensOf(count: number): readonly Pen[] {
  return Array.from({ length: count }, (_, at) => ({
    ink: `var(--line-${(at % INKS) + 1})` as const,
    dash: DASHES[Math.floor(at / INKS) % DASHES.length],
  }));
}
