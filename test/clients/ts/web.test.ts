/** The Connect client against servers that refuse, stall and are not there. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { RequestListener } from "node:http";
import { toBinary, create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import { createClient, ResetResponseSchema } from "../../../clients/ts/src/web.ts";
import type { ClientOptions, GradusClient } from "../../../clients/ts/src/web.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function against(listener: RequestListener, options?: ClientOptions): Promise<GradusClient> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
}

const choice = { environment: "countdown", seed: 1 };
const task = toBinary(ResetResponseSchema, create(ResetResponseSchema, { task: { taskId: "t" } }));

test("a refusal's delay comes with it, and the call is sent again after it", async () => {
  let attempts = 0;
  const listener: RequestListener = (_request, response) => {
    if (++attempts === 3) response.writeHead(200, { "content-type": "application/proto" }).end(task);
    else {
      const headers = { "content-type": "application/json", "retry-delay-ms": "1" };
      response.writeHead(429, headers).end(JSON.stringify({ code: "resource_exhausted", message: "full" }));
    }
  };
  expect(await (await against(listener)).reset(choice)).toMatchObject({ taskId: "t" });
  attempts = 0;
  await expect((await against(listener, { retry: false })).reset(choice)).rejects.toMatchObject({
    code: "RESOURCE_EXHAUSTED",
    message: "full",
    retryDelayMs: 1,
  });
});

test("the token goes with each call", async () => {
  const seen: (string | undefined)[] = [];
  const client = await against(
    (request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(200, { "content-type": "application/proto" }).end(task);
    },
    { token: "abc" },
  );
  await client.reset(choice);
  expect(seen).toEqual(["Bearer abc"]);
});

test("a server that stalls misses the deadline, and a signal ends the wait", async () => {
  const client = await against(() => undefined);
  await expect(client.reset(choice, { deadlineMs: 50 })).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  const controller = new AbortController();
  const call = client.reset(choice, { signal: controller.signal });
  setImmediate(() => controller.abort());
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a server that is not there, or breaks off, is UNAVAILABLE", async () => {
  const away = createClient("http://127.0.0.1:1", { retry: false });
  await expect(away.reset(choice)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(away.run("r").watch().next()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const breaking = await against((request) => request.socket.destroy(), { retry: false });
  await expect(breaking.reset(choice)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a value that its field cannot hold is INVALID_ARGUMENT", async () => {
  const client = await against(() => undefined);
  await expect(client.getEnvironment("countdown", -1)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
