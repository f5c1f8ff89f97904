/** The bytes between the server, a local host and its workers: provider.proto's ProviderFrames, each after its length. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ProviderFrame, ProviderFrameSchema } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { frameCutter } from "../frame-cutter.ts";

const LENGTH_BYTES = 4;
/** The contract's. */
export const FRAME_BYTES_MAX = 64 * 1024 ** 2;

export type FrameContent = ProviderFrame["content"];

/** Undefined: it has more bytes than a frame may. */
export function frameBytes(call: number, content: FrameContent): Buffer | undefined {
  const message = toBinary(ProviderFrameSchema, { $typeName: "gradus.v1.ProviderFrame", call, content });
  if (message.length > FRAME_BYTES_MAX) return undefined;
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  bytes.writeUInt32BE(message.length, 0);
  bytes.set(message, LENGTH_BYTES);
  return bytes;
}

/** Cuts what comes into frames. Throws where it is none. */
export function createFrameReader(onFrame: (frame: ProviderFrame) => void): (chunk: Buffer) => void {
  return frameCutter(lengthOf, (frame) => onFrame(fromBinary(ProviderFrameSchema, frame.subarray(LENGTH_BYTES))));
}

/** How long the frame is that begins here, with its length, as far as it can be told yet. */
function lengthOf(start: Buffer): number {
  if (start.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = start.readUInt32BE(0);
  if (length > FRAME_BYTES_MAX) throw new Error(`a frame of ${length} bytes, and the limit is ${FRAME_BYTES_MAX}`);
  return LENGTH_BYTES + length;
}
