/**
 * Tests that operators' decisions hold while a trainer trains, whatever the trainer imports and whichever server it
 * asks.
 */
import { createClient as clientOf, ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.js";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
const tokenOf = (name: string): string => `${name}-correct-horse-battery-staple`;
const clients: GradusClient[] = [];
let server: TestServer;

beforeAll(async () => {
  const tokensFile = join(folder.path, "tokens.json");
  const roles = { tim: "trainer", olga: "operator" };
  const tokens = Object.entries(roles).map(([name, role]) => ({ name, role, token: tokenOf(name) }));
  writeFileSync(tokensFile, JSON.stringify(tokens), { mode: 0o600 });
  server = await openServer({ tokensFile });
});

afterAll(async () => {
  for (const client of clients) client.close();
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A run with two arms, as its trainer and as its operator have it. */
async function runOf(runId: string, kind: "mixture" | "bandit" = "mixture") {
  const [tim, olga] = ["tim", "olga"].map((name) => {
    const client = createClient(server.address, { token: tokenOf(name), retry: false });
    clients.push(client);
    return client.run(runId);
  }) as [ReturnType<GradusClient["run"]>, ReturnType<GradusClient["run"]>];
  const arms = ["T0", "T1"].map((level) => ({ id: level, environment: "countdown", level }));
  await tim.create({ arms, policy: { kind }, numGenerations: 2, promptsPerUpdate: 2 });
  return { tim, olga };
}

const authorization = { headers: { authorization: `Bearer ${tokenOf("tim")}` } };

/** The client of the contract itself, over each protocol. */
const protocols = {
  gRPC: () => createGrpcTransport({ baseUrl: `http://${server.address}` }),
  Connect: () => createConnectTransport({ baseUrl: server.http, httpVersion: "1.1" }),
};

test.each(Object.entries(protocols))(
  "a paused run makes its trainers wait, and says why, over %s",
  async (name, open) => {
    const runId = name.slice(0, 4);
    const { olga } = await runOf(runId);
    const curriculum = clientOf(CurriculumService, open());
    await olga.pause();
    const { state } = await olga.get();
    const asked = Date.now();
    const wait = { seconds: 0n, nanos: 300_000_000 };
    const failure: unknown = await curriculum
      .nextBatch({ runId, wait }, authorization)
      .catch((error: unknown) => error);
    if (!(failure instanceof ConnectError)) throw new Error(`no failure: ${String(failure)}`);
    expect(Date.now() - asked).toBeGreaterThanOrEqual(295);
    expect(failure.rawMessage).toContain(`run "${runId}" was paused by "olga" at 20`);
    expect(failure.rawMessage).toContain(`gradus run resume ${runId}`);
    expect(failure.metadata.get("wait-reason")).toBe("PAUSED");
    expect(Number(failure.metadata.get("retry-delay-ms"))).toBeGreaterThan(0);
    const [info] = failure.findDetails(ErrorInfoSchema);
    if (info === undefined) throw new Error("no ErrorInfo");
    expect([info.domain, info.reason, info.metadata["paused_by"]]).toEqual(["gradus", "PAUSED", "olga"]);
    const since = Date.parse(info.metadata["paused_since"] ?? "");
    expect(since).toBe(Number(state?.pausedAt?.seconds ?? 0n) * 1000 + Math.floor((state?.pausedAt?.nanos ?? 0) / 1e6));
    const waiting = curriculum.nextBatch({ runId, wait: { seconds: 30n } }, authorization);
    await olga.resume();
    expect((await waiting).tasks).toHaveLength(2);
  },
);

test("feedback that is due is a wait with a reason, too", async () => {
  await runOf("due", "bandit");
  const curriculum = clientOf(CurriculumService, protocols.gRPC());
  const next = () => curriculum.nextBatch({ runId: "due", wait: { seconds: 0n } }, authorization);
  await next();
  await next();
  const failure: unknown = await next().catch((error: unknown) => error);
  if (!(failure instanceof ConnectError)) throw new Error("no failure");
  const [info] = failure.findDetails(ErrorInfoSchema);
  expect([info?.reason, info?.metadata]).toEqual(["FEEDBACK_DUE", { update_batch: "0" }]);
});

test("a trainer's import undoes no decision of an operator, and restore_control is an operator's", async () => {
  const { tim, olga } = await runOf("decided");
  await tim.nextBatch({ cursor: 0n });
  await olga.pause();
  const { state: checkpoint } = await tim.export();
  await olga.resume();
  await olga.updateShape({ removeArms: ["T1"], length: 40n });
  await tim.import(checkpoint);
  const now = (await tim.get()).state;
  expect([now?.paused, now?.arms.map(({ removed }) => removed), now?.shape?.length]).toEqual([
    false,
    [false, true],
    40n,
  ]);
  const { version } = now ?? {};
  await expect(tim.import(checkpoint, { restoreControl: true })).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining(
      "restore_control needs a token with the role operator, and 'tim' has the role trainer",
    ) as string,
  });
  // The call is also refused where it would make a run.
  await expect(
    createClient(server.address, { token: tokenOf("tim"), retry: false })
      .run("new")
      .import(checkpoint, { restoreControl: true }),
  ).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect((await tim.get()).state?.version).toBe(version);
  await olga.import(checkpoint, { restoreControl: true });
  const back = (await tim.get()).state;
  expect([back?.paused, back?.pausedBy, back?.arms.map(({ removed }) => removed)]).toEqual([
    true,
    "olga",
    [false, false],
  ]);
});

test("an arm of the same id with another environment or version is refused, naming both", async () => {
  const { tim, olga } = await runOf("another");
  const { state: checkpoint } = await tim.export();
  await olga.delete();
  const arms = [
    { id: "T0", environment: "np/tsp", level: "easy" },
    { id: "T1", environment: "countdown", level: "T1" },
  ];
  await tim.create({ arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 2 });
  const before = (await tim.get()).state;
  await expect(tim.import(checkpoint)).rejects.toMatchObject({
    code: "FAILED_PRECONDITION",
    message: expect.stringMatching(
      /arm "T0" has environment "countdown" in the export but "np\/tsp" in the run/,
    ) as string,
  });
  expect((await tim.get()).state).toEqual(before);
});
