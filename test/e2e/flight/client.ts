/**
 * Streams of the TypeScript client: `node client.ts WORK` connects, says "ready", and sends everything once a line comes
 * on its standard input. Says what became of it as JSON.
 */
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { createClient } from "../../../clients/ts/src/index.ts";
import type { Told, Unit, Work } from "./work.ts";

const work = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Work;
const told = { failed: 0, reasons: new Set<string>(), statuses: {} as Record<string, number> };

const clients = work.streams.map(({ address }) => createClient(address, { deadlineMs: work.timeoutSeconds * 1000 }));
await Promise.all(clients.map((client) => client.listEnvironments()));

async function stream(client: (typeof clients)[number], units: readonly Unit[]): Promise<void> {
  const groups = units.map(({ taskId, groupId, samples }) => ({
    task: { taskId, groupId },
    completions: samples.map(({ index, text }) => ({ sampleIndex: index, text })),
  }));
  for await (const result of client.streamSteps(groups, { window: units.length })) {
    if (result.kind === "failed") {
      told.failed++;
      told.reasons.add(`${result.error.code}: ${result.error.message}`);
      continue;
    }
    for (const { kind, feedback } of result.outcome.outcomes) {
      const status = kind === "unscored" ? kind : (feedback?.status ?? "none");
      told.statuses[status] = (told.statuses[status] ?? 0) + 1;
    }
  }
}

process.stdout.write("ready\n");
await once(process.stdin, "data");
await Promise.all(clients.map((client, i) => stream(client, work.streams[i]?.units ?? [])));
for (const client of clients) client.close();
const said: Told = { ...told, reasons: [...told.reasons] };
process.stdout.write(`${JSON.stringify(said)}\n`);
process.stdin.destroy();
