/**
 * Decompresses messages of all connections in turns. A compressed message of a few kilobytes may grow to the maximum
 * size of a message.
 */
import { createTurnTaking, type Party } from "../base/fair-turns.ts";
import { decompress, type DecompressOptions, type Encoding } from "./wire/frames.ts";

/** Maximum number of messages that are decompressed at once. */
const AT_ONCE = 2;

const inTurn = createTurnTaking(AT_ONCE);

/**
 * Does the same as `decompress`, in turns. Callers take turns by the bytes that were decompressed for each, and so do a
 * caller's connections.
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
