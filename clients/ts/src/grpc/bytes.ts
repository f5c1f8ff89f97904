/** Messages as bytes. Made before grpc-js sees them: a message that cannot be written would fail its whole stream. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { GradusError } from "../errors.ts";

/** The message's bytes; INVALID_ARGUMENT for a value that its field cannot hold. */
export function bytesOf<D extends DescMessage>(schema: D, message: MessageShape<D>): Buffer {
  try {
    const bytes = toBinary(schema, message);
    // A view, not a copy.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    throw new GradusError("INVALID_ARGUMENT", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** For grpc-js, which asks how to write what is bytes already. */
export const asIs = (bytes: Buffer): Buffer => bytes;

/** Reads messages of one kind. */
export const reader =
  <D extends DescMessage>(schema: D) =>
  (bytes: Buffer): MessageShape<D> =>
    fromBinary(schema, bytes);
