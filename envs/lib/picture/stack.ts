/** Amounts laid end to end against a line that they must not, or must just, reach. */
import { hatching, path, rect, segment, text } from "./svg.ts";
import type { Shape } from "./svg.ts";

export interface Piece {
  readonly amount: number;
  readonly label: string;
  readonly className: string;
  /** Class of the label on it. */
  readonly onClass: string;
  /** Wrong whatever the sum, for example listed before. */
  readonly wrong: boolean;
}

export interface Stack {
  readonly pieces: readonly Piece[];
  readonly left: number;
  readonly top: number;
  readonly height: number;
  /** Pixels of one unit. */
  readonly scale: number;
  readonly limit: number;
}

/** The pieces from left to right, in the frame that they are to fill; what lies beyond the limit, or is wrong, is hatched. */
export function stackShapes({ pieces, left, top, height, scale, limit }: Stack): readonly Shape[] {
  let sum = 0;
  const shapes = pieces.flatMap(({ amount, label, className, onClass, wrong }) => {
    const [start, end] = [sum, sum + amount];
    sum = end;
    const [x, width] = [left + start * scale, amount * scale];
    const from = wrong ? start : Math.max(start, limit);
    const beyond = Math.max(0, end - from) * scale;
    return [
      rect(x, top, Math.max(0.5, width - 1), height, className),
      ...(beyond > 0 ? [path(hatching(left + from * scale, top, beyond, height), "gd-hatch")] : []),
      ...(width > 9 + 6 * label.length ? [text(x + width / 2, top + height / 2, onClass, label)] : []),
    ];
  });
  return [rect(left, top, limit * scale, height, "gd-plain"), ...shapes];
}

export function sumOfPieces(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { amount }) => sum + amount, 0);
}

/** A vertical line at an amount, with words above it. */
export function limitShapes(x: number, top: number, bottom: number, words: string): readonly Shape[] {
  return [path([segment(x, top, x, bottom)], "gd-limit"), text(x, top - 9, "gd-mid", words)];
}
