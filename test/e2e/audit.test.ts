/** Tests that a run's history names the token that made a change, and never shows the token itself. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
const tokenOf = (name: string): string => `${name}-correct-horse-battery-staple`;
const clients: GradusClient[] = [];
let server: TestServer;

beforeAll(async () => {
  const tokensFile = join(folder.path, "tokens.json");
  const roles = { vera: "viewer", tim: "trainer", olga: "operator" };
  const tokens = Object.entries(roles).map(([name, role]) => ({ name, role, token: tokenOf(name) }));
  writeFileSync(tokensFile, JSON.stringify(tokens), { mode: 0o600 });
  server = await openServer({ tokensFile });
});

afterAll(async () => {
  for (const client of clients) client.close();
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function as(name: string): GradusClient {
  const client = createClient(server.address, { token: tokenOf(name), retry: false });
  clients.push(client);
  return client;
}

test("a run's history says by whom it was changed, and those who may not change it are refused", async () => {
  const [olga, tim, vera] = [as("olga").run("run"), as("tim").run("run"), as("vera").run("run")];
  await tim.create({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 1,
  });
  await expect(vera.pause()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(tim.pause()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  const { tasks } = await tim.nextBatch({ cursor: 0n });
  await tim.closeGroups(
    tasks.map(({ groupId }) => groupId),
    "dropped",
  );
  await olga.setWeights({ a: 2 });
  await olga.pause();
  await expect(tim.annotate({ note: "mine" })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await olga.annotate({ note: "lower rate", addTags: ["second", "first"] });
  expect((await vera.get()).state).toMatchObject({ note: "lower rate", tags: ["first", "second"] });
  // A trainer that goes back to its checkpoint does this.
  const { state } = await tim.export();
  await tim.import(state);
  const controls = (await vera.history()).flatMap(({ kind }) => (kind.case === "control" ? [kind.value] : []));
  expect(controls.map(({ kind, by, reason }) => [kind, by, reason])).toEqual([
    ["close_groups", "tim", "dropped"],
    ["weights", "olga", ""],
    ["pause", "olga", ""],
    ["note", "olga", "lower rate"],
    ["tags", "olga", "first, second"],
    ["import", "tim", ""],
  ]);
  expect((await vera.get()).state).toMatchObject({ note: "lower rate", tags: ["first", "second"] });
});
