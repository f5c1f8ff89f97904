/** Tests of requests to an endpoint that is slow to answer. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createEndpoint } from "../../../server/outside/chat-endpoint.ts";

async function asked(onRequest: RequestListener, timeoutMs: number, signal = new AbortController().signal) {
  const server = createServer(onRequest).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ask = createEndpoint({ url: `http://127.0.0.1:${port}/v1`, model: "m", key: undefined, timeoutMs });
  const reply = await ask([{ role: "user", content: "?" }], signal);
  server.closeAllConnections();
  server.close();
  return reply;
}

test.each([
  ["nothing comes", () => undefined],
  ["half of a reply comes", (_, response) => void response.write('{"choices": [')],
] as const satisfies readonly (readonly [string, RequestListener])[])(
  "where %s in time, it is late",
  async (_, answer) => {
    expect(await asked(answer, 200)).toMatchObject({
      kind: "failed",
      why: "timeout",
      message: expect.any(String) as string,
    });
  },
);

test("a question that is broken off within its reply is late too", async () => {
  const leave = new AbortController();
  const half: RequestListener = (_, response) => void response.write("{", () => leave.abort());
  expect(await asked(half, 60_000, leave.signal)).toMatchObject({ kind: "failed", why: "timeout" });
});
