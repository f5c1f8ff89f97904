/** Tests of growing arms in the contract: what is read, what is refused in words, and what each task is. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { countdown } from "../../envs/countdown/index.ts";
import { type Growth, GrowthSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { CHECKOUT } from "../support/mounted/killed.ts";
import { type ServerProcess, startServer, startServerIn, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
let server: ServerProcess;
let client: GradusClient;
beforeAll(async () => {
  server = await startServer(folder.path);
  client = createClient(server.address);
});
afterAll(async () => {
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

/** Returns a right completion of a task of countdown. */
function solved({ numbers = "", target = "" }: Readonly<Record<string, string>>): string {
  const instance = { numbers: numbers.split(" ").map(Number), target: Number(target) };
  const { answer } = countdown.solver!.solve(instance);
  return `<think></think><answer>${countdown.solver!.format(answer)}</answer>`;
}

let runs = 0;
const fresh = (): string => `growing-${runs++}`;

async function createWith(arm: object, policy: object = { kind: "frontier" }) {
  const run = client.run(fresh());
  await run.create({ arms: [arm], policy, numGenerations: 2, promptsPerUpdate: 8, seed: 3 } as never);
  return run;
}

test("an arm of countdown grows with what is solved, and its tasks have the numbers of their level", async () => {
  const run = await createWith({ id: "c", environment: "countdown", grow: { axis: "numbers", start: 2, cap: 4 } });
  let cursor = 0n;
  for (let batch = 0; batch < 6; batch++) {
    const { tasks, nextCursor } = await run.nextBatch({ cursor });
    cursor = nextCursor;
    const groups = tasks.map((task) => {
      const text = solved(task.hints?.metadata ?? {});
      return { task, completions: [text, text] };
    });
    await client.batchStep(groups);
  }
  const { state } = await run.get();
  expect(state?.arms[0]?.growth).toMatchObject({ axis: "numbers", cap: 4, frontier: 4 });
  const { tasks } = await run.nextBatch({ cursor });
  for (const task of tasks) {
    const count = task.hints?.metadata["numbers"]?.split(" ").length ?? 0;
    expect([2, 3, 4]).toContain(count);
    expect(task.level).toBe("");
  }
  const records = await run.history();
  const frontiers = records.flatMap(({ kind }) => (kind.case === "batch" ? [kind.value.frontiers[0]] : []));
  expect(frontiers[0]).toBe(2);
  expect(frontiers.at(-1)).toBe(4);
});

describe("is refused in words", () => {
  const grow = { axis: "numbers" };
  test.each([
    [
      "an axis that there is not",
      { environment: "countdown", grow: "number" },
      /grow\.axis: .* did you mean 'numbers'/,
    ],
    ["an environment without axes", { environment: "qa", grow: "x" }, /spec|grow/],
    ["a level beside it", { environment: "countdown", level: "T1", grow }, /spec\.level: .*leave it out/],
    ["a start outside", { environment: "countdown", grow: { ...grow, start: 9 } }, /grow\.start: .*2 to 6|grow\.start/],
    ["a cap below the start", { environment: "countdown", grow: { ...grow, start: 4, cap: 3 } }, /grow\.cap/],
    ["a cap beyond the axis", { environment: "countdown", grow: { ...grow, cap: 7 } }, /grow\.cap/],
    ["real rows", { environment: "countdown", source: "real", grow }, /spec\.source: only generated tasks can grow/],
    ["rows", { environment: "countdown", grow, rows: { count: 10 } }, /grow: .*rows/],
    [
      "a parameter of the axis",
      { environment: "countdown", parameters: { numbers_min: 3 }, grow },
      /parameters\.numbers_min: the axis 'numbers' sets it/,
    ],
    ["a family's cap", { environment: "np/*", grow: { cap: 9 }, id: "" }, /grow\.cap: the axes of a family differ/],
    ["a family's level", { environment: "np/*", grow: {}, level: "easy", id: "" }, /spec\.level: .*leave it out/],
    ["a family's long axis", { environment: "np/*", grow: "x".repeat(65), id: "" }, /grow\.axis: .*64/],
    ["another policy", { environment: "countdown", grow }, /policy\.mixture: arm "c" grows/, { kind: "mixture" }],
  ] as const)("%s", async (_, arm, words, policy: object = { kind: "frontier" }) => {
    await expect(createWith({ id: "c", ...arm }, policy)).rejects.toThrow(words);
  });
});

test("parameters beside the axis hold at every level", async () => {
  const run = await createWith({
    id: "c",
    environment: "countdown",
    parameters: { number_max: 9, target_max: 50 },
    grow: { axis: "numbers", start: 3, cap: 4 },
  });
  const { tasks } = await run.nextBatch();
  for (const { hints } of tasks)
    expect(Math.max(...(hints?.metadata["numbers"] ?? "").split(" ").map(Number))).toBeLessThanOrEqual(9);
});

test("a run is warned of levels with fewer than 1,000 tasks", async () => {
  const config = {
    arms: [{ id: "s", environment: "sequence/sort", grow: "length" }],
    policy: { kind: "frontier" },
    numGenerations: 2,
    promptsPerUpdate: 4,
  } as never;
  const { warnings } = await client.checkRun(config);
  expect(warnings.map(({ message }) => message)).toEqual([
    "arm 's': length 1 to 2 have fewer than 1,000 tasks each: the run repeats them; start at 3 to avoid this",
  ]);
});

test("a cap is raised by UpdateShape, and the rest must stay", async () => {
  const run = await createWith({ id: "c", environment: "countdown", grow: { axis: "numbers", start: 2, cap: 3 } });
  const growthOf = (more: MessageInitShape<typeof GrowthSchema>): Record<string, Growth> => ({
    c: create(GrowthSchema, more),
  });
  for (const [more, words] of [
    [{ start: 3, cap: 4 }, /grow_arms\["c"\]\.start/],
    [{ step: 2, cap: 4 }, /grow_arms\["c"\]\.step/],
    [{ axis: "other", cap: 4 }, /grow_arms\["c"\]\.axis/],
    [{ cap: 2 }, /grow_arms\["c"\]\.cap/],
    [{ cap: 9 }, /grow_arms\["c"\]\.cap/],
  ] as const)
    await expect(run.updateShape({ growArms: growthOf(more) })).rejects.toThrow(words);
  await expect(run.updateShape({ growArms: { none: { axis: "numbers", cap: 4 } } })).rejects.toThrow(/is not an arm/);
  await run.updateShape({ growArms: { c: { axis: "", cap: 5 } } });
  expect((await run.get()).state?.arms[0]?.growth?.cap).toBe(5);
  await run.advance({ armId: "c" });
  expect((await run.get()).state?.arms[0]?.growth?.frontier).toBe(3);
  await expect(run.advance({ armId: "d" })).rejects.toThrow(/arm_id: "d" is not an arm of the run/);
});

test("environments say their axes", async () => {
  const { axes } = await client.getEnvironment("np/knapsack");
  expect(axes[0]).toMatchObject({ name: "items", first: 4 });
  const byName = Object.fromEntries(axes[0]?.parameters.map(({ name, values }) => [name, values]) ?? []);
  expect(byName["items_min"]).toEqual([]);
  expect(byName["planted_max"]?.slice(0, 3)).toEqual([2, 2, 2]);
});

test("an arm of a Python environment grows along the levels of its axis", async () => {
  using own = temporaryFolder();
  const python = ["--python", ".venv/bin/python", "--python", "test/support/mounted/reversed.py"];
  const mounting = await startServerIn({ ...process.env, PYTHONPATH: CHECKOUT }, own.path, ...python);
  const there = createClient(mounting.address);
  const environment = await there.getEnvironment("mounted/reversed");
  expect(environment.axes).toMatchObject([{ name: "letters", first: 3, last: 6, parameters: [{ name: "level" }] }]);
  const run = there.run("reversed");
  const arm = { id: "r", environment: "mounted/reversed", grow: { axis: "letters", cap: 5 } };
  await run.create({ arms: [arm], policy: { kind: "frontier" }, numGenerations: 2, promptsPerUpdate: 8 });
  const lengths = new Set<number>();
  for (let batch = 0, cursor = 0n; batch < 5; batch++) {
    const { tasks, nextCursor } = await run.nextBatch({ cursor });
    cursor = nextCursor;
    const groups = tasks.map((task) => {
      const word = /backwards: ([a-z]+)/.exec(task.prompt.at(-1)?.content ?? "")?.[1] ?? "";
      lengths.add(word.length);
      const text = `<think></think><answer>${[...word].reverse().join("")}</answer>`;
      return { task, completions: [text, text] };
    });
    await there.batchStep(groups);
  }
  expect([...lengths].sort()).toEqual([3, 4, 5]);
  expect((await run.get()).state?.arms[0]?.growth).toMatchObject({ axis: "letters", frontier: 5, cap: 5 });
  there.close();
  await mounting.kill("SIGTERM");
});
