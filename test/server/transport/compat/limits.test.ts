/**
 * Tests that JSON of other gyms' clients is bounded before it is parsed, and that partial messages of their sessions
 * are counted.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openServer, type TestServer } from "../../../support/in-process.ts";

const MiB = 1024 ** 2;
let host: TestServer;
beforeAll(async () => {
  host = await openServer({ store: "memory" });
});
afterAll(() => host[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly body: { readonly detail: string };
}

async function post(path: string, body: string): Promise<Answer> {
  const response = await fetch(`${host.http}${path}`, { method: "POST", body });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const objects = (count: number): string => `[${"{},".repeat(count)}{}]`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"${i}":1`).join()}}`;

test.each([
  ["empty objects", `{"a":${objects(5 * MiB)}}`, "more than 65536 keys, lists and objects"],
  ["keys", keys(70_000), "more than 65536 keys, lists and objects"],
  ["numbers", `{"a":[${"1,".repeat(2 * MiB)}1]}`, `more than ${MiB} keys, values, lists and objects`],
  [
    "lists within lists",
    `{"a":${"[".repeat(200)}${"]".repeat(200)}}`,
    "more than 100 levels of nested lists and objects",
  ],
])("a row of NeMo Gym with too many %s is refused before it is parsed", async (_, body, words) => {
  for (const path of ["/seed_session", "/verify"]) {
    expect(await post(path, body)).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining(words) as string },
    });
  }
});

test("a row of NeMo Gym may bring a number for each of 100,000 tokens, and no more than 16 MiB", async () => {
  const row = { environment: "countdown", level: "T0", seed: 7 };
  const token_ids = Array.from({ length: 100_000 }, (_, i) => i);
  const response = { output: [{ type: "message", content: "<answer>1</answer>", token_ids, logprobs: token_ids }] };
  expect(await post("/verify", JSON.stringify({ ...row, response }))).toMatchObject({
    status: 200,
    body: { response },
  });
  const refused = await post("/verify", JSON.stringify({ ...row, note: "x".repeat(16 * MiB) }));
  expect(refused.status).toBe(429);
  expect(refused.body.detail).toContain(`more than the ${16 * MiB} that nemo_gym/verify takes`);
});

test("a message of OpenEnv with too many parts is refused before it is parsed, and the session goes on", async () => {
  const socket = new WebSocket(`${host.http.replace("http", "ws")}/ws`);
  await once(socket, "open");
  for (const value of [objects(MiB / 2), keys(100_000), `${"[".repeat(200)}${"]".repeat(200)}`]) {
    socket.send(`{"type":"reset","data":{"environment":${value}}}`);
    const [reply] = (await once(socket, "message")) as [Buffer];
    expect(JSON.parse(reply.toString())).toMatchObject({
      type: "error",
      data: {
        code: "VALIDATION_ERROR",
        message: expect.stringMatching(/more than (4096 keys|32 levels of nested lists)/) as string,
      },
    });
  }
  socket.send('{"type":"reset","data":{"environment":"countdown"}}');
  const [reply] = (await once(socket, "message")) as [Buffer];
  expect(JSON.parse(reply.toString())).toMatchObject({ type: "observation" });
  socket.close();
});

test("a message of OpenEnv holds the longest completion however JSON escapes it, and no more", async () => {
  const socket = new WebSocket(`${host.http.replace("http", "ws")}/ws`);
  await once(socket, "open");
  const say = async (type: string, data: object): Promise<unknown> => {
    socket.send(JSON.stringify({ type, data }));
    const [reply] = (await once(socket, "message")) as [Buffer];
    return JSON.parse(reply.toString());
  };
  await say("reset", { environment: "countdown", level: "T0", seed: 1 });
  const escaped = await say("step", { completion: "\u001f".repeat(256 * 1024) });
  expect(escaped).toMatchObject({ type: "observation", data: { done: true } });
  socket.send("x".repeat(1.7 * MiB));
  const [code] = (await once(socket, "close")) as [number];
  expect(code).toBe(1009);
});

test("messages of OpenEnv that do not come whole are among the bytes that are held", async () => {
  const limits = { maxHeldBytes: "8MiB", maxMessageBytes: "4MiB" };
  await using limited = await openServer({ store: "memory", ...limits });
  const { http } = limited;
  const sockets = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const socket = new WebSocket(`${http.replace("http", "ws")}/ws`);
      await once(socket, "open");
      return socket;
    }),
  );
  const ended = Promise.race(sockets.map((socket) => once(socket, "close")));
  // A fragment of a message whose last fragment never comes.
  for (const socket of sockets) socket.send("x".repeat(1.5 * MiB), { fin: false });
  await ended;
  expect(sockets.some(({ readyState }) => readyState === WebSocket.OPEN)).toBe(true);
  for (const socket of sockets) socket.terminate();
});

/** Returns a client's masked text frame. */
function maskedFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
  head.writeUInt32BE(bytes.length, 6);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) ^ ((i & 3) + 1);
  return Buffer.concat([head, bytes]);
}

/** Opens sockets that each send the same frame; resolves when each was answered. */
async function sendAtOnce(count: number, frame: Buffer): Promise<void> {
  const { hostname, port } = new URL(host.http);
  const upgrade = [
    `GET /ws HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: upgrade\r\nupgrade: websocket`,
    "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  ].join("\r\n");
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      socket.write(upgrade);
      const [head] = (await once(socket, "data")) as [Buffer];
      expect(head.toString()).toContain("101 Switching Protocols");
      return socket;
    }),
  );
  const answers = sockets.map((socket) => once(socket, "data"));
  for (const socket of sockets) socket.write(frame);
  await Promise.all(answers);
  for (const socket of sockets) socket.destroy();
}

/** Returns the share of the processor time that fell into the one longest round of the event loop. */
async function longestRoundShare(during: () => Promise<void>): Promise<number> {
  let [longest, all, isOver] = [0, 0, false];
  const watch = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    all += user + system;
    longest = Math.max(longest, user + system);
    if (!isOver) setImmediate(watch);
  };
  let before = process.threadCpuUsage();
  setImmediate(watch);
  await during();
  isOver = true;
  return longest / all;
}

test("long messages of OpenEnv that come at once over many sockets are not read in one round of the event loop", async () => {
  const frame = maskedFrame(`{"type":"reset","data":{"environment":"${"x".repeat(1.5 * MiB)}"}}`);
  await sendAtOnce(2, frame);
  const shares: number[] = [];
  // A collection of garbage can fall into any round, so that the least of several attempts counts.
  for (let i = 0; i < 5; i++) shares.push(await longestRoundShare(() => sendAtOnce(12, frame)));
  expect(Math.min(...shares)).toBeLessThan(0.5);
});
