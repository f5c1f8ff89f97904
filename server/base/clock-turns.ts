/** Splits long work into turns, between which other work can run. */
import type { Clock } from "./clock.ts";

export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.nextTurn(resolve));
}

/** Bytes that are written or read in one turn of the event loop: about a millisecond. */
const LENGTH_PER_TURN = 64 * 1024;

/**
 * Minimum length that a piece counts for. A short piece of a state may stand for thousands of samples without a result.
 */
const LENGTH_MIN = 8 * 1024;

/** Calls `each` with every piece, in turns with other work. */
export async function inTurns<Piece extends { readonly length: number }>(
  clock: Clock,
  pieces: Iterable<Piece>,
  each: (piece: Piece) => unknown,
): Promise<void> {
  let length = 0;
  for (const piece of pieces) {
    each(piece);
    length += Math.max(piece.length, LENGTH_MIN);
    if (length < LENGTH_PER_TURN) continue;
    length = 0;
    await nextTurn(clock);
  }
}
