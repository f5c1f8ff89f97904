/** A data directory and exports of 61d8c31e, which test/golden/upgrade/make.ts made with that commit's code, under this server. */
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatAnswer } from "../../envs/countdown/expression.ts";
import { solve } from "../../envs/countdown/solve.ts";
import { ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.js";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

const archive = new URL("../golden/upgrade/61d8c31e.tar.gz", import.meta.url);
const folder = temporaryFolder();
let server: TestServer;

const open = () => openServer({ dataDir: join(folder.path, "data"), store: "sqlite" });
const exported = (name: string) => readFileSync(join(folder.path, "old", `${name}.run`));

beforeAll(async () => {
  execFileSync("mkdir", [join(folder.path, "old")]);
  execFileSync("tar", ["-xzf", archive.pathname, "-C", join(folder.path, "old")]);
  cpSync(join(folder.path, "old"), join(folder.path, "data"), { recursive: true });
  server = await open();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const stateOf = async (runId: string) => (await server.client.run(runId).get()).state;

async function controlsOf(runId: string) {
  const history = await server.client.run(runId).history();
  return history.flatMap(({ kind, rolledBack }) => (kind.case === "control" ? [[kind.value.kind, rolledBack]] : []));
}

test("tasks that the older server gave out are the same, and are scored as before, but for what the newer version changed", async () => {
  const run = server.client.run("paused");
  const { tasks } = await run.nextBatch({ cursor: 0n });
  expect(tasks).toHaveLength(2);
  expect(tasks.map(({ environment, version }) => [environment, version])).toEqual(new Array(2).fill(["countdown", 1]));
  const [task] = tasks;
  if (task === undefined) throw new Error("no task");
  const fresh = await server.client.reset({ environment: "countdown", level: "T0", seed: 1n });
  expect(fresh.version).toBe(2);
  const { numbers = "", target } = task.hints?.metadata ?? {};
  const answer = solve({ numbers: numbers.split(" ").map(Number), target: Number(target) }).answer;
  for (const [completion, reward] of [
    [`<think></think><answer>${formatAnswer(answer)}</answer>`, 1],
    ["no answer", 0],
  ] as const) {
    const { outcome } = await server.client.tryAnswer(task, { completion });
    expect(outcome.kind === "scored" && [outcome.reward, outcome.info["judged_by"]]).toEqual([
      reward,
      "version 2: the task is of version 1, which gave some answers other verdicts",
    ]);
  }
});

test("a trainer that makes its run again, without a version, goes on with the run that is there", async () => {
  const arms = ["T0", "T1", "T2"].map((level) => ({ id: level, environment: "countdown", level }));
  const stages = arms.map(({ id }) => ({ weights: { [id]: 1 } }));
  const config = {
    arms,
    policy: { kind: "staged", stages },
    numGenerations: 2,
    promptsPerUpdate: 2,
    seed: 7n,
  } as const;
  const run = await server.client.run("paused").create(config);
  expect(run.state?.cursor).toBe(2n);
  const { tasks } = await server.client.run("paused").nextBatch({ cursor: 0n });
  expect(tasks.map(({ version }) => version)).toEqual([1, 1]);
});

test("an import that the older server made stays what it was: it undid the control changes, and the history says so", async () => {
  const state = await stateOf("undone");
  expect(state?.arms.map(({ weight, removed }) => [weight, removed])).toEqual(new Array(3).fill([1, false]));
  expect([state?.epoch, state?.cursor, state?.paused]).toEqual([1, 2n, false]);
  expect(await controlsOf("undone")).toEqual([
    ["weights", true],
    ["shape", true],
    ["import", false],
  ]);
  expect((await server.client.run("undone").nextBatch({ cursor: 2n })).tasks).toHaveLength(2);
});

test("an older export goes into the run that is there, which keeps what was decided since", async () => {
  const run = server.client.run("undone");
  await run.setWeights({ T1: 0 });
  await run.updateShape({ removeArms: ["T2"] });
  const { outstanding } = await run.import(exported("undone"));
  expect(outstanding).toHaveLength(2);
  const state = await stateOf("undone");
  expect(state?.arms.map(({ weight, removed }) => [weight, removed])).toEqual([
    [1, false],
    [0, false],
    [0, true],
  ]);
  expect((await controlsOf("undone")).slice(3)).toEqual([
    ["weights", false],
    ["shape", false],
    ["import", false],
  ]);
  expect((await run.nextBatch({ cursor: 2n })).tasks.map(({ armId }) => armId)).toEqual(["T0", "T0"]);
});

test("a run that the older server paused stays paused, and nobody knows by whom or since when", async () => {
  const state = await stateOf("paused");
  expect([state?.paused, state?.pausedBy, state?.pausedAt]).toEqual([true, "", undefined]);
  const listed = (await server.client.listRuns()).find(({ runId }) => runId === "paused")?.state;
  expect([listed?.paused, listed?.pausedBy, listed?.pausedAt]).toEqual([true, "", undefined]);
  const curriculum = createClient(CurriculumService, createGrpcTransport({ baseUrl: `http://${server.address}` }));
  const failure: unknown = await curriculum
    .nextBatch({ runId: "paused", cursor: 2n, wait: { seconds: 0n } })
    .catch((error: unknown) => error);
  if (!(failure instanceof ConnectError)) throw new Error("no failure");
  expect(failure.rawMessage).toContain('run "paused" was paused, and draws no update batch until');
  const [info] = failure.findDetails(ErrorInfoSchema);
  expect([info?.reason, info?.metadata]).toEqual(["PAUSED", { paused_by: "", paused_since: "" }]);
});

test("an older export that was written during a pause brings the pause back neither into its run nor into a new one", async () => {
  const run = server.client.run("paused");
  await run.resume();
  await run.advance();
  await run.import(exported("paused"));
  expect(await stateOf("paused")).toMatchObject({ paused: false, cursor: 2n });
  // The stage that Advance reached stays reached from the restored cursor.
  expect((await run.nextBatch({ cursor: 2n })).tasks.map(({ armId }) => armId)).toEqual(["T1", "T1"]);
  await server.client.run("copy").import(exported("paused"));
  expect(await stateOf("copy")).toMatchObject({ paused: false, cursor: 2n });
});

test("what was made of all that is read back after a restart", async () => {
  const before = await Promise.all(["undone", "paused", "copy"].map(stateOf));
  await server.server.stop();
  server = await open();
  expect(await Promise.all(["undone", "paused", "copy"].map(stateOf))).toEqual(before);
});

test("an event that this server wrote into an older journal, and that is damaged, is DATA_LOSS", async () => {
  await server.server.stop();
  const db = new DatabaseSync(join(folder.path, "data", "runs.sqlite"));
  const change = db.prepare(
    `UPDATE events SET body = zeroblob(length(body)) WHERE run = (SELECT key FROM runs WHERE id = 'undone')
     AND version = (SELECT version FROM runs WHERE id = 'undone')`,
  );
  expect(change.run().changes).toBe(1);
  db.exec("DELETE FROM snapshots");
  db.close();
  server = await open();
  await expect(server.client.run("undone").get()).rejects.toMatchObject({
    code: "DATA_LOSS",
    message: expect.stringMatching(/event \d+ of its journal differs from what was written/) as string,
  });
});
