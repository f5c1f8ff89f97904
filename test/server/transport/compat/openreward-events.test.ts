/** Tests of the events by which OpenReward's client gets results: long ones, late ones, and failures. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { RpcError } from "../../../../server/base/rpc.ts";
import { streamed } from "../../../../server/transport/compat/openreward/events.ts";

let server: Server | undefined;
afterEach(() => server?.close());

/** Returns the answer that a work writes. A work that rejects before its answer began gets the status 503. */
async function answerOf(work: Parameters<typeof streamed>[1], commentMs?: number): Promise<string> {
  const answer = (response: ServerResponse): void =>
    void streamed(response, work, commentMs).catch(() => {
      if (!response.headersSent) response.writeHead(503).end();
    });
  server = createServer((_, response) => answer(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return response.status === 200 ? response.text() : `${response.status}`;
}

/** Joins the pieces of a result as the client does: without the white space at the beginning of each. */
function joined(answer: string): unknown {
  const pieces = [...answer.matchAll(/^event: (?:chunk|end)\ndata:(.*)$/gm)].map(([, piece = ""]) => piece.trimStart());
  return JSON.parse(pieces.join(""));
}

test("a long result comes in pieces that keep their white space and their letters", async () => {
  const text = `${" ".repeat(20_000)}${"\u3000é\u{1F600}\n\r".repeat(9_000)}${"a b ".repeat(9_000)}`;
  const answer = await answerOf(async () => JSON.stringify({ text }));
  expect(joined(answer)).toEqual({ text });
  expect(Math.max(...answer.split("\n").map(({ length }) => length))).toBeLessThan(2 ** 17);
  expect(answer).toMatch(/event: end\n.*\n\n$/);
});

test("a late result comes after comments, and after the number by which it may be asked for again", async () => {
  const answer = await answerOf(async (onNumber) => {
    onNumber(7);
    await sleep(100);
    return "1";
  }, 10);
  expect(answer).toMatch(/^event: task_id\ndata: 7\n\n(: .*\n\n)+event: end\ndata: 1\n\n$/);
});

test("a failure is a status, or an event once the answer has begun", async () => {
  const failure = new RpcError("UNAVAILABLE", "the judge is away\nfor now");
  expect(await answerOf(() => Promise.reject(failure))).toBe("503");
  const late = await answerOf(async () => {
    await sleep(100);
    throw failure;
  }, 10);
  expect(late).toMatch(/event: error\ndata: the judge is away.*for now\n\n$/);
});
