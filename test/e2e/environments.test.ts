/** Environments of modules outside of Gradus, as an operator adds them: to a server, its worker threads, the command line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { Goal, Proof, Source } from "../../clients/ts/src/public.ts";
import { gradus } from "../cli/gradus.ts";
import { fixtureFiles } from "../support/environments/fixtures.ts";
import { vertexCover } from "../support/environments/vertex-cover/index.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
const flags = fixtureFiles.flatMap((path) => ["--environment-file", path]);
afterAll(() => folder[Symbol.dispose]());

describe("a server", () => {
  let server: ServerProcess;
  let client: GradusClient;
  beforeAll(async () => {
    server = await startServer(folder.path, ...flags);
    client = createClient(server.address);
  });
  afterAll(async () => {
    client.close();
    await server.kill("SIGTERM");
  });

  test("lists them beside its own", async () => {
    const all = await client.listEnvironments();
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(["np/tsp", "np/vertex-cover", "qa/capitals"]));
    const rowsOnly = await client.getEnvironment("qa/capitals");
    expect(rowsOnly).toMatchObject({ category: "qa", goal: Goal.SATISFY, sources: [Source.REAL], parameters: [] });
    expect(rowsOnly.levels.map(({ name }) => name)).toEqual(["all"]);
    const [pool, ...others] = rowsOnly.pools;
    expect([pool?.groups.reduce((sum, { rows }) => sum + rows, 0), others]).toEqual([40, []]);
    expect(pool).toMatchObject({ name: "capitals", rows: { all: 40 }, rejected: 0, unchecked: 0, shipped: true });
    expect(rowsOnly.rewardSchemes.map(({ name }) => name)).toEqual(["graded"]);
  });

  test("makes their tasks in its worker threads, and scores them", async () => {
    const task = await client.reset({ environment: "np/vertex-cover", seed: 7n });
    const count = Number(/graph of (\d+) vertices/.exec(task.prompt[0]?.content ?? "")?.[1]);
    const cover = `[${[...Array(count).keys()].join(", ")}]`;
    const outcome = await client.step(task, `<think></think><answer>${cover}</answer>`);
    expect(outcome.message.result).toMatchObject({
      case: "score",
      value: { objective: count, baseline: { proof: Proof.OPTIMAL } },
    });
    const twice = await client.step(task, "<think></think><answer>[0, 0]</answer>");
    expect(twice.message.result).toMatchObject({ case: "score", value: { violation: "vertex 0 is listed twice" } });
  });

  test("gives their rows, and says what they cannot do", async () => {
    const task = await client.reset({ environment: "qa/capitals", source: "real", seed: 1n });
    const country = /capital of (\w+)/.exec(task.prompt[0]?.content ?? "")?.[1];
    expect(country).toBeDefined();
    const wrong = await client.step(task, "<think></think><answer>Atlantis</answer>");
    expect(wrong.message.result).toMatchObject({
      case: "score",
      value: { reward: 0.1, violation: "that is not the answer" },
    });
    // Without a generator rows are all there is.
    expect(await client.reset({ environment: "qa/capitals", seed: 1n })).toEqual(task);
    await expect(client.reset({ environment: "qa/capitals", source: "synthetic", seed: 1n })).rejects.toThrow(
      "qa/capitals has no generator: ask for SOURCE_REAL",
    );
    const parameters = { environment: "qa/capitals", source: "real", parameters: { size: 3 }, seed: 1n } as const;
    await expect(client.reset(parameters)).rejects.toThrow("rows of a pool are selected by level");
  });
});

describe("the command line", () => {
  const here = { cwd: folder.path };

  test("solves their tasks", async () => {
    const { code, out } = await gradus(here, "solve", "np/vertex-cover", "--json", ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ environment: "np/vertex-cover", baseline: { proven: true } });
  });

  test.each([
    ["draw", "np/vertex-cover", "np/vertex-cover draws no pictures", []],
    ["draw", "qa/capitals", "qa/capitals draws no pictures", ["--source", "real"]],
    ["solve", "qa/capitals", "qa/capitals has no solver", ["--source", "real"]],
    ["reset", "qa/capitals", "--source: qa/capitals has no generator: ask for real", ["--source", "synthetic"]],
  ])("%s of %s: %s", async (command, environment, message, more) => {
    const { code, out, err } = await gradus(here, command, environment, ...more, ...flags);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  });

  test("two of one id and version are refused, with both files", async () => {
    const [first, second] = ["one.mjs", "two.mjs"].map((name) => join(folder.path, name)) as [string, string];
    for (const path of [first, second]) {
      writeFileSync(path, `export { default } from ${JSON.stringify(fixtureFiles.at(-1))};`);
    }
    const { code, err } = await gradus(here, "envs", "--environment-file", first, "--environment-file", second);
    expect(code).toBe(2);
    expect(err).toContain(`${vertexCover.id} version 1 is both in ${first} and in ${second}`);
  });

  test.each([
    ["none.mjs", undefined, "the module cannot be loaded"],
    ["throws.mjs", "throw new Error('not today')", "the module cannot be loaded (not today)"],
    ["empty.mjs", "", "its default export must be a list of environments"],
    ["plain.mjs", "export default [{ id: 'x', version: 1 }]", "its default export must be a list of environments"],
    ["unnamed.mjs", "export default 3", "its default export must be a list of environments"],
  ])("a module that is none is refused in words: %s", async (name, source, message) => {
    if (source !== undefined) writeFileSync(join(folder.path, name), source);
    const { code, err } = await gradus(here, "envs", "--environment-file", name);
    expect(code).toBe(source === undefined ? 3 : 2);
    expect(err).toContain(`--environment-file ${name}: ${message}`);
  });
});
