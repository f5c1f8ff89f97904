/**
 * Runs of the policy frontier from before its practice scale was measured, in a data directory that
 * test/golden/upgrade/make-frontier.ts made with the code of 87e128dc.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { type DrawnBatch, frontierRun, playBatches, PROMPTS } from "../golden/upgrade/frontier-run.ts";

const archive = new URL("../golden/upgrade/87e128dc.tar.gz", import.meta.url);
const folder = temporaryFolder();
let server: TestServer;
let future: Readonly<Record<"fresh" | "practised", readonly DrawnBatch[]>>;

beforeAll(async () => {
  execFileSync("tar", ["-xzf", archive.pathname, "-C", folder.path]);
  future = JSON.parse(readFileSync(join(folder.path, "future.json"), "utf8")) as typeof future;
  server = await openServer({ dataDir: folder.path, store: "sqlite" });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function scaleOf(runId: string): Promise<number | undefined> {
  const kind = (await server.client.run(runId).get()).state?.policy?.kind;
  return kind?.case === "frontier" ? kind.value.practiceScale : undefined;
}

test("a run says the scale that it has, and a new run that it measures its own", async () => {
  expect(await scaleOf("fresh")).toBe(PROMPTS);
  expect(await scaleOf("practised")).toBe(PROMPTS);
  await server.client.run("new").create(frontierRun);
  expect(await scaleOf("new")).toBeUndefined();
});

test("a trainer that makes its run again gets the run that is there", async () => {
  expect((await server.client.run("practised").create(frontierRun)).state?.cursor).toBe(BigInt(20 * PROMPTS));
  const spelled = { ...frontierRun, policy: { kind: "frontier", exploration: 0.1 } } as const;
  expect((await server.client.run("fresh").create(spelled)).state?.cursor).toBe(0n);
  const other = { ...frontierRun, policy: { kind: "frontier", practiceScale: 20 } } as const;
  await expect(server.client.run("fresh").create(other)).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
    message: expect.stringContaining("policy.frontier.practice_scale") as string,
  });
});

test("an export and the run itself draw what the older server drew next, to the bit", async () => {
  await server.client.run("copy").import(readFileSync(join(folder.path, "practised.run")));
  expect(await playBatches(server.client, "copy", 20, 32)).toEqual(future.practised);
  expect(await playBatches(server.client, "practised", 20, 32)).toEqual(future.practised);
});

test("a run that had drawn nothing draws by the older scale too, and a new one in another way", async () => {
  expect(await playBatches(server.client, "fresh", 0, 32)).toEqual(future.fresh);
  expect(await playBatches(server.client, "new", 0, 32)).not.toEqual(future.fresh);
});

test("an UpdatePolicy gives an older run the measured scale", async () => {
  await server.client.run("fresh").updatePolicy({ kind: "frontier" });
  expect(await scaleOf("fresh")).toBeUndefined();
});
