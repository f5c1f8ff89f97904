/** ListEnvironments and GetEnvironment, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environments as registered } from "../../../envs/registry.ts";
import { Goal } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { Source } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

describe("ListEnvironments", () => {
  test("lists all by id, in pages of any size", async () => {
    const all = await wire.environments.listEnvironments({});
    expect(all.nextPageToken).toBe("");
    expect(all.environments.map(({ id }) => id)).toEqual(registered.map(({ id }) => id).sort());
    const paged: string[] = [];
    let pageToken = "";
    do {
      const page = await wire.environments.listEnvironments({ pageSize: 1, pageToken });
      expect(page.environments).toHaveLength(1);
      paged.push(...page.environments.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(paged).toEqual(all.environments.map(({ id }) => id));
  });

  test("gives those of a category", async () => {
    const { environments } = await wire.environments.listEnvironments({ category: "np" });
    expect(environments.length).toBeGreaterThan(0);
    expect(environments.every(({ id, category }) => id.startsWith("np/") && category === "np")).toBe(true);
    expect((await wire.environments.listEnvironments({ category: "none" })).environments).toEqual([]);
  });

  test.each([
    [{ pageSize: 1001 }, "page_size", "1 to 1000"],
    [{ pageToken: "!" }, "page_token", "this server did not issue it"],
    [{ pageToken: "x".repeat(600) }, "page_token", "512"],
    [{ category: "x".repeat(65) }, "category", "64"],
  ])("refuses %o", async (request, field, limit) => {
    const failure = await failureOf(wire.environments.listEnvironments(request));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field });
    expect(failure.message).toContain(limit);
  });
});

describe("GetEnvironment", () => {
  test("describes one environment in full", async () => {
    const { environment } = await wire.environments.getEnvironment({ id: "countdown" });
    expect(environment).toMatchObject({
      id: "countdown",
      version: 2,
      earlierVersions: [1],
      category: "countdown",
      goal: Goal.SATISFY,
    });
    expect(environment?.levels.map(({ name, evaluationOnly }) => [name, evaluationOnly])).toEqual([
      ["T0", false],
      ["T1", false],
      ["T2", false],
      ["T3", false],
      ["OOD", true],
    ]);
    expect(environment?.answerFormats).toHaveLength(4);
    expect(environment?.sources).toEqual([Source.SYNTHETIC, Source.REAL]);
    expect(environment?.pools.map(({ name }) => name)).toEqual(["countdown"]);
    const { rows = {} } = environment?.pools[0] ?? {};
    expect(Object.keys(rows)).toEqual(["T0", "T1", "T2", "T3", "OOD"]);
    const [scheme] = environment?.rewardSchemes ?? [];
    expect(scheme).toMatchObject({ name: "graded", rewardMin: 0, rewardMax: 1 });
    expect(scheme?.parameters.map(({ name, defaultValue }) => [name, defaultValue])).toEqual([["format_score", 0.1]]);
    for (const info of environment?.parameters ?? []) {
      expect(info.defaultValue).toBeGreaterThanOrEqual(info.min);
      expect(info.defaultValue).toBeLessThanOrEqual(info.max);
    }
  });

  test("gives a version that it has", async () => {
    const newest = await wire.environments.getEnvironment({ id: "np/tsp" });
    expect(await wire.environments.getEnvironment({ id: "np/tsp", version: 2 })).toEqual(newest);
  });

  test.each([
    [{ id: "np/tps" }, "NOT_FOUND", "id: unknown environment 'np/tps'; did you mean 'np/tsp'?"],
    [{ id: "np/tsp", version: 9 }, "FAILED_PRECONDITION", "id: np/tsp has no version 9; it has: 3, 2"],
    [{}, "INVALID_ARGUMENT", "id: must be set"],
    [{ id: "x".repeat(129) }, "INVALID_ARGUMENT", "id: must have at most 128 bytes; got 129"],
  ])("refuses %o", async (request, code, message) => {
    expect(await failureOf(wire.environments.getEnvironment(request))).toMatchObject({ code, message });
  });
});
