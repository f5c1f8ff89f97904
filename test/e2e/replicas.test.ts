/** Replicas behind HAProxy count what they acknowledged, once, and serve what one undisturbed server would (see test/simulation). */
import { expect, test } from "vitest";
import { againstReplicas } from "../simulation/replicas.ts";

test("three replicas of one store, with faults, are as good as one server without", async () => {
  const tell = process.env["REPLICAS_TRACE"] === undefined ? undefined : console.log;
  const store = process.env["REPLICAS_STORE"] === "sqlite" ? "sqlite" : "postgres";
  const samples = Number(process.env["REPLICAS_SAMPLES"] ?? 10_000);
  const { violations, faults, gapMs } = await againstReplicas({ seed: 1, samples, store, ...(tell && { tell }) });
  expect(violations).toEqual([]);
  expect(faults["replica killed"]).toBeGreaterThan(0);
  expect(gapMs).toBeLessThanOrEqual(5_000);
});
