/**
 * HTTP/2 and gRPC framing by hand over one socket (https://www.rfc-editor.org/rfc/rfc9113). A gRPC client that makes a
 * load costs more CPU than the server that answers it, so on two cores the client would be measured. The code here
 * writes requests made beforehand, and reads only the heads of the answers' frames.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";

const frameTypes = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const endStream = 0x1;
const endHeaders = 0x4;
const ack = 0x1;
const initialWindowSetting = 0x4;
/** The largest frame that every peer must take. */
const framePayloadMax = 16_384;
const windowMax = 2 ** 31 - 1;
/** Number of used bytes of the connection's window after which the client tops it up. */
const topUpBytes = 8 * 1024 ** 2;

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes.writeUInt8(type, 3);
  bytes.writeUInt8(flags, 4);
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

/** A header block without compression (RFC 7541, 6.2.2), so that each request's is the same. */
function requestHeaders(path: string): Buffer {
  const literal = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
  const named = (name: string, value: string) => Buffer.concat([Buffer.of(0), literal(name), literal(value)]);
  const pathField = Buffer.concat([Buffer.of(0x04), literal(path)]);
  const authority = Buffer.concat([Buffer.of(0x01), literal("localhost")]);
  const rest = [named("content-type", "application/grpc"), named("te", "trailers")];
  // 0x83 and 0x86 are ":method: POST" and ":scheme: http" in the static table.
  return Buffer.concat([Buffer.of(0x83, 0x86), pathField, authority, ...rest]);
}

/** Frames of one call or message, to be sent on any stream. */
export interface Template {
  readonly bytes: Buffer;
  /** Offsets at which the stream's number is written. */
  readonly streamAt: readonly number[];
  /** Bytes that count against the flow-control windows. */
  readonly dataBytes: number;
}

function templateOf(frames: readonly Buffer[], dataBytes: number): Template {
  let at = 0;
  const streamAt = frames.map((of) => {
    at += of.length;
    return at - of.length + 5;
  });
  return { bytes: Buffer.concat(frames), streamAt, dataBytes };
}

/** Returns the bytes of a template's frames for a stream. */
function bytesOf(template: Template, stream: number): Buffer {
  const bytes = Buffer.from(template.bytes);
  for (const at of template.streamAt) bytes.writeUInt32BE(stream, at);
  return bytes;
}

function framesOf(template: Template, stream: number): Buffer[] {
  const bytes = bytesOf(template, stream);
  return template.streamAt.map((at, i) => bytes.subarray(at - 5, (template.streamAt[i + 1] ?? bytes.length + 5) - 5));
}

function dataFrames(message: Uint8Array, lastFlags: number): readonly Buffer[] {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  const frames: Buffer[] = [];
  for (let at = 0; at < framed.length; at += framePayloadMax) {
    const flags = at + framePayloadMax >= framed.length ? lastFlags : 0;
    frames.push(frame(frameTypes.data, flags, 0, framed.subarray(at, at + framePayloadMax)));
  }
  return frames;
}

/** A whole unary call. */
export function unaryTemplate(path: string, message: Uint8Array): Template {
  const headers = frame(frameTypes.headers, endHeaders, 0, requestHeaders(path));
  return templateOf([headers, ...dataFrames(message, endStream)], message.length + 5);
}

/** One message of a stream that is open. */
export function messageTemplate(message: Uint8Array): Template {
  return templateOf(dataFrames(message, 0), message.length + 5);
}

interface Stream {
  window: number;
  /** Bytes of the current message that are still to come; while its length is not known, they gather in `head`. */
  pending: number;
  head: number[];
  messages: number;
  onMessage: () => void;
  /** Data of a call so far. An open stream keeps none, because it may get gigabytes. */
  readonly body: Buffer[] | undefined;
  onEnd: WhenEnded;
}

/** A call of which some frames have not been sent. */
interface WaitingCall {
  readonly stream: Stream;
  readonly frames: Buffer[];
}

/**
 * Called at the end of a stream with the number of messages. Of a call, `body` has all bytes of their data, with the gRPC
 * prefixes; of an open stream it is empty.
 */
type WhenEnded = (messages: number, body: readonly Buffer[]) => void;

export interface OpenStream {
  /** Sends a message. False: the windows have no room; try again after the next answer. */
  send(message: Template): boolean;
  end(): void;
}

export interface Wire {
  /** Sends a call, as the windows allow. Returns false if an earlier call still waits for room; try again later. */
  call(template: Template, onEnd: WhenEnded): boolean;
  open(path: string, onMessage: () => void, onEnd: WhenEnded): OpenStream;
  close(): void;
}

/** Connects and exchanges settings. What breaks the connection later is thrown, for a benchmark has no use for it. */
export async function openWire(port: number): Promise<Wire> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const wire = createWire(socket);
  await wire.ready;
  return wire;
}

function createWire(socket: Socket): Wire & { readonly ready: Promise<void> } {
  const streams = new Map<number, Stream>();
  /** Calls that are longer than the windows. */
  let waiting: readonly WaitingCall[] = [];
  let nextStream = 1;
  let window = 65_535;
  let streamWindow = 65_535;
  let received = 0;
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (isReady = resolve));
  let rest = Buffer.alloc(0);

  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(initialWindowSetting, 0);
  settings.writeUInt32BE(windowMax, 2);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(frame(frameTypes.settings, 0, 0, settings));
  socket.write(windowUpdate(windowMax - 65_535));
  socket.on("error", (error) => {
    throw error;
  });
  socket.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= 9) {
      const length = rest.readUIntBE(at, 3);
      if (rest.length - at - 9 < length) break;
      const stream = rest.readUInt32BE(at + 5);
      onFrame(rest[at + 3] ?? 0, rest[at + 4] ?? 0, stream, rest.subarray(at + 9, at + 9 + length));
      at += 9 + length;
    }
    rest = rest.subarray(at);
  });

  const onFrame = (type: number, flags: number, id: number, payload: Buffer): void => {
    if (type === frameTypes.data) onData(id, payload);
    else if (type === frameTypes.settings && (flags & ack) === 0) onSettings(payload);
    else if (type === frameTypes.ping) {
      if ((flags & ack) === 0) socket.write(frame(frameTypes.ping, ack, 0, payload));
      else isReady();
    } else if (type === frameTypes.windowUpdate) onWindow(id, payload.readUInt32BE(0));
    else if (type === frameTypes.goAway) throw new Error(`the server went away: code ${payload.readUInt32BE(4)}`);
    else if (type === frameTypes.reset && payload.readUInt32BE(0) !== 0) throw new Error(`stream ${id} was reset`);
    const ended = (type === frameTypes.data || type === frameTypes.headers) && (flags & endStream) !== 0;
    if (ended) onEnd(id);
  };
  const onSettings = (payload: Buffer): void => {
    for (let at = 0; at < payload.length; at += 6) {
      if (payload.readUInt16BE(at) === initialWindowSetting) streamWindow = payload.readUInt32BE(at + 2);
    }
    socket.write(frame(frameTypes.settings, ack, 0, Buffer.alloc(0)));
    // The server enlarges the connection's window after its settings, and answers a ping after both.
    socket.write(frame(frameTypes.ping, 0, 0, Buffer.alloc(8)));
  };
  const onWindow = (id: number, bytes: number): void => {
    const stream = streams.get(id);
    if (id === 0) window += bytes;
    else if (stream !== undefined) stream.window += bytes;
    waiting = waiting.filter(sendSome);
  };
  /** Sends as many frames of a call as the windows allow. Returns whether frames are left. */
  const sendSome = ({ stream, frames }: WaitingCall): boolean => {
    for (let [next] = frames; next !== undefined; [next] = frames) {
      const bytes = next[3] === frameTypes.data ? next.length - 9 : 0;
      if (Math.min(window, stream.window) < bytes) return true;
      window -= bytes;
      stream.window -= bytes;
      socket.write(next);
      frames.shift();
    }
    return false;
  };
  const onData = (id: number, payload: Buffer): void => {
    received += payload.length;
    if (received > topUpBytes) {
      socket.write(windowUpdate(received));
      received = 0;
    }
    const stream = streams.get(id);
    if (stream === undefined) return;
    stream.body?.push(payload);
    countMessages(stream, payload);
  };
  const onEnd = (id: number): void => {
    const stream = streams.get(id);
    streams.delete(id);
    stream?.onEnd(stream.messages, stream.body ?? []);
  };
  const add = (onMessage: () => void, whenEnded: WhenEnded, body?: Buffer[]): number => {
    const id = nextStream;
    nextStream += 2;
    const counts = { pending: 0, head: [], messages: 0, body };
    streams.set(id, { window: streamWindow, ...counts, onMessage, onEnd: whenEnded });
    return id;
  };
  const write = (template: Template, id: number): void => {
    window -= template.dataBytes;
    const stream = streams.get(id);
    if (stream !== undefined) stream.window -= template.dataBytes;
    socket.write(bytesOf(template, id));
  };

  return {
    ready,
    call: (template, whenEnded) => {
      if (waiting.length > 0) return false;
      const id = add(() => undefined, whenEnded, []);
      const stream = streams.get(id);
      if (stream === undefined || Math.min(window, stream.window) >= template.dataBytes) write(template, id);
      else waiting = [{ stream, frames: framesOf(template, id) }].filter(sendSome);
      return true;
    },
    open: (path, onMessage, whenEnded) => {
      const id = add(onMessage, whenEnded);
      socket.write(frame(frameTypes.headers, endHeaders, id, requestHeaders(path)));
      return {
        send: (template) => {
          const stream = streams.get(id);
          if (stream === undefined || Math.min(window, stream.window) < template.dataBytes) return false;
          write(template, id);
          return true;
        },
        end: () => void socket.write(frame(frameTypes.data, endStream, id, Buffer.alloc(0))),
      };
    },
    close: () => void socket.destroy(),
  };
}

function windowUpdate(bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(frameTypes.windowUpdate, 0, 0, payload);
}

/** Counts the gRPC messages in a stream's data, however frames cut them. */
function countMessages(stream: Stream, data: Buffer): void {
  let at = 0;
  while (at < data.length) {
    if (stream.pending > 0) {
      const taken = Math.min(stream.pending, data.length - at);
      stream.pending -= taken;
      at += taken;
    } else {
      stream.head.push(data[at++] ?? 0);
      if (stream.head.length < 5) continue;
      stream.pending = Buffer.from(stream.head).readUInt32BE(1);
      stream.head = [];
    }
    if (stream.pending > 0 || stream.head.length > 0) continue;
    stream.messages += 1;
    stream.onMessage();
  }
}
