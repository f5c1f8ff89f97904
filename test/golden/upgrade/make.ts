/**
 * Makes what an older commit leaves behind, by that commit's own code. `61d8c31e.tar.gz` beside this file is a data directory
 * with two exports. To make one of another commit, copy this file to test/golden/upgrade/ in a worktree of it, and run there this command.
 *
 * ```
 * node test/golden/upgrade/make.ts COMMIT.tar.gz
 * ```
 *
 * The test test/e2e/upgrade.test.ts opens each of them.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createClient, type PolicyChoice } from "../../../clients/ts/src/index.ts";
import { serve } from "../../../server/main.ts";
import { readConfig } from "../../../server/runtime/config.ts";
import { openLog } from "../../../server/runtime/logging.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-upgrade-"));
const own = { port: "0", httpPort: "0", workers: "1", dataDir: folder, logLevel: "silent", store: "sqlite" };
const read = readConfig(own, {});
if (read.kind === "invalid") throw new Error(read.message);
const server = await serve(read.config, openLog(read.config));
const client = createClient(`127.0.0.1:${server.grpcPort}`);

const arms = ["T0", "T1", "T2"].map((level) => ({ id: level, environment: "countdown", level }));
const stages = ["T0", "T1", "T2"].map((level) => ({ weights: { [level]: 1 } }));

async function started(runId: string, policy: PolicyChoice) {
  const run = client.run(runId);
  await run.create({ arms, policy, numGenerations: 2, promptsPerUpdate: 2, seed: 7n });
  return run;
}

/** A run that is paused, whose export was written during the pause, with one task outstanding. */
const paused = await started("paused", { kind: "staged", stages });
await paused.nextBatch({ cursor: 0n });
await paused.pause();
writeFileSync(join(folder, "paused.run"), (await paused.export()).state);

/** A run whose control was changed, and undone again by an import of the old kind. */
const undone = await started("undone", { kind: "mixture" });
await undone.nextBatch({ cursor: 0n });
writeFileSync(join(folder, "undone.run"), (await undone.export()).state);
await undone.setWeights({ T1: 5 });
await undone.updateShape({ removeArms: ["T2"] });
await undone.nextBatch({ cursor: 2n });
await undone.import(readFileSync(join(folder, "undone.run")));

client.close();
await server.stop();
execFileSync("tar", ["-czf", resolve(process.argv[2] ?? "data.tar.gz"), "-C", folder, "."]);
