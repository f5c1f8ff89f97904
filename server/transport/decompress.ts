/**
 * Decompresses the messages of all connections in turns, because a few compressed kilobytes may become the maximum size
 * of a message.
 */
import { createTurnTaking, type Party } from "../base/fair-turns.ts";
import { decompress, type DecompressOptions, type Encoding } from "./wire/frames.ts";

/** Maximum number of messages that are decompressed at the same time. */
const AT_ONCE = 2;

const inTurn = createTurnTaking(AT_ONCE);

/**
 * Decompresses a message when it is its turn. Callers, and the connections of a caller, take turns by the bytes
 * decompressed for each.
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
