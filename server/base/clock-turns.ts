/**
 * Splits long work into pieces, each done in its own turn of the event loop, so that other work can run between them.
 */
import type { Clock } from "./clock.ts";

export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.nextTurn(resolve));
}

/**
 * Total length, in bytes, of the pieces that are handled in one turn of the event loop. They take about a millisecond.
 */
const LENGTH_PER_TURN = 64 * 1024;

/**
 * Minimum length, in bytes, that a piece counts as. A short piece can take long too, e.g. if it stands for thousands of
 * samples.
 */
const LENGTH_MIN = 8 * 1024;

/**
 * Calls `each` with every piece. After pieces of LENGTH_PER_TURN bytes together, other work of the event loop gets a
 * turn.
 */
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
