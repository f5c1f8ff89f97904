/** Pictures from the command line. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../support/server-process.ts";
import { expectWellFormed } from "../../envs/pictures.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

async function drawn(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await gradus(here, "draw", ...args);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

describe("draw", () => {
  test("an instance, to standard output or a file", async () => {
    const svg = await drawn("np/clique", "--seed", "3");
    expectWellFormed(svg.trimEnd());
    expect(await drawn("np/clique", "--seed", "3", "--out", "clique.svg")).toBe("");
    expect(readFileSync(join(folder.path, "clique.svg"), "utf8")).toBe(svg);
  });

  test("the solver's answer, and the same answer in a completion", async () => {
    const task = ["np/knapsack", "--level", "medium", "--seed", "5"];
    const svg = await drawn(...task, "--solve");
    expect(svg).toContain("✓ feasible and optimal");
    const { out: completion } = await gradus(here, "solve", ...task, "--completion");
    writeFileSync(join(folder.path, "completion.txt"), completion);
    expect(await drawn(...task, "--file", "completion.txt")).toBe(svg);
    expect(await drawn(...task, "--completion", completion)).toBe(svg);
  });

  test("an answer that is wrong, with the reason", async () => {
    const { out } = await gradus(here, "reset", "np/tsp", "--json");
    const { taskId } = JSON.parse(out) as { readonly taskId: string };
    expect(await drawn("--task-id", taskId, "--answer", "[0, 1, 2, 1]")).toContain(
      "✗ infeasible: city 1 is visited twice",
    );
    expect(await drawn("--task-id", taskId, "--answer", "<script>")).toContain("✗ malformed: ");
    expect(await drawn("--task-id", taskId, "--completion", "[0, 1]")).toContain("✗ malformed: ");
  });
});

describe("wrong command lines", () => {
  test.each([
    [["draw"], 2, "give either an environment or --task-id"],
    [["draw", "np/tsp", "--task-id", "x"], 2, "give either an environment or --task-id"],
    [["draw", "np/tps"], 2, "did you mean 'np/tsp'?"],
    [["draw", "np/tsp", "--solve", "--answer", "[0]"], 2, "cannot be used with option"],
    [["draw", "np/tsp", "--completion", "a", "--answer", "[0]"], 2, "cannot be used with option"],
    [["draw", "np/tsp", "--file", "nowhere.txt"], 2, "--file must be a file that can be read"],
    [["draw", "--task-id", "AAAA"], 1, "task_id: it is too short to be one"],
    [["draw", "np/tsp", "--out", "no/such/folder.svg"], 1, "--out must be a file that can be written"],
  ])("gradus %j", async (args, exit, words) => {
    const { code, out, err } = await gradus(here, ...args);
    expect(err).toContain(words);
    expect([code, out]).toEqual([exit, ""]);
    expect(existsSync(join(folder.path, "no"))).toBe(false);
  });
});
