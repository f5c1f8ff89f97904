/**
 * Encodes and decodes the frames between the server, a local host and its workers. A frame is a ProviderFrame message
 * of provider.proto, preceded by its length.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ProviderFrame, ProviderFrameSchema } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { frameCutter } from "../frame-cutter.ts";

const LENGTH_BYTES = 4;
/** Maximum bytes of a frame, which is also the limit of provider.proto. */
export const FRAME_BYTES_MAX = 64 * 1024 ** 2;

export type FrameContent = ProviderFrame["content"];

/** Encodes a frame of call number `call`. Undefined: it would be larger than FRAME_BYTES_MAX. */
export function frameBytes(call: number, content: FrameContent): Buffer | undefined {
  const message = toBinary(ProviderFrameSchema, { $typeName: "gradus.v1.ProviderFrame", call, content });
  if (message.length > FRAME_BYTES_MAX) return undefined;
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  bytes.writeUInt32BE(message.length, 0);
  bytes.set(message, LENGTH_BYTES);
  return bytes;
}

/**
 * Returns a function that collects chunks of bytes and calls `onFrame` for each complete frame. It throws on bytes that
 * are not a frame.
 */
export function createFrameReader(onFrame: (frame: ProviderFrame) => void): (chunk: Buffer) => void {
  return frameCutter(lengthOf, (frame) => onFrame(fromBinary(ProviderFrameSchema, frame.subarray(LENGTH_BYTES))));
}

/** Returns the length of the first frame, its length prefix included. Uses the first bytes received so far. */
function lengthOf(start: Buffer): number {
  if (start.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = start.readUInt32BE(0);
  if (length > FRAME_BYTES_MAX) throw new Error(`a message has ${length} bytes, and the limit is ${FRAME_BYTES_MAX}`);
  return LENGTH_BYTES + length;
}
