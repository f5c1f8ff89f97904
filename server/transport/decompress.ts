/**
 * Decompresses request messages, a few at a time, in a fair order. A few compressed kilobytes may expand to the maximum
 * size of a message, so one caller could otherwise hold up all others.
 */
import { createTurnTaking, type Party } from "../base/fair-turns.ts";
import { decompress, type DecompressOptions, type Encoding } from "./wire/frames.ts";

/** Maximum number of messages that are decompressed at the same time. */
const AT_ONCE = 2;

const inTurn = createTurnTaking(AT_ONCE);

/**
 * Waits for the party's turn, then decompresses its message. The next turn goes to the caller with the fewest
 * decompressed bytes so far, and within it to the connection with the fewest.
 */
export function decompressInTurn(
  party: Party,
  compressed: Uint8Array,
  encoding: Encoding,
  { maxBytes, onPiece }: DecompressOptions,
): Promise<Buffer> {
  return inTurn(party, maxBytes, (charge) => {
    const counted = (bytes: number): void => {
      charge(bytes);
      onPiece(bytes);
    };
    return decompress(compressed, encoding, { maxBytes, onPiece: counted });
  });
}
