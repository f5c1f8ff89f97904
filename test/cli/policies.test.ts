/** `gradus policies check`, and a module of policies in the simulator. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { hashKey } from "../../envs/lib/rng.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus, gradusAlone } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

const EXAMPLE = resolve("examples/policies/weakest-part.ts");
const BROKEN = resolve("test/support/policies/broken.ts");

describe("gradus policies check", () => {
  test("says how many laws hold of the policies of a module", async () => {
    const { code, out } = await gradus(here, "policies", "check", EXAMPLE);
    expect([code, out]).toEqual([0, expect.stringMatching(/^weakest-part: \d+ laws hold\.\n$/)]);
  });

  test("says which laws are broken, and how", async () => {
    const { code, out } = await gradus(here, "policies", "check", BROKEN, "--json");
    expect(code).not.toBe(0);
    const { broken } = JSON.parse(out) as { broken: { policy: string; law: string; broken: string }[] };
    const lawsOf = (policy: string): string =>
      broken
        .filter((of) => of.policy === policy)
        .map((of) => of.law)
        .join("; ");
    expect(lawsOf("short")).toContain("sum to 1");
    expect(lawsOf("moody")).toContain("is pure");
    expect(lawsOf("forgetful")).toContain("reads back a state that it wrote unchanged");
    expect(broken.find(({ policy }) => policy === "short")?.broken).toContain('policy "short" must give 8 shares');
  });

  test.each([
    ["export default 3", "its default export must be a list of policies' definitions"],
    ["export default [{ kind: 'Mine' }]", "policy 1 of its default export has a kind that is not of the form"],
    ["export default [{ kind: 'mine' }]", 'policy 1 of its default export ("mine") has no function read'],
    ["throw new Error('not today')", "the module cannot be loaded (not today)"],
    [
      `import own from ${JSON.stringify(EXAMPLE)}; export default [{ ...own[0], advance: () => undefined }]`,
      'policy 1 of its default export ("weakest-part") has a function advance but no function place',
    ],
    [
      `import own from ${JSON.stringify(EXAMPLE)}; export default [{ ...own[0], kind: "bandit" }]`,
      'policy "bandit" is both in Gradus itself and in',
    ],
  ])("refuses %s", async (source, message) => {
    const file = join(folder.path, `${hashKey(source).slice(0, 12)}.mjs`);
    writeFileSync(file, source);
    const { code, err } = await gradus(here, "policies", "check", file);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});

test("a run file may name a policy of a module in the simulator", async () => {
  const run = {
    arms: [0, 1, 2].map((level) => ({ id: `t${level}`, spec: { environment: "countdown", level: `T${level}` } })),
    policy: { named: { name: "weakest-part", parameters: { part: "correctness", worst: 0 } } },
    numGenerations: 4,
    promptsPerUpdate: 8,
  };
  writeFileSync(join(folder.path, "run.json"), JSON.stringify(run));
  const asked = ["simulate", "run.json", "--updates", "20", "--seeds", "2"];
  const { code, out, err } = await gradus(here, ...asked, "--policies", EXAMPLE);
  expect([code, err]).toEqual([0, expect.any(String)]);
  expect(out).toContain("equal shares");
  // The command runs in a process of its own, because a module registers its policies for the whole process.
  const without = await gradusAlone(here, ...asked);
  expect(without.err).toContain("there is no policy 'weakest-part'");
});
