/**
 * Converts messages to and from bytes before grpc-js sees them. Otherwise a message that cannot be converted would fail
 * its whole stream.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { GradusError } from "../errors.ts";

/** Returns the message's bytes. Throws INVALID_ARGUMENT for a value that its field cannot hold. */
export function bytesOf<D extends DescMessage>(schema: D, message: MessageShape<D>): Buffer {
  try {
    const bytes = toBinary(schema, message);
    // Make the buffer a view of the same memory, without a copy.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    throw new GradusError("INVALID_ARGUMENT", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Serializer of grpc-js for messages that are already bytes. */
export const asIs = (bytes: Buffer): Buffer => bytes;

/** Returns a function that reads messages of one type from bytes. */
export const reader =
  <D extends DescMessage>(schema: D) =>
  (bytes: Buffer): MessageShape<D> =>
    fromBinary(schema, bytes);
