/** Speaks gRPC by hand over node:http2, to see and do what a client library hides or forbids. */
import { connect, constants } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream, ClientSessionOptions } from "node:http2";

export interface RawCall {
  readonly stream: ClientHttp2Stream;
  /** Resolves with the trailers, or the headers of an answer that has only those, once the call has ended. */
  readonly ended: Promise<Readonly<Record<string, unknown>>>;
}

/** Connects, and waits for the server's settings. */
export async function connectRaw(port: number, options: ClientSessionOptions = {}): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`, options);
  await new Promise((resolve, reject) => {
    session.once("remoteSettings", resolve);
    session.once("error", reject);
  });
  return session;
}

/** Starts a call of the EnvironmentService; the request is for the caller to write. */
export function callRaw(session: ClientHttp2Session, method: string, headers: Record<string, string> = {}): RawCall {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: `/gradus.v1.EnvironmentService/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  let last: Readonly<Record<string, unknown>> = {};
  const keep = (received: Readonly<Record<string, unknown>>) => (last = received);
  stream.on("response", keep);
  stream.on("trailers", keep);
  const ended = new Promise<typeof last>((resolve, reject) => {
    stream.on("close", () => resolve(last));
    stream.on("error", reject);
  });
  ended.catch(() => undefined);
  return { stream, ended };
}

/** A message with gRPC's five bytes before it. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}
