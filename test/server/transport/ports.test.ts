/** Where the ports listen. */
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { start, stopAll } from "./fixture.ts";
import { echo } from "./handlers.ts";

afterEach(stopAll);

/** A port that somebody else listens on. */
async function taken(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

test.each(["port", "httpPort"])("a %s that is taken is refused with the system's code", async (flag) => {
  const { port, server } = await taken();
  await expect(start({}, { [flag]: String(port) })).rejects.toMatchObject({
    code: "EADDRINUSE",
    message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
  });
  server.close();
});

test("the server listens on IPv6 loopback when asked to", async () => {
  const { httpPort } = await start({ step: async (request) => echo(request) }, { host: "::1" });
  expect((await fetch(`http://[::1]:${httpPort}/healthz`)).status).toBe(200);
});
