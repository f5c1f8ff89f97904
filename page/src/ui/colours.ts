/** Assigns the colours and dashes that distinguish the lines of a chart. */

/**
 * Colour variable of style/base.css. Observable Plot draws such a value as a colour. Plot takes other strings, e.g.
 * "light-dark(…)", for column names and then draws nothing.
 */
export type Ink = `var(--${string})`;

/** Number of line colours in style/base.css. */
const INKS = 8;

/** Dash patterns. Lines beyond the number of colours repeat the colours with the next pattern. */
const DASHES = [undefined, "7 3", "2 3", "9 3 2 3"] as const;

export interface Pen {
  readonly ink: Ink;
  /** SVG stroke-dasharray. Undefined for a solid line. */
  readonly dash?: string | undefined;
  /** Width in pixels. Defaults to 1.6. */
  readonly width?: number;
  /** Opacity from 0 to 1. Defaults to 1. */
  readonly opacity?: number;
}

/** Returns a pen for each line of a chart. The first 32 all differ. */
export function pensOf(count: number): readonly Pen[] {
  return Array.from({ length: count }, (_, at) => ({
    ink: `var(--line-${(at % INKS) + 1})` as const,
    dash: DASHES[Math.floor(at / INKS) % DASHES.length],
  }));
}
