/**
 * Very many completions in flight: 16,384 of one update batch, unanswered at the same time, from 64 streams of both
 * clients, in a run that records them; then the same against a server that is made to refuse.
 *
 *   node bench/flight/run.ts [--flight held|free|refused|full] [--json]
 *
 * held: the server has all of them before it answers the first. free: Countdown, answered at once. refused: 24 calls at
 * once and no more. full: 16 MiB in open calls and no more. In the last two a proxy notes how long clients wait.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "../../clients/ts/src/index.ts";
import { type ServerProcess, startOurs } from "../transport/processes.ts";
import { type Flight, fly, type FlightOptions } from "./flight.ts";
import { startProxy, type Waited } from "./proxy.ts";

const { values: options } = parseArgs({
  options: {
    flight: { type: "string", multiple: true },
    bytes: { type: "string", default: "4096" },
    json: { type: "boolean", default: false },
  },
});

const MiB = 1024 ** 2;
const size = { prompts: 256, generations: 64, perMessage: 1, bytes: Number(options.bytes), timeoutSeconds: 100 };
const clients = { processes: { python: 8, typescript: 8 }, streams: 4 };
const STREAMS = 64;

interface Kind {
  readonly flags: readonly string[];
  readonly environment: string;
  readonly proxied: boolean;
}

const kinds: Readonly<Record<string, Kind>> = {
  held: { flags: ["--environment-file", "bench/flight/held.ts"], environment: "flight/held", proxied: false },
  free: { flags: [], environment: "countdown", proxied: false },
  refused: { flags: ["--max-inflight-calls", "24"], environment: "countdown", proxied: true },
  full: {
    flags: ["--max-held-bytes", String(16 * MiB), "--max-message-bytes", String(8 * MiB)],
    environment: "countdown",
    proxied: true,
  },
};

/** The greatest memory that a server has while something goes on. */
function watchMemory(server: ServerProcess): () => number {
  let greatest = server.rssBytes();
  const timer = setInterval(() => (greatest = Math.max(greatest, server.rssBytes())), 20);
  return () => {
    clearInterval(timer);
    return greatest;
  };
}

/** By client, the shortest wait after a refusal, over the delay that was asked for. */
function shortestWaits(waits: readonly Waited[]): ReadonlyMap<string, number> {
  const shortest = new Map<string, number>();
  for (const { agent, delayMs, waitedMs } of waits) {
    const [language = ""] = agent.split("/");
    if (waitedMs !== undefined)
      shortest.set(language, Math.min(shortest.get(language) ?? Infinity, waitedMs / delayMs));
  }
  return shortest;
}

/** Waits until as many verdicts are held back as there are completions, and lets them go. */
async function releaseWhenFull(folder: string, completions: number): Promise<void> {
  const asked = join(folder, "asked");
  while (!existsSync(asked) || Number(readFileSync(asked, "utf8")) < completions) await sleep(50);
  rmSync(join(folder, "hold"));
}

async function flightOf(name: string, { flags, environment, proxied }: Kind) {
  const folder = mkdtempSync(join(tmpdir(), "gradus-flight-"));
  writeFileSync(join(folder, "hold"), "");
  process.env["GRADUS_FLIGHT"] = folder;
  const server = await startOurs(folder, [], flags);
  const client = createClient(`127.0.0.1:${server.port}`);
  const proxy = proxied ? await startProxy(`127.0.0.1:${server.port}`, STREAMS) : undefined;
  await sleep(2000);
  const idle = server.rssBytes();
  const greatest = watchMemory(server);
  const held = environment === "flight/held";
  const flying: FlightOptions = {
    ...size,
    ...clients,
    client,
    folder,
    environment,
    runId: name,
    addresses: proxy?.addresses ?? [`127.0.0.1:${server.port}`],
    ...(held && { underWay: () => releaseWhenFull(folder, size.prompts * size.generations) }),
  };
  const flight: Flight = await fly(flying);
  const memoryMiB = Math.round((greatest() - idle) / MiB);
  const verified = held ? Number(readFileSync(join(folder, "asked"), "utf8")) : undefined;
  const waits = proxy?.waits ?? [];
  client.close();
  proxy?.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
  return {
    flight: name,
    ...flight,
    ...(verified !== undefined && { verified }),
    idleMiB: Math.round(idle / MiB),
    overIdleMiB: memoryMiB,
    ...(proxied && {
      refusals: waits.length,
      shortestWaitOverDelay: Object.fromEntries(shortestWaits(waits)),
    }),
  };
}

const results = [];
for (const name of options.flight ?? Object.keys(kinds)) {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`there is no flight ${name}; there are ${Object.keys(kinds).join(", ")}`);
  results.push(await flightOf(name, kind));
  if (!options.json) console.log(results.at(-1));
}
if (options.json) console.log(JSON.stringify(results));
