/**
 * Tests that replicas behind HAProxy count each acknowledged result once, and serve as one undisturbed server does (see
 * test/simulation).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import { againstReplicas } from "../simulation/replicas.ts";
import { until } from "../support/patience.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";

test("three replicas of one store, with faults, are as good as one server without", async () => {
  const tell = process.env["REPLICAS_TRACE"] === undefined ? undefined : console.log;
  const store = process.env["REPLICAS_STORE"] === "sqlite" ? "sqlite" : "postgres";
  const samples = Number(process.env["REPLICAS_SAMPLES"] ?? 3_000);
  const { violations, faults, gapMs } = await againstReplicas({ seed: 1, samples, store, ...(tell && { tell }) });
  expect(violations).toEqual([]);
  const kinds = ["replica killed", "replica stopped", "judge of one replica gone, or back"];
  const ofDatabase = store === "sqlite" ? [] : ["database killed", "reply to a commit cut"];
  expect(Object.keys(faults)).toEqual(expect.arrayContaining([...kinds, ...ofDatabase]));
  // Nobody waited until a call's deadline. How long they wait is measured by bench/chaos, not on a busy machine.
  expect(gapMs).toBeLessThan(60_000);
});

test("a server that differs from its replicas is refused in words, or replaces them", async () => {
  using folder = temporaryFolder();
  const pool = join(folder.path, "mine.jsonl");
  writeFileSync(
    pool,
    `${JSON.stringify({ question: "What is the capital of France?", options: ["Paris", "Rome"], answer: 0 })}\n`,
  );
  const other = ["--pool", `mine=qa:${pool}`];
  const old = await startServer(folder.path);
  await expect(startServer(folder.path, ...other)).rejects.toThrow(
    /replica [^]*pool mine is only on this server[^]*--drain-others/,
  );
  const next = await startServer(folder.path, ...other, "--drain-others");
  await until(async () => (await fetch(`${old.httpAddress}/healthz`)).status === 503);
  expect((await fetch(`${next.httpAddress}/healthz`)).status).toBe(200);
  const [late, client] = [createClient(old.address, { retry: false }), createClient(next.address)];
  await expect(late.reset({ environment: "countdown" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect((await client.reset({ environment: "countdown" })).taskId).not.toBe("");
  await expect(startServer(folder.path, "--drain-others")).rejects.toThrow(/is replacing servers like this one/);
  late.close();
  client.close();
  expect(await old.kill("SIGTERM")).toBe(0);
  expect(await next.kill("SIGTERM")).toBe(0);
});
