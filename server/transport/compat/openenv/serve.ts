/**
 * Serves OpenEnv's protocol on the HTTP port: episodes over a WebSocket at /ws, tools over JSON-RPC at /mcp, the Task
 * API, and descriptions of the server. Each path may follow an environment's id, as in /np/tsp/ws; that environment is
 * then the default of resets.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { WebSocketServer } from "ws";
import { version } from "../../../runtime/version.ts";
import type { Role } from "../../../runtime/tokens.ts";
import { callerName } from "../../../base/fair-turns.ts";
import { RpcError } from "../../../base/rpc.ts";
import { type Method, methodAt, type TransportContext } from "../../call-context.ts";
import type { HttpCall } from "../../http/call.ts";
import { LONG_JSON_BYTES } from "../../http/long-json.ts";
import { answered, headersOf } from "../call.ts";
import type { Handlers } from "../episode.ts";
import { answering, type Gym, send } from "../route.ts";
import { createPlaces } from "../session-places.ts";
import { DESCRIPTION, OPENAPI, SCHEMA } from "./about.ts";
import { answerMcp } from "./mcp.ts";
import { type Kind, KINDS } from "./message.ts";
import { createPlayer, environmentOf } from "./play.ts";
import { takeSeat } from "./seats.ts";
import { ALL_TAKEN, createSessions, type Sessions } from "./sessions.ts";
import { converse, refuse } from "./socket.ts";
import { answerTasks, environmentIds, splitsOf, TASK_CALLS } from "./tasks.ts";

/** Maximum bytes that JSON needs for one byte of a completion: six, e.g. in \u001f. */
const JSON_BYTES_MAX = 6;
/** Maximum bytes of a message, not counting its completion. */
const NAMES_BYTES_MAX = 64 * 1024;

export interface OpenEnv {
  readonly answer: Gym;
  /** Upgrades a request to a WebSocket if it is for OpenEnv. Returns false for other requests. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Ends all open sessions. */
  close(): void;
}

export function openEnv(context: TransportContext, handlers: Handlers, completionBytesMax: number): OpenEnv {
  const places = createPlaces();
  const sessions = createSessions(places);
  const maxPayload = Math.min(JSON_BYTES_MAX * completionBytesMax + NAMES_BYTES_MAX, context.maxMessageBytes);
  const server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: true });
  const known = Object.fromEntries(KINDS.map((kind) => [kind, methodOf(context, kind, "trainer")])) as Readonly<
    Record<Kind, Method>
  >;
  // At a shutdown, an idle session is closed at once, and a busy one after its current answer.
  const goAway = (): void => server.clients.forEach((client) => client.emit("drain-session"));
  context.admission.draining.addEventListener("abort", goAway, { once: true });

  const upgrade: OpenEnv["upgrade"] = (request, raw, head) => {
    const socket = raw as Socket;
    const [path = "", query] = request.url?.split("?", 2) ?? [];
    const { environment, name } = readPath(path) ?? {};
    if (name !== "ws") return false;
    const account = context.admission.admit(headersOf(request.headers), known.reset);
    if (account instanceof RpcError) refuse(socket, account.code === "UNAUTHENTICATED" ? 401 : 403, account.message);
    else if (context.admission.draining.aborted) refuse(socket, 503, "the server is shutting down");
    else {
      const caller = callerName(account.name, `${socket.remoteAddress}:${socket.remotePort}`);
      const id = new URLSearchParams(query).get("session_id");
      const session = id === null ? alone(caller, environment) : attached(sessions, id, caller);
      if ("status" in session) refuse(socket, session.status, session.problem);
      else {
        socket.once("close", session.left);
        server.handleUpgrade(request, socket, head, (client) =>
          converse(client, { request, account, socket, context, known, ...session }),
        );
      }
    }
    return true;
  };
  const alone = (caller: string, environment: string | undefined): Joined | Refused => {
    const seat = takeSeat(places, caller);
    if (seat === undefined) return { status: 503, problem: ALL_TAKEN };
    return { seat, player: createPlayer(handlers, { environment, withTools: false }), left: () => seat.leave() };
  };
  return {
    answer: routesOf(context, handlers, sessions),
    upgrade,
    close: () => {
      context.admission.draining.removeEventListener("abort", goAway);
      for (const client of server.clients) client.terminate();
      server.close();
      sessions.close();
    },
  };
}

/** Session that a socket plays. `left` is called when the socket closes. */
type Joined = Pick<Parameters<typeof converse>[1], "seat" | "player"> & { readonly left: () => void };

interface Refused {
  readonly status: number;
  readonly problem: string;
}

/** Attaches a socket to a session that its client made over /mcp. The session outlives the socket. */
function attached(sessions: Sessions, id: string, caller: string): Joined | Refused {
  try {
    const session = sessions.find(id, caller);
    if (session.hasSocket) return { status: 409, problem: "the session has a socket already: close that one first" };
    session.hasSocket = true;
    const left = (): void => {
      session.hasSocket = false;
      session.seat.closeSocket = () => undefined;
    };
    return { seat: session.seat, player: session.player, left };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { status: 404, problem: error.message };
  }
}

function methodOf(context: TransportContext, name: string, role: Role): Method {
  return methodAt(context, { path: `openenv/${name}`, role, streamsRequests: false });
}

interface Path {
  /** Id of the environment in a path such as /np/tsp/ws. Undefined: the path is only a name, such as /ws. */
  readonly environment: string | undefined;
  readonly name: string;
}

/** Splits a path into the id of an environment and its last part. Undefined: it cannot be a path of OpenEnv. */
function readPath(path: string): Path | undefined {
  const [, id, name] = /^(?:\/(.{1,400}))?\/([a-z_.]{1,32})$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  if (id === undefined) return { environment: undefined, name };
  try {
    return { environment: decodeURIComponent(id), name };
  } catch {
    return undefined;
  }
}

type WithEnvironment = (environment: string | undefined, call: HttpCall, body: Buffer) => Promise<JsonValue>;

function routesOf(context: TransportContext, handlers: Handlers, sessions: Sessions): Gym {
  const of = (name: string, verb: "GET" | "POST", role: Role, work: WithEnvironment) => {
    const route = { method: methodOf(context, name, role), verb, bytesMax: LONG_JSON_BYTES };
    return [name, (id: string | undefined) => answering(route, (call, body) => work(id, call, body))] as const;
  };
  const get = (name: string, work: (id: string | undefined, call: HttpCall) => Promise<JsonValue> | JsonValue) =>
    of(name, "GET", "viewer", (id, call) => answered(call, async () => work(id, call)));
  const everywhere = new Map([
    get("schema", () => SCHEMA),
    get("openapi.json", () => OPENAPI),
    get("metadata", (id, call) => describe(handlers, id, call)),
    get("list_environments", (id, call) => (id === undefined ? environmentIds(handlers, call) : [id])),
    of("mcp", "POST", "trainer", (environment, call, body) =>
      answerMcp(sessions, () => createPlayer(handlers, { environment, withTools: true }), call, body),
    ),
  ]);
  const named = async (id: string | undefined, call: HttpCall) => environmentOf(handlers, once(id ?? ""), call);
  const ofEnvironments = new Map([
    get("splits", async (id, call) => splitsOf(await named(id, call)).map((split) => ({ ...split }))),
    ...TASK_CALLS.map((name) =>
      of(name, "POST", "viewer", (id, call, body) =>
        answered(call, async () => answerTasks(name, await named(id, call), body)),
      ),
    ),
  ]);
  return (path) => {
    const { environment, name = "" } = readPath(path) ?? {};
    if (name === "health") return (_, response) => answerHealth(response, context);
    const answer = everywhere.get(name) ?? (environment === undefined ? undefined : ofEnvironments.get(name));
    return answer?.(environment);
  };
}

/**
 * Removes the repetition from an environment's id that occurs twice in a path. A client of the address /np/tsp requests
 * /np/tsp/np/tsp/splits, because it appends the environment's name.
 */
const once = (id: string): string => /^(.+)\/\1$/.exec(id)?.[1] ?? id;

async function describe(handlers: Handlers, id: string | undefined, call: HttpCall): Promise<JsonObject> {
  if (id === undefined) return { name: "gradus", description: DESCRIPTION, version };
  const { description, version: ofEnvironment } = await environmentOf(handlers, id, call);
  return { name: id, description, version: `${ofEnvironment}` };
}

/** Answers a health check, which needs no token: 503 while the server drains or a part of it has a problem. */
function answerHealth(response: ServerResponse, { admission, health }: TransportContext): void {
  const isWell = !admission.draining.aborted && health.problem() === undefined;
  send(response, isWell ? 200 : 503, [JSON.stringify({ status: isWell ? "healthy" : "unhealthy" })]);
}
