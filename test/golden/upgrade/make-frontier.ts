/**
 * Makes runs of the policy frontier as a server before the practice scale "auto" leaves them, by that server's own code.
 * `87e128dc.tar.gz` beside this file is a data directory with an export. `future.json` in it has the update batches that
 * the old server drew after the export. To make it again, copy this file and frontier-run.ts to test/golden/upgrade/ in
 * a worktree of that commit, and run there this command.
 *
 * ```
 * node test/golden/upgrade/make-frontier.ts COMMIT.tar.gz
 * ```
 *
 * The test test/e2e/upgrade-frontier.test.ts opens it.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createClient } from "../../../clients/ts/src/index.ts";
import { serve } from "../../../server/main.ts";
import { readConfig } from "../../../server/runtime/config.ts";
import { openLog } from "../../../server/runtime/logging.ts";
import { frontierRun, playBatches } from "./frontier-run.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-upgrade-"));
const [data, kept] = [join(folder, "data"), join(folder, "kept")];
const own = { port: "0", httpPort: "0", workers: "1", dataDir: data, logLevel: "silent", store: "sqlite" };

async function opened() {
  const read = readConfig(own, {});
  if (read.kind === "invalid") throw new Error(read.message);
  const server = await serve(read.config, openLog(read.config));
  return { server, client: createClient(`127.0.0.1:${server.grpcPort}`) };
}

/** Two runs: one that never drew, and one that drew 20 update batches. */
const before = await opened();
await before.client.run("fresh").create(frontierRun);
await before.client.run("practised").create(frontierRun);
await playBatches(before.client, "practised", 0, 20);
writeFileSync(join(data, "practised.run"), (await before.client.run("practised").export()).state);
before.client.close();
await before.server.stop();
cpSync(data, kept, { recursive: true });

/** The old server goes on with both, in a directory of its own. */
const after = await opened();
const future = {
  fresh: await playBatches(after.client, "fresh", 0, 32),
  practised: await playBatches(after.client, "practised", 20, 32),
};
after.client.close();
await after.server.stop();
writeFileSync(join(kept, "future.json"), JSON.stringify(future));
execFileSync("tar", ["-czf", resolve(process.argv[2] ?? "data.tar.gz"), "-C", kept, "."]);
