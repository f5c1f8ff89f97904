/** Sends attacks, and reads the answers. */
import { Agent, request } from "node:http";
import { type ClientHttp2Session, constants } from "node:http2";
import { connect } from "node:net";
import { callRaw, connectRaw } from "../../server/transport/grpc/raw.ts";
import type { Attack, GrpcAttack, HttpAttack, SocketAttack } from "./attack.ts";
import { messageOf } from "./status.ts";

export type Answer =
  | {
      readonly kind: "grpc";
      readonly httpStatus: string;
      /** Undefined: no status came. */
      readonly code: number | undefined;
      readonly message: string;
      /** The answers' bytes, with gRPC's five before each. */
      readonly body: Buffer;
    }
  | {
      readonly kind: "http";
      readonly status: number;
      readonly headers: Readonly<Record<string, unknown>>;
      readonly body: Buffer;
    }
  /** The attacker left, or sent something that has no answer. */
  | { readonly kind: "none" }
  /** The server ended the exchange below HTTP. */
  | { readonly kind: "cut"; readonly why: string };

export interface Attacker {
  send(attack: Attack): Promise<Answer>;
  close(): Promise<void>;
}

export async function openAttacker(ports: { readonly grpcPort: number; readonly httpPort: number }): Promise<Attacker> {
  // Node gives up a connection with more than this, in MB, waiting to be sent; attacks are large.
  const session = await connectRaw(ports.grpcPort, { maxSessionMemory: 1000 });
  session.on("error", () => undefined);
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  return {
    send(attack) {
      switch (attack.kind) {
        case "grpc":
          return sendGrpc(session, attack);
        case "http":
          return sendHttp(agent, ports.httpPort, attack);
        case "socket":
          return sendBytes(attack.port === "grpc" ? ports.grpcPort : ports.httpPort, attack);
      }
    },
    async close() {
      agent.destroy();
      if (!session.destroyed) await new Promise<void>((resolve) => session.close(resolve));
    },
  };
}

const PATIENCE_MS = 200;

async function sendGrpc(session: ClientHttp2Session, attack: GrpcAttack): Promise<Answer> {
  const { stream, ended } = callRaw(session, "", { ":path": attack.path, ...attack.headers });
  const received: Buffer[] = [];
  let httpStatus = "";
  stream.on("response", (headers) => (httpStatus = String(headers[":status"])));
  stream.on("data", (bytes: Buffer) => received.push(bytes));
  for (const chunk of attack.chunks) stream.write(chunk);
  if (attack.end === "close") stream.end();
  if (attack.end === "reset") stream.close(constants.NGHTTP2_CANCEL);
  // The client ends its half of the stream when the server has ended the other.
  if (attack.end === "never") stream.on("end", () => stream.end());
  // A client that sends nothing more still gives up some time after its own deadline.
  const patience =
    attack.end === "never" ? setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), PATIENCE_MS) : undefined;
  try {
    const trailers = await ended;
    clearTimeout(patience);
    if (attack.end !== "close" && trailers["grpc-status"] === undefined) return { kind: "none" };
    const code = trailers["grpc-status"] === undefined ? undefined : Number(trailers["grpc-status"]);
    return { kind: "grpc", httpStatus, code, message: messageOf(trailers), body: Buffer.concat(received) };
  } catch (error) {
    return { kind: "cut", why: (error as Error).message };
  }
}

function sendHttp(agent: Agent, port: number, { verb, path, headers, body }: HttpAttack): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(
      { agent, host: "127.0.0.1", port, method: verb, path, headers: { ...headers } },
      (response) => {
        const received: Buffer[] = [];
        response.on("data", (bytes: Buffer) => received.push(bytes));
        response.on("close", () => {
          const all = { ...response.headers, ...response.trailers };
          resolve({ kind: "http", status: response.statusCode ?? 0, headers: all, body: Buffer.concat(received) });
        });
      },
    );
    sent.on("error", (error) => resolve({ kind: "cut", why: error.message }));
    sent.end(body);
  });
}

/** Time, in milliseconds, that an attacker listens for an answer to its bytes. */
const LISTEN_MS = 30;

function sendBytes(port: number, { bytes }: SocketAttack): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), LISTEN_MS);
    socket.on("error", () => undefined);
    socket.on("data", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve({ kind: "none" });
    });
  });
}
