/** Attacks over the HTTP port by the protocols of other gyms. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Attack, Target } from "./caller.ts";

/** Longest wait for an answer, in milliseconds. */
const ANSWER_MS = 30_000;
/** OpenEnv sessions that one caller opens; the next constant is how long it keeps them. */
const SESSIONS = 4096;
const SESSIONS_STAY_MS = 2000;

/** Posts rows of NeMo Gym with a value beside the task. */
export const posting = (value: string): Attack["call"] =>
  post("/verify", `{"environment":"countdown","seed":1,"note":${value}}`);

/** Calls BatchStep with a body in JSON. */
export const calling = (body: string): Attack["call"] => post("/gradus.v1.EnvironmentService/BatchStep", body);

function post(path: string, body: string): Attack["call"] {
  const headers = { "content-type": "application/json" };
  return async ({ target }) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`http://127.0.0.1:${target.httpPort}${path}`, {
      method: "POST",
      headers,
      body,
      signal,
    });
    await response.arrayBuffer();
  };
}

async function open({ httpPort }: Target): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${httpPort}/ws`);
  socket.on("error", () => undefined);
  await once(socket, "open");
  return socket;
}

/** Sends messages of OpenEnv with a value in place of an environment, each on a socket of its own. */
export function messaging(value: string): Attack["call"] {
  return async ({ target }) => {
    const socket = await open(target);
    socket.send(`{"type":"reset","data":{"environment":${value}}}`);
    await once(socket, "message", { signal: AbortSignal.timeout(ANSWER_MS) });
    socket.close();
  };
}

/** Opens as many sessions as the server allows, and asks nothing in them. */
export const sitting: Attack["call"] = async ({ target }) => {
  const sockets: WebSocket[] = [];
  for (let i = 0; i < SESSIONS; i += 64)
    sockets.push(...(await Promise.all(Array.from({ length: 64 }, () => open(target)))));
  await sleep(SESSIONS_STAY_MS);
  for (const socket of sockets) socket.terminate();
};

/** Opens a session of OpenReward with a task of its own, and leaves it. */
export const leaving: Attack["call"] = async ({ target }, i) => {
  const ask = async (path: string, body: object, sid: Record<string, string>): Promise<string> => {
    const headers = { "content-type": "application/json", "x-deployment": "countdown", ...sid };
    const sent = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(ANSWER_MS) };
    return (await fetch(`http://127.0.0.1:${target.httpPort}${path}`, sent)).text();
  };
  const [, sid = ""] = /data: (\w+)/.exec(await ask("/create_session", {}, {})) ?? [];
  await ask("/create", { split: "train", index: i % 1_000_000 }, { "x-session-id": sid });
};

/** Begins messages and never ends them, on as many sockets. */
export const stopping: Attack["call"] = async ({ target }) => {
  const sockets = await Promise.all(Array.from({ length: 256 }, () => open(target)));
  for (const socket of sockets) socket.send(Buffer.alloc(1.5 * 1024 ** 2, "x"), { fin: false, binary: false });
  await sleep(SESSIONS_STAY_MS);
  for (const socket of sockets) socket.terminate();
};
