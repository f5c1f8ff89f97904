/**
 * Tests curricula over rows on the real server: draws follow the rates that a caller gives, and the known rates are
 * listed.
 */
import { expect, test } from "vitest";
import { openServer } from "../support/in-process.ts";

test("an arm draws the rows of a pool, and of a generator, that it is told are worth it", async () => {
  await using server = await openServer();
  const run = server.client.run("rows");
  await run.create({
    arms: [
      {
        id: "real",
        environment: "countdown",
        level: "T0",
        source: "real",
        rows: { floor: 0 },
      },
      { id: "made", environment: "countdown", level: "T0", rows: { floor: 0, count: 20, target: { start: 0.5 } } },
    ],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 8,
  });
  const before = await run.rows("real");
  expect(before.rows.length).toBeGreaterThan(300);
  expect(before.histogram.reduce((sum, count) => sum + count, 0)).toBe(before.rows.length);
  // The given rates say that all but four rows of each arm are hopeless.
  for (const arm of ["real", "made"]) {
    const { rows } = await run.rows(arm);
    await run.rateRows(arm, new Map(rows.map(({ row }, i) => [row, i < 4 ? 0.5 : 0])), 1000);
  }
  const { tasks } = await run.nextBatch({ count: 8 });
  const prompts = (armId: string) =>
    new Set(tasks.filter((task) => task.armId === armId).map(({ prompt }) => prompt.at(-1)?.content));
  expect(prompts("real").size + prompts("made").size).toBe(8);
  const known = await run.rows("made");
  expect(known.rows.slice(0, 4).every(({ passRate }) => Math.abs(passRate - 0.5) < 0.01)).toBe(true);
  await expect(run.rateRows("made", new Map([[99, 0.5]]))).rejects.toThrow("99 is no row of arm 'made'");
  await expect(run.rows("none")).rejects.toThrow("'none' is not an arm of the run");
});
