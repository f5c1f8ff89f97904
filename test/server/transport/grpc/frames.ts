/** HTTP/2 frames written by hand (RFC 9113, section 4.1), for clients that break rules which libraries keep. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { expect } from "vitest";
import { eventually } from "../../../support/patience.ts";

export const frameTypes = { data: 0, headers: 1, rstStream: 3, settings: 4, goaway: 7 } as const;
const acknowledged = 0x1;
const endStream = 0x1;
const endHeaders = 0x4;
const cancel = 8;

export interface FramesClient {
  readonly socket: Socket;
  /** The type of each frame that came, with its stream. */
  readonly received: { readonly type: number; readonly stream: number }[];
}

/** First bytes of a client's connection. */
export const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frameOf(frameTypes.settings, 0, 0),
]);

/** Connects, and settles on the server's settings unless told not to. */
export async function connectFrames(port: number, { settles } = { settles: true }): Promise<FramesClient> {
  const socket = connect(port, "127.0.0.1");
  const received: FramesClient["received"] = [];
  let rest = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      received.push({ type: rest.readUInt8(3), stream: rest.readUInt32BE(5) });
      rest = rest.subarray(9 + rest.readUIntBE(0, 3));
    }
  });
  socket.write(preface);
  await eventually(() => expect(received).toContainEqual({ type: frameTypes.settings, stream: 0 }));
  if (settles) socket.write(frameOf(frameTypes.settings, acknowledged, 0));
  return { socket, received };
}

/** A call of Step with its whole request. */
export function stepFrames(stream: number): Buffer {
  return Buffer.concat([headersFrame(stream), frameOf(frameTypes.data, endStream, stream, Buffer.alloc(5))]);
}

/** A call that is begun and given up at once. */
export function cancelledFrames(stream: number): Buffer {
  const code = Buffer.alloc(4);
  code.writeUInt32BE(cancel);
  return Buffer.concat([headersFrame(stream), frameOf(frameTypes.rstStream, 0, stream, code)]);
}

function headersFrame(stream: number): Buffer {
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": "/gradus.v1.EnvironmentService/Step",
    ":authority": "localhost",
    "content-type": "application/grpc",
    te: "trailers",
  };
  const block = Object.entries(headers).map(([name, value]) =>
    // A literal without indexing: RFC 7541, section 6.2.2.
    Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]),
  );
  return frameOf(frameTypes.headers, endHeaders, stream, Buffer.concat(block));
}

function frameOf(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}
