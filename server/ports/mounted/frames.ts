/** The bytes between the server, a local host and its workers: provider.proto's ProviderFrames, each after its length. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ProviderFrame, ProviderFrameSchema } from "../../gen/gradus/v1/provider_pb.js";

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
  let waiting: Buffer[] = [];
  let bytes = 0;
  let wanted = LENGTH_BYTES;
  return (chunk) => {
    waiting.push(chunk);
    bytes += chunk.length;
    // A large frame is put together once, when all of it is there.
    if (bytes < wanted) return;
    let rest = waiting.length === 1 ? chunk : Buffer.concat(waiting);
    for (;;) {
      wanted = lengthOf(rest);
      if (rest.length < wanted) break;
      onFrame(fromBinary(ProviderFrameSchema, rest.subarray(LENGTH_BYTES, wanted)));
      rest = rest.subarray(wanted);
    }
    waiting = rest.length === 0 ? [] : [rest];
    bytes = rest.length;
  };
}

/** How long the frame is that begins here, with its length, as far as it can be told yet. */
function lengthOf(start: Buffer): number {
  if (start.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = start.readUInt32BE(0);
  if (length > FRAME_BYTES_MAX) throw new Error(`a frame of ${length} bytes, and the limit is ${FRAME_BYTES_MAX}`);
  return LENGTH_BYTES + length;
}
