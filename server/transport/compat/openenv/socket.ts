/**
 * Plays OpenEnv's sessions over WebSockets, so that OpenEnv's clients work unchanged: JSON messages, with one answer to
 * each. A session remembers only its client's current task. Messages are answered one at a time.
 */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RawData, WebSocket } from "ws";
import type { Method, TransportContext } from "../../call-context.ts";
import { createSliced, nextTurn } from "../../../base/time-slices.ts";
import type { Account, OpenCall } from "../../admission.ts";
import { LONG_JSON_BYTES } from "../../http/long-json.ts";
import { type CodeName, RpcError } from "../../../base/rpc.ts";
import { answered, headersOf, MessageCall } from "../call.ts";
import { isClose, type Kind, readMessage } from "./message.ts";
import type { Player, Reply } from "./play.ts";
import { GOING_AWAY, type Seat } from "./seats.ts";

/** Returns OpenEnv's error code, which is coarse. The field `grpc_code` of the answer has the gRPC status. */
function openEnvCode(code: CodeName): string {
  if (code === "INVALID_ARGUMENT") return "VALIDATION_ERROR";
  return code === "RESOURCE_EXHAUSTED" ? "CAPACITY_REACHED" : "EXECUTION_ERROR";
}

/** Refuses an upgrade by an answer in plain HTTP. */
export function refuse(socket: Duplex, status: number, message: string): void {
  const text = `${message}\n`;
  const words = STATUS_CODES[status] ?? "Error";
  const ask = status === 401 ? 'www-authenticate: Basic realm="gradus"\r\n' : "";
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${words}\r\ncontent-type: text/plain; charset=utf-8\r\n${ask}` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}

export interface OpenSession {
  readonly request: IncomingMessage;
  readonly account: Account;
  readonly socket: Socket;
  readonly context: TransportContext;
  readonly known: Readonly<Record<Kind, Method>>;
  readonly player: Player;
  readonly seat: Seat;
}

/**
 * Registers the session's incomplete message as an open call, so that its bytes count towards --max-held-bytes. Returns
 * this call. The session ends if its token is withdrawn, or if open calls keep too much memory.
 */
function heldBy(client: WebSocket, { account, socket, context: { admission } }: OpenSession) {
  let readBefore = socket.bytesRead;
  const held: OpenCall = {
    account,
    connection: socket,
    peer: `${socket.remoteAddress}:${socket.remotePort}`,
    get bufferedBytes() {
      return socket.bytesRead - readBefore;
    },
    receivingSinceMs: undefined,
    refuse: () => client.terminate(),
    abort: () => undefined,
  };
  client.on("close", admission.opened(held));
  client.on("message", () => {
    readBefore = socket.bytesRead;
  });
  return held;
}

/**
 * Passes a socket's data to the `ws` library. While a message is long, each round of the event loop passes on only one
 * piece of data for all sockets together. At the last piece, `ws` unmasks the whole message, which takes milliseconds.
 */
function readInTurns(client: WebSocket, socket: Socket, held: OpenCall): void {
  const [read] = socket.listeners("data");
  if (read === undefined) throw new Error("ws no longer listens to the data of its socket");
  const readPiece = (piece: Buffer): void => {
    if (socket.destroyed) return;
    read.call(socket, piece);
    if (!client.isPaused) socket.resume();
  };
  socket.removeAllListeners("data").on("data", (piece: Buffer) => {
    if (held.bufferedBytes <= LONG_JSON_BYTES) return readPiece(piece);
    socket.pause();
    void nextTurn().then(() => readPiece(piece));
  });
}

const sliced = createSliced();

/**
 * Makes a socket close in turns with other sockets. If a caller closes thousands of sockets at once, closing them in
 * one round of the event loop would take over 100 ms.
 */
function closeInSlices(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error): Socket => {
    sliced(() => void destroy(error));
    return socket;
  };
  const ends = socket.listeners("end");
  socket.removeAllListeners("end").on("end", () => {
    sliced(() => {
      for (const end of ends) Reflect.apply(end, socket, []);
    });
  });
}

/** Answers the messages of a socket until it closes. */
export function converse(client: WebSocket, opened: OpenSession): void {
  const { request, socket, context, known, player, seat } = opened;
  const held = heldBy(client, opened);
  readInTurns(client, socket, held);
  closeInSlices(socket);
  seat.closeSocket = (code, reason) => client.close(code, reason);
  /** Messages without an answer so far. The first one is being answered. */
  const waiting: RawData[] = [];
  let running: MessageCall | undefined;
  let leaves = false;

  /**
   * Handles one message as a call. The token is checked again, because the operator may have withdrawn it since the
   * session began.
   */
  const call = async (kind: Kind, data: JsonObject, bytes: number): Promise<Reply> => {
    const method = known[kind];
    const account = context.admission.admit(headersOf(request.headers), method);
    if (account instanceof RpcError) throw account;
    const own = new MessageCall(method, socket, account, bytes);
    running = own;
    try {
      return await answered(own, () => player[kind](data, own));
    } finally {
      running = undefined;
      own.close();
    }
  };

  const replyTo = async (bytes: Buffer): Promise<Reply> => {
    const { length } = bytes;
    const isLong = length > LONG_JSON_BYTES;
    const message = isLong
      ? await context.longJson.read({ kind: "openenv", bytes }, { caller: seat.caller, connection: held.peer })
      : readMessage(bytes);
    if (message.kind !== "wrong") return call(message.kind, message.data, length);
    return { type: "error", data: { message: message.problem, code: message.code } };
  };

  const answer = async (raw: RawData): Promise<void> => {
    if (isClose(raw)) return client.close(1000);
    // The messages of many sockets are read in turns, even if they arrive at once.
    await new Promise<void>((begin) => context.turns(socket).take(begin));
    const reply = await replyTo(raw as Buffer).catch((error: unknown) => errorReply(error));
    // The next message waits until this answer is sent. Otherwise answers that a client does not read would fill the
    // memory.
    await new Promise<void>((sent) => client.send(JSON.stringify(reply), () => sent()));
    if (leaves) client.close(GOING_AWAY, "the server is shutting down");
  };
  /**
   * Answers waiting messages one by one. The `ws` library may emit several at once, even while the client is paused.
   */
  const answerAll = async (): Promise<void> => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (client.readyState === client.OPEN) await answer(next);
      waiting.shift();
      seat.finish();
    }
    client.resume();
  };

  client.on("message", (raw, isBinary) => {
    if (isBinary) {
      client.close(1003, "messages are JSON, as text");
      return;
    }
    seat.begin();
    // Stops reading from the socket until this message is answered.
    client.pause();
    waiting.push(raw);
    if (waiting.length === 1) void answerAll();
  });
  client.on("drain-session", () => {
    leaves = true;
    if (waiting.length === 0) client.close(GOING_AWAY, "the server is shutting down");
  });
  client.on("error", (error) => context.log.debug({ err: error }, "an OpenEnv session failed"));
  client.on("close", () => running?.giveUp());
}

function errorReply(error: unknown): Reply {
  if (!(error instanceof RpcError)) throw error;
  const { code, message, retryDelayMs } = error;
  const delay = retryDelayMs === undefined ? {} : { retry_delay_ms: retryDelayMs };
  return { type: "error", data: { message, code: openEnvCode(code), grpc_code: code, ...delay } };
}
