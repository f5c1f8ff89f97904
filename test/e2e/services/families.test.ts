/** Tests of families of arms: a family is expanded into an arm for each level of each matching environment. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { environments } from "../../../envs/registry.ts";
import { Split } from "../../../proto/gen/gradus/v1/task_pb.js";
import { parseRunFile } from "../../../cli/run-file.ts";
import { configOf, MIXTURE } from "./run-of.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire({});
});
afterAll(() => wire[Symbol.asyncDispose]());

const family = (environment: string, more: object = {}) => ({ spec: { environment, ...more } });
const np = environments.filter(({ id }) => id.startsWith("np/"));
const idsOf = (levels: readonly string[]) => np.flatMap(({ id }) => levels.map((level) => `${id}/${level}`));
const everyId = np.flatMap(({ id, levels }) =>
  levels.filter((l) => l.evaluationOnly !== true && l.byName !== true).map((l) => `${id}/${l.name}`),
);

/** Returns the server's report on a configuration with these arms. */
async function checked(arms: readonly object[]): Promise<readonly string[]> {
  const config = configOf({ arms: [...arms], policy: MIXTURE });
  const { problems, created } = await wire.curriculum.checkRun({ source: { case: "config", value: config } });
  expect(problems).toEqual([]);
  return created?.arms.map(({ id }) => id) ?? [];
}

test("np/* is an arm for each level of each problem, whose tasks the run gives out", async () => {
  expect(await checked([family("np/*")])).toEqual(everyId);
  expect((await wire.curriculum.listRuns({})).runs).toEqual([]);
  const config = configOf({ arms: [family("np/*", { difficulty: { case: "level", value: "e*" } })], policy: MIXTURE });
  const { run } = await wire.curriculum.createRun({ runId: "family", config });
  expect(run?.state?.arms.map(({ armId }) => armId)).toEqual(idsOf(["easy"]));
  expect((await wire.curriculum.createRun({ runId: "family", config })).created).toBe(false);
  const { tasks } = await wire.curriculum.nextBatch({ runId: "family", cursor: 0n, count: 8 });
  for (const { armId } of tasks) expect(idsOf(["easy"])).toContain(armId);
});

test("level reference is trained on where an arm or a family names it, and nowhere else", async () => {
  const level = (value: string) => ({ difficulty: { case: "level", value } });
  expect(everyId.filter((id) => id.endsWith("/reference"))).toEqual([]);
  expect(await checked([family("np/*", level("*"))])).toEqual(everyId);
  expect(await checked([family("np/*", level("ref*"))])).toEqual(idsOf(["reference"]));
  const config = configOf({ arms: [family("np/*", level("reference"))], policy: MIXTURE });
  await wire.curriculum.createRun({ runId: "reference", config });
  const { tasks } = await wire.curriculum.nextBatch({ runId: "reference", cursor: 0n, count: 8 });
  for (const { armId } of tasks) expect(idsOf(["reference"])).toContain(armId);
  expect(tasks.map(({ split }) => split)).toEqual(tasks.map(() => Split.TRAIN));
});

test("arms that are named stay first and as they are, and a family has the others", async () => {
  const own = {
    id: "np/tsp/easy",
    spec: { environment: "np/tsp", difficulty: { case: "level", value: "easy" } },
    weight: 3,
  };
  const ids = await checked([family("np/t*"), own]);
  expect(ids[0]).toBe("np/tsp/easy");
  expect([...ids].sort()).toEqual(everyId.filter((id) => id.startsWith("np/tsp/")).sort());
});

test.each([
  [family("nonesuch/*"), "NOT_FOUND", "no environment of this server matches 'nonesuch/*'"],
  [{ id: "mine", ...family("np/*") }, "INVALID_ARGUMENT", "config.arms[0].id: "],
  [family("np/*", { difficulty: { case: "level", value: "dire" } }), "INVALID_ARGUMENT", "config.arms[0].spec.level: "],
  [family("np/*", { source: 2 }), "INVALID_ARGUMENT", "config.arms[0].spec.source: "],
  [family("np/*", { version: 1 }), "INVALID_ARGUMENT", "config.arms[0].spec.version: "],
])("a family that cannot be is refused: %j", async (arm, code, words) => {
  const config = configOf({ arms: [arm as never], policy: MIXTURE });
  const failure = await failureOf(wire.curriculum.createRun({ runId: "refused", config }));
  expect(failure).toMatchObject({ code });
  expect(failure.message).toContain(words);
});

test("a run file names a family in one line, alone or among others", () => {
  const armsOf = (text: string) => {
    const result = parseRunFile("run.yaml", text);
    if (result.kind === "invalid") throw new Error(result.problems.join("\n"));
    return result.file.config.arms.map(({ id, spec, grow }) => [id, spec?.environment, grow !== undefined]);
  };
  expect(armsOf("arms: np/*\n")).toEqual([["", "np/*", false]]);
  expect(armsOf("arms: np/* growing\n")).toEqual([["", "np/*", true]]);
  expect(armsOf("arms:\n  - np/t* growing\n  - {id: mine, spec: {environment: countdown}}\n")).toEqual([
    ["", "np/t*", true],
    ["mine", "countdown", false],
  ]);
});

test("a family that grows is an arm for each environment, along its first axis or the named one", async () => {
  const policy = { kind: { case: "frontier", value: {} } } as const;
  const arms = [{ ...family("np/*"), grow: {} }];
  const config = configOf({ arms, policy });
  const { run } = await wire.curriculum.createRun({ runId: "growing", config });
  const grown = run?.state?.arms ?? [];
  expect(grown.map(({ armId }) => armId)).toEqual(np.map(({ id }) => id));
  for (const [i, { growth }] of grown.entries()) {
    const [axis] = np[i]?.generator?.axes ?? [];
    expect(growth).toMatchObject({ axis: axis?.name, cap: axis?.last });
    expect(growth?.levels[0]?.value).toBe(axis?.first);
  }
  expect((await wire.curriculum.createRun({ runId: "growing", config })).created).toBe(false);
  const named = configOf({ arms: [{ ...family("np/*"), grow: { axis: "vertices" } }], policy });
  const { created } = await wire.curriculum.checkRun({ source: { case: "config", value: named } });
  for (const { id, generator, levels } of np) {
    const has = generator?.axes?.some(({ name }) => name === "vertices") ?? false;
    const ids = created?.arms.map((arm) => arm.id).filter((arm) => arm === id || arm.startsWith(`${id}/`));
    expect(ids).toEqual(
      has ? [id] : levels.filter((l) => l.evaluationOnly !== true && l.byName !== true).map((l) => `${id}/${l.name}`),
    );
  }
});
