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
import { createClient, type GradusClient, type RunHandle } from "../../clients/ts/src/index.ts";
import { launch } from "../../test/browser/chromium.ts";
import { createLongRun, goOn } from "../../test/support/long-run.ts";
import { createProgress } from "../progress.ts";
import { startOurs } from "../transport/processes.ts";
import { type Figure, isMissed, tableOf } from "./bars.ts";
import { drawings } from "./drawing.ts";
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
const START_MS = 120_000;

const PART = 250;

/** The run, of which what is missing is drawn and answered. */
async function made(client: GradusClient, arms: number): Promise<RunHandle> {
  const run = await createLongRun(client, `of-${arms}-arms`, arms);
  const { state } = await run.get();
  const left = Math.max(0, batches - Number(state?.batchesDrawn ?? 0n));
  const progress = createProgress(`update batches of ${arms} arms`, Math.ceil(left / PART));
  for (let done = 0; done < left; done += PART) {
    await goOn(client, run, Math.min(PART, left - done));
    progress.step();
  }
  progress.stop();
  return run;
}

const kept = options.data !== undefined;
const folder = options.data ?? mkdtempSync(join(tmpdir(), "gradus-bench-"));
mkdirSync(folder, { recursive: true });
const server = await startOurs(folder);
const client = createClient(`127.0.0.1:${server.port}`);
const browser = await launch(START_MS);
const figures: Figure[] = [];
try {
  const origin = `http://127.0.0.1:${server.httpPort}`;
  figures.push(...(await weights(origin)), ...(await paints(browser, origin, times)));
  for (const arms of options.arms.split(",").map(Number)) {
    const run = await made(client, arms);
    figures.push(...(await drawings(browser, origin, { runId: run.runId, arms, batches }, times)));
    const watched = { server, client, run, arms, pairs: Number(options.pairs), seconds: Number(options.seconds) };
    if (watched.pairs > 0) figures.push(...(await watching(browser, origin, watched)));
  }
  if (options.json) console.log(JSON.stringify(figures, undefined, 2));
  else console.table(tableOf(figures));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await browser.close();
  client.close();
  await server.stop();
  if (!kept) rmSync(folder, { recursive: true, force: true });
}
