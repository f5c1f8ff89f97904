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
import { answered } from "../call.ts";
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
import { beginEvents, event, streamed } from "./events.ts";
import { createSessions, environmentOf, toolsByDefault } from "./sessions.ts";
import { promptBlocks, promptMessages, toolList, toolSpec } from "./write.ts";

/** Maximum bytes of a body that names a task. */
const BODY_BYTES_MAX = LONG_JSON_BYTES;
/** Maximum bytes of a body with completions of a group. */
const GROUP_BYTES_MAX = 16 * 1024 ** 2;
/** HTTP statuses by which clients know that a session has ended (410), and that score_group is not possible (404). */
const GONE = { NOT_FOUND: 410, UNIMPLEMENTED: 404 } as const;
/** Names of the short requests that need a session. */
const OF_SESSION: readonly string[] = ["ping", "prompt", "messages", "task_tools"];

/** Answers a request. `asked` reads its environment and level, which not every request names. */
type Work = (call: HttpCall, body: JsonObject, asked: () => Asked) => Promise<JsonValue>;
/** Routes of short requests, by the last part of their paths. */
type Routes = Readonly<Record<string, readonly ["GET" | "POST", Work]>>;
type Sessions = ReturnType<typeof createSessions>;

export function openReward(
  context: TransportContext,
  handlers: Handlers,
  store: SessionStore,
  callBytesMax: number,
): Gym {
  const sessions = createSessions(store, handlers);
  const methodOf = (name: string) =>
    methodAt(context, { path: `openreward/${name}`, role: "trainer", streamsRequests: false });
  const short = Object.entries({ ...catalogue(handlers), ...ofSessions(sessions) }).map(([name, [verb, work]]) => {
    const statuses = OF_SESSION.includes(name) ? GONE : {};
    const route = { method: methodOf(name), verb, bytesMax: BODY_BYTES_MAX, read: readBody, statuses } as const;
    const answer = answering(route, (call, body, { request }) =>
      answered(call, () => work(call, body, () => askedIn(request.url, call.headers))),
    );
    return [name, answer] as const;
  });
  const long = <Kind extends keyof MessageOf>(kind: Kind, bytesMax: number) => {
    const read = async (bytes: Buffer, call: HttpCall): Promise<MessageOf[Kind]> => {
      if (bytes.length <= LONG_JSON_BYTES) return readMessage(kind, bytes);
      return (await context.longJson.read({ kind: "openreward", of: kind, bytes }, call.party)) as MessageOf[Kind];
    };
    return { method: methodOf(kind), verb: "POST", bytesMax, read, statuses: GONE } as const;
  };
  const called = answering(long("call", callBytesMax), (call, message, { response }) =>
    answered(call, () => streamed(response, (onNumber) => played(sessions, message, call, { response, onNumber }))),
  );
  const scored = answering(long("score_group", GROUP_BYTES_MAX), (call, { texts }, { response }) => {
    const work = async (): Promise<string> => {
      const session = await sessions.find(sidIn(call.headers), call);
      return JSON.stringify({ scores: await sessions.score(session, texts, call) });
    };
    return answered(call, () => streamed(response, work));
  });
  const opening = { method: methodOf("create_session"), verb: "POST", bytesMax: BODY_BYTES_MAX } as const;
  const opened = answering(opening, (call, _, { response }) => answered(call, () => open(response)));
  const routes = new Map<string, Answer>([
    ...short,
    ["call", called],
    ["score_group", scored],
    ["create_session", opened],
  ]);
  return (path, headers) => {
    if (headers["x-deployment"] === undefined && headers["x-session-id"] === undefined) return undefined;
    return routes.get(/^(?:\/[^/]+)?\/([a-z_]+)$/.exec(path)?.[1] ?? "");
  };
}

/**
 * Sends the id of a new session. The session is stored only when it gets its task, because clients also open sessions
 * just to list tasks.
 */
async function open(response: ServerResponse): Promise<undefined> {
  beginEvents(response);
  response.end(event("task_id", randomBytes(16).toString("hex")) + event("end", ""));
}

/** Routes that describe environments and their tasks. */
function catalogue(handlers: Handlers): Routes {
  /** Returns the environment and level that a request names. Rejects if this server has no such environment. */
  const known = async (call: HttpCall, asked: () => Asked) => {
    const { environment, level } = asked();
    const described = await environmentOf(handlers, environment, call);
    return { place: { environment, level }, described, env_name: level ?? environment };
  };
  const listed: Work = async (call, _, asked) => {
    await known(call, asked);
    return splits.map((split) => ({ ...split }));
  };
  const tools: Work = async (call, _, asked) => {
    const { described } = await known(call, asked);
    return toolList(toolsByDefault(described).map(toolSpec), described.calls === 0, described.calls === 0);
  };
  const unlisted: Work = async () => {
    throw new RpcError(
      "UNIMPLEMENTED",
      `a split has ${TASKS} tasks, too many for one list: get some of them by task or task_range`,
    );
  };
  const counted: Work = async (call, body, asked) => {
    await known(call, asked);
    splitIn(body);
    return { num_tasks: TASKS };
  };
  const one: Work = async (call, body, asked) => {
    const { env_name, place } = await known(call, asked);
    return { task: specOf(place, splitIn(body), indexIn(body)), env_name };
  };
  const range: Work = async (call, body, asked) => {
    const { env_name, place } = await known(call, asked);
    const split = splitIn(body);
    return { tasks: rangeIn(body).map((index) => specOf(place, split, index)), env_name };
  };
  return {
    version: ["GET", async () => ({ version, build_sha: null })],
    splits: ["GET", listed],
    tools: ["GET", tools],
    tasks: ["POST", unlisted],
    num_tasks: ["POST", counted],
    task: ["POST", one],
    task_range: ["POST", range],
  };
}

/** Routes of a session. */
function ofSessions(sessions: Sessions): Routes {
  const taskOf = async (call: HttpCall) => (await sessions.find(sidIn(call.headers), call)).task;
  const created: Work = async (call, body, asked) => {
    const sid = sidIn(call.headers);
    await sessions.create(sid, choiceIn(body, asked()), call);
    return { sid };
  };
  const removed: Work = async (call) => {
    const sid = sidIn(call.headers);
    await sessions.remove(sid, call);
    return { sid };
  };
  const tools: Work = async (call) => {
    const task = await taskOf(call);
    return toolList(task.tools, !task.hasTurns, task.isScorable);
  };
  return {
    create: ["POST", created],
    ping: ["POST", async (call) => taskOf(call).then(() => ({ status: "ok" }))],
    task_tools: ["GET", tools],
    prompt: ["GET", async (call) => promptBlocks((await taskOf(call)).prompt)],
    messages: ["GET", async (call) => promptMessages((await taskOf(call)).prompt)],
    delete: ["POST", removed],
    delete_session: ["POST", removed],
  };
}

/**
 * Plays a call of a tool. If the client leaves before it has the result, the session is restored as it was before the
 * call.
 */
async function played(
  sessions: Sessions,
  message: MessageOf["call"],
  call: HttpCall,
  { response, onNumber }: { readonly response: ServerResponse; readonly onNumber: (number: number) => void },
): Promise<string> {
  const { result, undo } = await sessions.play(sidIn(call.headers), message, call, onNumber);
  const leave = (): void => {
    if (!response.writableFinished) undo();
  };
  if (response.closed) leave();
  else response.once("close", leave);
  return JSON.stringify(result);
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
