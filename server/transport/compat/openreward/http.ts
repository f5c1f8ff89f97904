/**
 * Serves the Open Reward Standard (ORS) on the HTTP port, so that the clients of OpenReward work unchanged. The header
 * X-Deployment names the environment, the first part of the path its level, and X-Session-ID the session.
 */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { version } from "../../../runtime/version.ts";
import { RpcError } from "../../../base/rpc.ts";
import type { SessionStore } from "../../../stores/session-store.ts";
import { methodAt, type TransportContext } from "../../call-context.ts";
import type { HttpCall } from "../../http/call.ts";
import { LONG_JSON_BYTES } from "../../http/long-json.ts";
import type { Handlers } from "../episode.ts";
import { answering, type Answer, type Gym } from "../route.ts";
import { invalid } from "../read-task-choice.ts";
import {
  type Asked,
  choiceIn,
  indexIn,
  type MessageOf,
  rangeIn,
  readBody,
  readMessage,
  specOf,
  splitIn,
  splits,
  TASKS,
} from "./message.ts";
import {
  createSessions,
  environmentOf,
  promptBlocks,
  promptMessages,
  toolList,
  toolsByDefault,
  toolSpec,
} from "./sessions.ts";

/** Maximum bytes of a body that names a task. */
const BODY_BYTES_MAX = LONG_JSON_BYTES;
/** Maximum bytes of a body with completions of a group. */
const GROUP_BYTES_MAX = 16 * 1024 ** 2;
/** Statuses by which clients know that a session has ended, and that score_group is not possible. */
const GONE = { NOT_FOUND: 410, UNIMPLEMENTED: 404 } as const;
/** Names of the short requests that need a session. */
const OF_SESSION: readonly string[] = ["ping", "prompt", "messages", "task_tools"];
const statusesOf = (name: string) => (OF_SESSION.includes(name) ? GONE : {});
/** Interval of the comments that tell a waiting client that its call goes on, in milliseconds. */
const COMMENT_MS = 10_000;
/** Maximum number of characters of one event. Clients read lines of up to 64 KiB. */
const EVENT_LENGTH_MAX = 16 * 1024;

/** Answers a request. `asked` reads its environment and level, which not every request names. */
type Work = (call: HttpCall, body: JsonObject, asked: () => Asked) => Promise<JsonValue>;

export function openReward(
  context: TransportContext,
  handlers: Handlers,
  store: SessionStore,
  callBytesMax: number,
): Gym {
  const sessions = createSessions(store, handlers);
  const methodOf = (name: string) =>
    methodAt(context, { path: `openreward/${name}`, role: "trainer", streamsRequests: false });
  const route = (verb: "GET" | "POST", name: string, work: Work): readonly [string, Answer] => [
    name,
    answering(
      { method: methodOf(name), verb, bytesMax: BODY_BYTES_MAX, read: readBody, statuses: statusesOf(name) },
      (call, body, { request }) => work(call, body, () => askedIn(request.url, call.headers)),
    ),
  ];
  const ofSession = (call: HttpCall) => sessions.find(sidIn(call.headers), call);
  /** Returns the environment and level that a request names. Rejects if this server has no such environment. */
  const known = async (call: HttpCall, asked: () => Asked) => {
    const { environment, level } = asked();
    const described = await environmentOf(handlers, environment, call);
    return { environment, level, described, env_name: level ?? environment };
  };
  const removed: Work = async (call) => {
    const sid = sidIn(call.headers);
    await sessions.remove(sid, call);
    return { sid };
  };

  const longRoute = <Kind extends keyof MessageOf>(kind: Kind, bytesMax: number) => {
    const read = async (bytes: Buffer, call: HttpCall): Promise<MessageOf[Kind]> => {
      if (bytes.length <= LONG_JSON_BYTES) return readMessage(kind, bytes);
      return (await context.longJson.read({ kind: "openreward", of: kind, bytes }, call.party)) as MessageOf[Kind];
    };
    return { method: methodOf(kind), verb: "POST", bytesMax, read, statuses: GONE } as const;
  };
  const scored = answering(longRoute("score_group", GROUP_BYTES_MAX), (call, { texts }, { response }) =>
    streamed(response, async () =>
      JSON.stringify({ scores: await sessions.score(await ofSession(call), texts, call) }),
    ),
  );
  const called = answering(longRoute("call", callBytesMax), (call, message, { response }) =>
    streamed(response, async (onNumber) => {
      const { result, undo } = await sessions.play(sidIn(call.headers), message, call, onNumber);
      const leave = (): void => {
        if (!response.writableFinished) undo();
      };
      if (response.closed) leave();
      else response.once("close", leave);
      return JSON.stringify(result);
    }),
  );
  const opening = { method: methodOf("create_session"), verb: "POST", bytesMax: BODY_BYTES_MAX } as const;
  const opened = answering(opening, async (_call, _body, { response }) => {
    beginEvents(response);
    // The session is stored when it gets its task. Clients also open one for each list of tasks, and give it none.
    response.end(event("task_id", randomBytes(16).toString("hex")) + event("end", ""));
    return undefined;
  });

  const routes = new Map<string, Answer>([
    ["create_session", opened],
    route("POST", "create", async (call, body, asked) => {
      const sid = sidIn(call.headers);
      await sessions.create(sid, choiceIn(body, asked()), call);
      return { sid };
    }),
    route("POST", "ping", async (call) => ofSession(call).then(() => ({ status: "ok" }))),
    route("POST", "delete", removed),
    route("POST", "delete_session", removed),
    route("GET", "version", async () => ({ version, build_sha: null })),
    route("GET", "splits", async (call, _, asked) => {
      await known(call, asked);
      return splits.map((split) => ({ ...split }));
    }),
    route("GET", "tools", async (call, _, asked) => {
      const { described } = await known(call, asked);
      return toolList(toolsByDefault(described).map(toolSpec), described.calls === 0, described.calls === 0);
    }),
    route("POST", "tasks", async () => {
      throw new RpcError("UNIMPLEMENTED", `a split has ${TASKS} tasks: take some by num_tasks and task_range`);
    }),
    route("POST", "num_tasks", async (call, body, asked) => {
      await known(call, asked);
      splitIn(body);
      return { num_tasks: TASKS };
    }),
    route("POST", "task", async (call, body, asked) => {
      const { env_name, ...place } = await known(call, asked);
      return { task: specOf(place, splitIn(body), indexIn(body)), env_name };
    }),
    route("POST", "task_range", async (call, body, asked) => {
      const { env_name, ...place } = await known(call, asked);
      const split = splitIn(body);
      return { tasks: rangeIn(body).map((index) => specOf(place, split, index)), env_name };
    }),
    route("GET", "task_tools", async (call) => {
      const { task } = await ofSession(call);
      return toolList(task.tools, !task.hasTurns, task.isScorable);
    }),
    route("GET", "prompt", async (call) => promptBlocks((await ofSession(call)).task)),
    route("GET", "messages", async (call) => promptMessages((await ofSession(call)).task)),
    ["call", called],
    ["score_group", scored],
  ]);
  return (path, headers) => {
    if (headers["x-deployment"] === undefined && headers["x-session-id"] === undefined) return undefined;
    return routes.get(/^(?:\/[^/]+)?\/([a-z_]+)$/.exec(path)?.[1] ?? "");
  };
}

function askedIn(url = "", headers: IncomingHttpHeaders): Asked {
  const { "x-deployment": environment } = headers;
  if (typeof environment !== "string" || environment === "")
    throw invalid("X-Deployment", 'must name the environment, e.g. "np/tsp"');
  const [path = ""] = url.split("?", 1);
  const [, level] = /^\/([^/]+)\/[^/]+$/.exec(path) ?? [];
  try {
    return { environment, level: level === undefined ? undefined : decodeURIComponent(level) };
  } catch {
    throw invalid("path", "must begin with the name of a level");
  }
}

function sidIn({ "x-session-id": sid }: IncomingHttpHeaders): string {
  if (typeof sid === "string" && /^[0-9a-f]{32}$/.test(sid)) return sid;
  throw invalid("X-Session-ID", "must be an id that /create_session gave");
}

// The next functions write server-sent events.

function beginEvents(response: ServerResponse): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
}

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

/**
 * Sends the result of a work as events. A work that fails within COMMENT_MS rejects, so that its status tells the
 * client whether to try again. A longer one begins the answer with comments, and its failure is an event.
 */
async function streamed(
  response: ServerResponse,
  work: (onNumber: (number: number) => void) => Promise<string>,
): Promise<undefined> {
  let number: number | undefined;
  let isNumbered = false;
  const begin = (): void => {
    if (!response.headersSent) beginEvents(response);
    if (number !== undefined && !isNumbered) {
      response.write(event("task_id", `${number}`));
      isNumbered = true;
    }
  };
  const comments = setInterval(() => {
    if (response.closed) return;
    begin();
    response.write(": the call goes on\n\n");
  }, COMMENT_MS);
  try {
    const pieces = piecesOf(await work((given) => (number = given)));
    if (response.closed) return;
    begin();
    pieces.forEach((piece, i) => response.write(event(i === pieces.length - 1 ? "end" : "chunk", piece)));
    response.end();
  } catch (error) {
    if (!response.headersSent) throw error;
    response.end(event("error", error instanceof RpcError ? error.message : "internal error"));
    throw error;
  } finally {
    clearInterval(comments);
  }
}

/**
 * Cuts a JSON text into pieces for events. Clients remove white space from the beginning of each, so all but ASCII is
 * escaped, and so is a space at a beginning.
 */
function piecesOf(json: string): readonly string[] {
  const ascii = json.replaceAll(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const count = Math.ceil(ascii.length / EVENT_LENGTH_MAX);
  const pieces = Array.from({ length: count }, (_, i) => ascii.slice(i * EVENT_LENGTH_MAX, (i + 1) * EVENT_LENGTH_MAX));
  return pieces.map((piece) => piece.replace(/^ +/, (spaces) => "\\u0020".repeat(spaces.length)));
}
