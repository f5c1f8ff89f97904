/**
 * The page's bars, each measured on a real server with runs that were driven batch by batch: weight, first paint, the
 * drawing and scrolling of a long run, and what a page that watches costs the server. Ends with 1 where one is missed.
 *
 *   node bench/page/run.ts [--arms 8,1000] [--batches 5000] [--times 9] [--pairs 5] [--seconds 10] [--data FOLDER] [--json]
 *
 * Making the runs takes most of the time: --data keeps them in a folder, and finds them there. The page is built by
 * `make setup`. Nothing else should run on the machine.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { launch } from "../../test/browser/chromium.ts";
import { createLongRun, goOn } from "../../test/support/long-run.ts";
import { createProgress } from "../progress.ts";
import { type ServerProcess, startOurs } from "../transport/processes.ts";
import { type Figure, isMissed, tableOf } from "./bars.ts";
import { drawings, firstDrawings } from "./drawing.ts";
import { paints, weights } from "./loading.ts";
import { watching } from "./watching.ts";

const { values: options } = parseArgs({
  options: {
    arms: { type: "string", default: "8,1000" },
    batches: { type: "string", default: "5000" },
    times: { type: "string", default: "9" },
    pairs: { type: "string", default: "5" },
    seconds: { type: "string", default: "10" },
    data: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const batches = Number(options.batches);
const times = Number(options.times);
const armCounts = options.arms.split(",").map(Number);
const START_MS = 120_000;

const PART = 250;
/** Update batches of a run that is drawn only so that what draws is loaded. */
const SHORT = 8;

/** The run, of which what is missing is drawn and answered, and how many update batches it has: one that was watched has more. */
async function made(client: GradusClient, arms: number, wanted = batches) {
  const run = await createLongRun(client, `of-${arms}-arms${wanted === SHORT ? "-short" : ""}`, arms);
  const drawn = async () => Number((await run.get()).state?.batchesDrawn ?? 0n);
  const left = Math.max(0, wanted - (await drawn()));
  const progress = createProgress(`update batches of ${arms} arms`, Math.ceil(left / PART));
  for (let done = 0; done < left; done += PART) {
    await goOn(client, run, Math.min(PART, left - done));
    progress.step();
  }
  progress.stop();
  return { run, drawn: { runId: run.runId, arms, batches: await drawn() } };
}

const kept = options.data !== undefined;
const folder = options.data ?? mkdtempSync(join(tmpdir(), "gradus-bench-"));
mkdirSync(folder, { recursive: true });
const browser = await launch(START_MS);
const figures: Figure[] = [];
const originOf = ({ httpPort }: ServerProcess): string => `http://127.0.0.1:${httpPort}`;

async function withServer<T>(work: (server: ServerProcess, client: GradusClient) => Promise<T>): Promise<T> {
  const server = await startOurs(folder);
  const client = createClient(`127.0.0.1:${server.port}`);
  try {
    return await work(server, client);
  } finally {
    client.close();
    await server.stop();
  }
}

try {
  const runs = await withServer(async (server, client) => {
    figures.push(...(await weights(originOf(server))), ...(await paints(browser, originOf(server), times)));
    const all = [];
    for (const arms of armCounts)
      all.push({ short: (await made(client, arms, SHORT)).run.runId, ...(await made(client, arms)) });
    return all;
  });
  for (const { short, drawn } of runs) {
    const start = async () => {
      const server = await startOurs(folder);
      return { origin: originOf(server), stop: () => server.stop() };
    };
    figures.push(await firstDrawings(browser, start, drawn, short, times));
  }
  await withServer(async (server, client) => {
    for (const { drawn } of runs) {
      figures.push(...(await drawings(browser, originOf(server), drawn, times)));
      const run = client.run(drawn.runId);
      const watched = {
        server,
        client,
        run,
        arms: drawn.arms,
        pairs: Number(options.pairs),
        seconds: Number(options.seconds),
      };
      if (watched.pairs > 0) figures.push(...(await watching(browser, originOf(server), watched)));
    }
  });
  if (options.json) console.log(JSON.stringify(figures, undefined, 2));
  else console.table(tableOf(figures));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await browser.close();
  if (!kept) rmSync(folder, { recursive: true, force: true });
}
