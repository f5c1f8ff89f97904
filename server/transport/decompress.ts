/**
 * Decompresses messages of all connections in turns. A compressed message of a few kilobytes may grow to the maximum
 * size of a message.
 */
import { fairTurns, type Party } from "../base/fair-turns.ts";
import { decompress, type DecompressOptions, type Encoding } from "./wire/frames.ts";

/** Maximum number of messages that are decompressed at once. */
const AT_ONCE = 2;

const turns = fairTurns<() => void>();
let going = 0;

function beginNext(): void {
  for (; going < AT_ONCE; going++) {
    const begin = turns.next();
    if (begin === undefined) return;
    begin();
  }
}

/**
 * Does the same as `decompress`, in turns. Callers take turns by the bytes that were decompressed for each, and so do a
 * caller's connections.
 */
export async function decompressInTurn(
  party: Party,
  compressed: Uint8Array,
  encoding: Encoding,
  { maxBytes, onPiece }: DecompressOptions,
): Promise<Buffer> {
  await new Promise<void>((begin) => {
    turns.add(party, begin, 1);
    beginNext();
  });
  turns.expect(party, maxBytes);
  let made = 0;
  const counted = (bytes: number): void => {
    made += bytes;
    onPiece(bytes);
  };
  try {
    return await decompress(compressed, encoding, { maxBytes, onPiece: counted });
  } finally {
    turns.expect(party, -maxBytes);
    turns.charge(party, made);
    going--;
    beginNext();
  }
}
