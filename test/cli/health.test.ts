/**
 * Tests of the image's health check with the environments that Compose makes. A variable without a value counts as
 * unset.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);

/** Rejects where the check ends with another code than 0. */
const check = (env: Readonly<Record<string, string>>) => run(process.execPath, ["cli/health.ts"], { env });

async function answering(status: number | ((path: string) => number), host = "localhost"): Promise<string> {
  const statusOf = typeof status === "number" ? () => status : status;
  const server = createServer(({ url = "" }, response) => response.writeHead(statusOf(url)).end()).listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return String((server.address() as AddressInfo).port);
}

test("a server that answers is healthy, and one that does not says so", async () => {
  await check({ GRADUS_HTTP_PORT: await answering(200) });
  await expect(check({ GRADUS_HTTP_PORT: await answering(503) })).rejects.toThrow("/livez answered 503");
});

test("a server that is alive and not ready, as in an outage of its store, is healthy", async () => {
  const port = await answering((path) => (path === "/livez" ? 200 : 503));
  await check({ GRADUS_HTTP_PORT: port });
});

test("variables of TLS that are empty mean none, as to the server", async () => {
  await check({ GRADUS_HTTP_PORT: await answering(200), GRADUS_TLS_CERT: "", GRADUS_TLS_CLIENT_CA: "" });
  const notReady = check({ GRADUS_HTTP_PORT: await answering(503), GRADUS_TLS_CERT: "", GRADUS_TLS_CLIENT_CA: "" });
  await expect(notReady).rejects.toThrow("/livez answered 503");
});

test("a server that listens on one address is asked there, and one that listens on all of them here", async () => {
  await check({ GRADUS_HTTP_PORT: await answering(200, "127.0.0.9"), GRADUS_HOST: "127.0.0.9" });
  await check({ GRADUS_HTTP_PORT: await answering(200, "0.0.0.0"), GRADUS_HOST: "0.0.0.0" });
});
