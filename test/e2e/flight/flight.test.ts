/** Many completions in flight from both clients: none lost, none counted twice. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fly, type FlightOptions } from "./flight.ts";
import { startProxy } from "./proxy.ts";
import { createClient, type GradusClient } from "../../../clients/ts/src/index.ts";
import { until } from "../../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../../support/server-process.ts";

const PROMPTS = 32;
const GENERATIONS = 8;
const COMPLETIONS = PROMPTS * GENERATIONS;
const STREAMS = 8;

let folder: ReturnType<typeof temporaryFolder>;
let server: ServerProcess;
let client: GradusClient;
beforeEach(() => {
  folder = temporaryFolder();
  process.env["GRADUS_FLIGHT"] = folder.path;
});
afterEach(async () => {
  client.close();
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

async function flying(...flags: readonly string[]): Promise<Omit<FlightOptions, "addresses" | "environment">> {
  server = await startServer(join(folder.path, "data"), ...flags);
  client = createClient(server.address);
  const size = { prompts: PROMPTS, generations: GENERATIONS, perMessage: 1, bytes: 1024, timeoutSeconds: 600 };
  return { ...size, client, folder: folder.path, runId: "flight", streams: 2, processes: { python: 2, typescript: 2 } };
}

const whole = { completions: COMPLETIONS, failed: 0, recorded: COMPLETIONS, once: COMPLETIONS, missing: 0, twice: 0 };

test("all of them lie with the server before it answers one, and each is recorded once", async () => {
  writeFileSync(join(folder.path, "hold"), "");
  const asked = (): number => Number(readFileSync(join(folder.path, "asked"), { encoding: "utf8", flag: "a+" }));
  const options = await flying("--environment-file", "test/e2e/flight/held.ts");
  const flight = await fly({
    ...options,
    addresses: [server.address],
    environment: "flight/held",
    underWay: async () => {
      await until(() => asked() >= COMPLETIONS);
      rmSync(join(folder.path, "hold"));
    },
  });
  expect(flight).toMatchObject({ ...whole, statuses: { recorded: COMPLETIONS }, closedGroups: PROMPTS });
  expect(asked()).toBe(COMPLETIONS);
});

test("a server that has room for half of them gets them all, some of them twice, and counts each once", async () => {
  const [completion, held] = [16 * 1024, 2 * 1024 ** 2];
  const message = ["--max-completion-bytes", String(completion), "--max-message-bytes", String(2 * completion)];
  const options = await flying(...message, "--max-held-bytes", String(held));
  const to = { addresses: [server.address], environment: "countdown" };
  const flight = await fly({ ...options, ...to, bytes: completion });
  expect(flight).toMatchObject({ ...whole, closedGroups: PROMPTS });
  const { recorded = 0, duplicate = 0 } = flight.statuses;
  expect(recorded + duplicate).toBe(COMPLETIONS);
});

test("a server that takes few calls is waited for, as long as it asks for, by both clients", async () => {
  const options = await flying("--max-inflight-calls", "2");
  const proxy = await startProxy(server.address, STREAMS);
  try {
    const flight = await fly({ ...options, addresses: proxy.addresses, environment: "countdown" });
    expect(flight).toMatchObject({ ...whole, closedGroups: PROMPTS });
  } finally {
    proxy.stop();
  }
  const came = proxy.waits.filter(({ waitedMs }) => waitedMs !== undefined);
  expect(came.length).toBeGreaterThan(0);
  expect(came.filter(({ waitedMs = 0, delayMs }) => waitedMs < delayMs)).toEqual([]);
});
