/** HTTP/2 written by hand, for connections that no library allows: frames of RFC 9113, headers packed by RFC 7541. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const types = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
};
const endStream = 0x1;
const acknowledgement = 0x1;
const endHeaders = 0x4;
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

function frameOf(type: keyof typeof types, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(types[type], 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function headersOf(path: string): readonly (readonly [string, string])[] {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "localhost"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ];
}

/** Returns headers that the server adds to its table, so that one byte stands for each of them afterwards. */
function remembered(path: string): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat(
    headersOf(path).map(([name, value]) => Buffer.concat([Buffer.of(0x40), text(name), text(value)])),
  );
}

/**
 * Returns the headers as indices, once the peer has them in its table. HPACK's own entries are the first 61, and the
 * newest comes first.
 */
function again(path: string): Buffer {
  return Buffer.from(headersOf(path).map((_, i, { length }) => 0x80 | (62 + length - 1 - i)));
}

export const listPath = "/gradus.v1.EnvironmentService/ListEnvironments";
export const stepPath = "/gradus.v1.EnvironmentService/Step";
const emptyMessage = Buffer.alloc(5);

/** Returns the frames of the i-th stream of a connection. */
type StreamFrames = (stream: number, block: Buffer, i: number) => readonly Buffer[];

const reset = (stream: number): Buffer => frameOf("rstStream", 0, stream, uint32(8));
const opened = (stream: number, block: Buffer): Buffer => frameOf("headers", endHeaders, stream, block);
const message = (stream: number): Buffer => frameOf("data", endStream, stream, emptyMessage);

export const streams = {
  "reset after the headers": (stream, block) => [opened(stream, block), reset(stream)],
  "reset after the message": (stream, block) => [opened(stream, block), message(stream), reset(stream)],
  "left open": (stream, block) => [opened(stream, block)],
  whole: (stream, block) => [opened(stream, block), message(stream)],
} as const satisfies Record<string, StreamFrames>;

/** Frames that belong to no call. */
export const floods = {
  pings: frameOf("ping", 0, 0, Buffer.alloc(8)),
  settings: frameOf("settings", 0, 0),
  priorities: frameOf("priority", 0, 1, Buffer.from([0, 0, 0, 3, 16])),
  "window updates of 1": frameOf("windowUpdate", 0, 0, uint32(1)),
} as const;

/**
 * Returns the bytes of a connection that begins `count` streams. With `settles` it acknowledges the server's settings
 * ahead.
 */
export function begin(count: number, kind: keyof typeof streams, path = stepPath, settles = true): Buffer {
  const frames = Array.from({ length: count }, (_, i) =>
    streams[kind](2 * i + 1, i === 0 ? remembered(path) : again(path)),
  );
  const acknowledged = settles ? [frameOf("settings", acknowledgement, 0)] : [];
  return Buffer.concat([Buffer.from(preface), frameOf("settings", 0, 0), ...acknowledged, ...frames.flat()]);
}

/** Returns the bytes of a connection that sends `count` frames which belong to no call. */
export function flood(count: number, kind: keyof typeof floods): Buffer {
  return Buffer.concat([begin(1, "left open"), ...Array.from({ length: count }, () => floods[kind])]);
}

/** Returns a stream whose headers never end. */
export function endlessHeaders(count: number): Buffer {
  const more = frameOf(
    "continuation",
    0,
    1,
    Buffer.concat(Array.from({ length: 100 }, () => Buffer.of(0x00, 1, 120, 1, 120))),
  );
  const head = Buffer.concat([Buffer.from(preface), frameOf("settings", 0, 0)]);
  return Buffer.concat([
    head,
    frameOf("headers", 0, 1, remembered(stepPath)),
    ...Array.from({ length: count }, () => more),
  ]);
}

/** Returns a stream of `count` messages, with as many in each frame as fit. */
export function streamOf(path: string, bytes: Buffer, count: number): Buffer {
  const perFrame = Math.floor(16_384 / bytes.length);
  const frame = frameOf("data", 0, 1, Buffer.concat(Array.from({ length: perFrame }, () => bytes)));
  const frames = Array.from({ length: Math.ceil(count / perFrame) }, () => frame);
  return Buffer.concat([begin(1, "left open", path), ...frames]);
}

/** Returns a stream with `count` empty DATA frames. */
export function emptyPieces(count: number): Buffer {
  return Buffer.concat([begin(1, "left open"), ...Array.from({ length: count }, () => frameOf("data", 0, 1))]);
}

/** Sends bytes on a new connection, reads answers only if told to, and leaves after a time. */
export async function send(
  port: number,
  bytes: Buffer,
  { reads, forMs }: { readonly reads: boolean; readonly forMs: number },
) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  if (reads) socket.resume();
  else socket.pause();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(bytes);
  await Promise.race([closed, sleep(forMs)]);
  socket.destroy();
}
