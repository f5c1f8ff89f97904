/** A bound on how many parts a message has, found before they are made: an empty one takes two bytes here, and a hundred there. */
import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Fields of a message and of all messages in it. More would keep the event loop for a second. */
export const PARTS_MAX = 2 ** 20;

/** Throws for more parts, and for bytes that are no protobuf. */
export function checkParts(schema: DescMessage, bytes: Uint8Array): void {
  // Each takes two bytes at least.
  if (bytes.length < 2 * PARTS_MAX) return;
  const reader = new BinaryReader(bytes);
  let parts = 0;
  const scan = (of: DescMessage, end: number): void => {
    while (reader.pos < end) {
      if (++parts > PARTS_MAX) throw new Error(`more than ${PARTS_MAX} fields`);
      const [number, wireType] = reader.tag();
      const inner = of.fields.find((field) => field.number === number)?.message;
      if (inner === undefined || wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
      else scan(inner, reader.uint32() + reader.pos);
    }
  };
  scan(schema, bytes.length);
}
