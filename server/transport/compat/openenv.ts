/**
 * Serves OpenEnv's protocol on the HTTP port, so that OpenEnv's clients work unchanged: JSON messages over a WebSocket
 * at /ws, with one answer to each. A session is one socket and remembers only its client's current task. Messages are
 * answered one at a time.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type Method, methodAt, type TransportContext } from "../call-context.ts";
import { callerName } from "../../base/fair-turns.ts";
import { createSliced, nextTurn } from "../../base/time-slices.ts";
import type { Account, OpenCall } from "../admission.ts";
import { LONG_JSON_BYTES } from "../http/long-json.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { answered, headersOf, MessageCall } from "./call.ts";
import { isClose, type Kind, readMessage } from "./openenv-message.ts";
import { choiceOf, invalid } from "./read-task-choice.ts";
import { begin, type Episode, type Handlers, shown, step, type Written } from "./episode.ts";
import { createPlaces, type SessionPlace } from "./session-places.ts";

export const OPENENV_PATH = "/ws";

/** Maximum bytes that JSON needs for one byte of a completion: six, e.g. in \u001f. */
const JSON_BYTES_MAX = 6;
/** Maximum bytes of a message without its completion. */
const NAMES_BYTES_MAX = 64 * 1024;
/**
 * Time without a request after which the server closes a session, in milliseconds. It is an hour, because a trainer may
 * send nothing while it updates its model.
 */
const IDLE_MS = 60 * 60 * 1000;
/** Maximum number of runs whose cursor a session remembers. Beyond it, the session forgets the oldest. */
const RUNS_MAX = 64;

const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

/** Returns OpenEnv's error code, which is coarse. The field `grpc_code` of the answer has the gRPC status. */
function openEnvCode(code: CodeName): string {
  if (code === "INVALID_ARGUMENT") return "VALIDATION_ERROR";
  return code === "RESOURCE_EXHAUSTED" ? "CAPACITY_REACHED" : "EXECUTION_ERROR";
}

export interface OpenEnv {
  /** Upgrades a request to a WebSocket if it is for OpenEnv. Returns false for other requests. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Ends all open sessions. */
  close(): void;
}

export function openEnv(context: TransportContext, handlers: Handlers, completionBytesMax: number): OpenEnv {
  const maxPayload = Math.min(JSON_BYTES_MAX * completionBytesMax + NAMES_BYTES_MAX, context.maxMessageBytes);
  const server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: true });
  const of = (kind: Kind): Method =>
    methodAt(context, { path: `openenv/${kind}`, role: "trainer", streamsRequests: false });
  const known = { reset: of("reset"), step: of("step"), state: of("state") };
  const places = createPlaces();
  // At a shutdown, an idle session is closed at once, and a busy one after its current answer.
  const goAway = (): void => server.clients.forEach((client) => client.emit("drain-session"));
  context.admission.draining.addEventListener("abort", goAway, { once: true });

  const upgrade: OpenEnv["upgrade"] = (request, socket, head) => {
    if (request.url?.split("?", 1)[0] !== OPENENV_PATH) return false;
    const admitted = context.admission.admit(headersOf(request.headers), known.reset);
    if (admitted instanceof RpcError) refuse(socket, admitted.code === "UNAUTHENTICATED" ? 401 : 403, admitted.message);
    else if (context.admission.draining.aborted) refuse(socket, 503, "the server is shutting down");
    else {
      const opening = { request, account: admitted, socket: socket as Socket, context, known, handlers };
      const place = placeOf(opening);
      if (!places.enter(place)) refuse(socket, 503, "all sessions of the server are in use: try again later");
      else {
        socket.once("close", () => places.leave(place));
        server.handleUpgrade(request, socket, head, (client) => session(client, { ...opening, place }));
      }
    }
    return true;
  };
  return {
    upgrade,
    close: () => {
      context.admission.draining.removeEventListener("abort", goAway);
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

/** Refuses an upgrade by an answer in plain HTTP. */
function refuse(socket: Duplex, status: number, message: string): void {
  const text = `${message}\n`;
  const words = { 401: "Unauthorized", 403: "Forbidden", 503: "Service Unavailable" }[status] ?? "Error";
  const ask = status === 401 ? 'www-authenticate: Basic realm="gradus"\r\n' : "";
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${words}\r\ncontent-type: text/plain; charset=utf-8\r\n${ask}` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}

interface Opening {
  readonly request: IncomingMessage;
  readonly account: Account;
  readonly socket: Socket;
  readonly context: TransportContext;
  readonly known: Readonly<Record<Kind, Method>>;
  readonly handlers: Handlers;
}

function placeOf({ account, socket }: Opening): SessionPlace {
  const caller = callerName(account.name, `${socket.remoteAddress}:${socket.remotePort}`);
  return { caller, idleSinceMs: performance.now(), giveUp: () => undefined };
}

type OpenSession = Opening & { readonly place: SessionPlace };

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
  admission.opened(held);
  client.on("close", () => admission.closed(held));
  client.on("message", () => {
    readBefore = socket.bytesRead;
  });
  return held;
}

type Reply = { readonly type: "observation" | "state" | "error"; readonly data: JsonObject };

/**
 * Passes a socket's data to the `ws` library. While a message is long, each round of the event loop passes on only one
 * piece, over all sockets. At the last piece, `ws` unmasks the whole message, which takes milliseconds.
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

const MADE_ROOM = "the session was closed to make room for another, because it had been idle longest";
const WAS_IDLE = "the session was closed after an hour without a message";

function session(client: WebSocket, opened: OpenSession): void {
  const { request, socket, context, known, handlers, place } = opened;
  const held = heldBy(client, opened);
  readInTurns(client, socket, held);
  closeInSlices(socket);
  place.giveUp = () => client.close(TRY_AGAIN_LATER, MADE_ROOM);
  const player = createPlayer(handlers);
  /** Messages without an answer so far. The first one is being answered. */
  const waiting: RawData[] = [];
  let running: MessageCall | undefined;
  let leaves = false;
  const idle = setTimeout(() => client.close(GOING_AWAY, WAS_IDLE), IDLE_MS).unref();

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
      ? await context.longJson.read({ kind: "openenv", bytes }, { caller: place.caller, connection: held.peer })
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
    }
    place.idleSinceMs = performance.now();
    client.resume();
  };

  client.on("message", (raw, isBinary) => {
    idle.refresh();
    place.idleSinceMs = undefined;
    if (isBinary) {
      client.close(1003, "messages are JSON, as text");
      return;
    }
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
  client.on("close", () => {
    clearTimeout(idle);
    running?.giveUp();
  });
}

function errorReply(error: unknown): Reply {
  if (!(error instanceof RpcError)) throw error;
  const { code, message, retryDelayMs } = error;
  const delay = retryDelayMs === undefined ? {} : { retry_delay_ms: retryDelayMs };
  return { type: "error", data: { message, code: openEnvCode(code), grpc_code: code, ...delay } };
}

/** Creates the functions that answer the messages of one session. */
function createPlayer(handlers: Handlers) {
  let episode: Episode | undefined;
  let isOver = false;
  let id: string | null = null;
  const cursors = new Map<string, bigint>();
  const defaults = {
    seed: () => randomBytes(8).readBigUInt64BE(),
    cursorOf: (run: string) => cursors.get(run),
  };
  const goOn = ({ run, cursor }: NonNullable<Episode["next"]>): void => {
    cursors.delete(run);
    cursors.set(run, cursor);
    const [oldest] = cursors.keys();
    if (cursors.size > RUNS_MAX && oldest !== undefined) cursors.delete(oldest);
  };
  return {
    async reset(data: JsonObject, context: MessageCall): Promise<Reply> {
      const begun = await begin(handlers, choiceOf(data, defaults), context);
      [episode, isOver] = [begun, false];
      id = typeof data["episode_id"] === "string" ? data["episode_id"].slice(0, 256) : begun.task.groupId;
      if (begun.next !== undefined) goOn(begun.next);
      return { type: "observation", data: { observation: shown(begun), reward: null, done: false } };
    },
    async step(data: JsonObject, context: MessageCall): Promise<Reply> {
      if (episode === undefined || isOver)
        throw new RpcError("FAILED_PRECONDITION", "no episode is open: send a reset first (an episode has one step)");
      const { reward, outcome } = await step(handlers, episode, writtenIn(data), context);
      isOver = true;
      return { type: "observation", data: { observation: { outcome }, reward, done: true } };
    },
    state(): Promise<Reply> {
      const task = episode === undefined ? {} : shown(episode);
      return Promise.resolve({ type: "state", data: { episode_id: id, step_count: isOver ? 1 : 0, ...task } });
    },
  };
}

/** Names that the field with the completion may have in a client's action. The first one is Gradus's own. */
const TEXTS = ["completion", "message", "text"] as const;

/** Values of OpenAI's finish_reason, and the corresponding value in Gradus's messages. */
const REASONS = new Map<unknown, FinishReason>([
  [undefined, FinishReason.UNSPECIFIED],
  [null, FinishReason.UNSPECIFIED],
  ["stop", FinishReason.STOP],
  ["length", FinishReason.LENGTH],
]);

function writtenIn(data: JsonObject): Written {
  const completion = completionIn(data);
  const finishReason = REASONS.get(data["finish_reason"]);
  if (finishReason === undefined) throw invalid("finish_reason", 'must be "stop" or "length", or be left out');
  return { completion, finishReason };
}

function completionIn(data: JsonObject): string {
  const given = TEXTS.filter((name) => data[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1)
    throw invalid("completion", `an action has one text, as ${TEXTS.map((each) => `"${each}"`).join(" or ")}`);
  const text = data[name];
  if (typeof text !== "string") throw invalid(name, "it must be a string");
  return text;
}
