/** Tests of the addresses on which the ports listen. */
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { start, stopAll } from "./fixture.ts";
import { echo } from "./handlers.ts";

afterEach(stopAll);

/** Opens a port that another server listens on. */
async function taken(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

test.each([
  ["port", "port"],
  ["httpPort", "http-port"],
  ["metricsPort", "metrics-port"],
])("a %s that is taken is refused with its option, what to do, and the system's code", async (name, flag) => {
  const { port, server } = await taken();
  await expect(start({}, { [name]: String(port) })).rejects.toMatchObject({
    code: "EADDRINUSE",
    message: `cannot listen on 127.0.0.1:${port} (--${flag}): something else listens there; stop it, or give another port (EADDRINUSE)`,
  });
  server.close();
});

test("a host that nobody knows is the operator's to mend, and no bug", async () => {
  await expect(start({}, { host: "nowhere.invalid", insecure: true })).rejects.toMatchObject({
    message: expect.stringContaining("no address is known by this name; give another --host") as string,
  });
});

test("the server listens on IPv6 loopback when asked to", async () => {
  const { httpPort } = await start({ step: async (request) => echo(request) }, { host: "::1" });
  expect((await fetch(`http://[::1]:${httpPort}/healthz`)).status).toBe(200);
});
