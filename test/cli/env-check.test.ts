/** `gradus env check`: each verifier with a hole is found by the rule that it breaks, and good ones are not accused. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { ClauseResult } from "../../cli/conformance/clause.ts";
import { PYTHON, WORD_FILE } from "../support/mounted/mounts.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const repository = resolve(import.meta.dirname, "../..");
const VERIFIERS = join(repository, "test/support/mounted/verifiers.py");
const env = { PYTHONPATH: join(repository, "clients/python/src") };

async function check(...args: readonly string[]): Promise<Ended> {
  using folder = temporaryFolder();
  const ended = await gradus({ cwd: folder.path, env }, "env", "check", ...args, "--python", PYTHON);
  return ended;
}

describe("verifiers", () => {
  let ended: Ended;
  let found: readonly ClauseResult[] = [];
  beforeAll(async () => {
    ended = await check(VERIFIERS, "--json", "--seeds", "4");
    found = JSON.parse(ended.out) as readonly ClauseResult[];
  }, 300_000);
  const brokenBy = (id: string): readonly string[] =>
    found.flatMap(({ of, part, says, finding }) =>
      of.startsWith(`${id},`) && finding.kind === "fail" ? [`${part}: ${says} ${finding.reason}`] : [],
    );

  test.each([
    "good/exact",
    "good/trimmed",
    "good/tolerant",
    "good/any-case",
    "good/latex",
    "good/last-number",
    "good/says-that-it-runs",
  ])("%s is not accused", (id) => {
    expect(found.some(({ of, part }) => of.startsWith(`${id},`) && part === "Containing")).toBe(true);
    expect(brokenBy(id)).toEqual([]);
  });

  test.each([
    ["remembers/answers", "Remembering: EnvironmentProvider.Verify must give equal results"],
    ["remembers/how-many", "Remembering: EnvironmentProvider.Verify must give equal results"],
    ["remembers/every-fifth", "Remembering: EnvironmentProvider.Verify must give equal results"],
    ["remembers/draws-chance", "Remembering: EnvironmentProvider.Verify must give equal results"],
    ["contains/text", "Containing: ProvidedFacts.verdict must not accept a list"],
    ["contains/word", "Containing: ProvidedFacts.verdict must not accept a list"],
    ["runs/expression", "Running: ProvidedEnvironment.runs_answers must be set"],
    ["runs/expression-without-builtins", "Running: ProvidedEnvironment.runs_answers must be set"],
    ["runs/expression-of-a-text", "Running: ProvidedEnvironment.runs_answers must be set"],
    ["runs/program", "Running: ProvidedEnvironment.runs_answers must be set"],
    ["runs/program-without-builtins", "Running: ProvidedEnvironment.runs_answers must be set"],
  ])("%s is found", (id, words) => {
    expect(brokenBy(id)).toEqual([expect.stringContaining(words)]);
  });

  test("are counted in the exit code, and while they are tried it is said how far that is", () => {
    expect(ended.err).toMatch(/\d+ of 18 levels/);
    expect(ended.code).toBe(1);
    expect(ended.err).toContain(`${VERIFIERS} breaks 11 rules`);
  });
});

test("an environment that keeps every rule exits with 0, and says the time that each part took", async () => {
  const { code, out, err } = await check(WORD_FILE, "--level", "short");
  expect(err).not.toContain("breaks");
  expect(out).toMatch(/pass {2}GenerateResponse\.result must .* \(\d+\.\d ms\)/);
  expect(out).toMatch(/\d+ kept, 0 broken, 0 advised against, 0 not tried/);
  expect(code).toBe(0);
}, 120_000);

const LAWLESS = `
import random
from gradus.serve import Environment


class Lawless(Environment):
    id = "mine/lawless"
    levels = {how: {"how": how} for how in ("impure", "low", "lenient")}

    def generate(self, rng, how):
        return [how, rng.random() if how != "impure" else random.SystemRandom().random()]

    def prompt(self, instance):
        return "Say yes."

    def verify(self, instance, answer):
        return answer == "yes" or instance[0] == "lenient"

    def reference(self, instance):
        return "no" if instance[0] == "low" else "yes"
`;

test("levels that a mount refuses are named with the rule by which it does", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "lawless.py");
  writeFileSync(file, LAWLESS);
  const { code, out } = await check(file, "--json");
  const found = (JSON.parse(out) as readonly ClauseResult[]).filter(({ finding }) => finding.kind === "fail");
  const ruleOf = (level: string): string | undefined => found.find(({ of }) => of.endsWith(level))?.says;
  expect(ruleOf("impure")).toContain("EnvironmentProvider.Generate must make equal instances");
  expect(ruleOf("low")).toContain("ProvidedInstance.reference must be a right answer");
  expect(ruleOf("lenient")).toContain("ProvidedFacts.verdict must not accept a meaningless answer as right");
  expect(code).toBe(1);
}, 120_000);

test("levels that are not tried within the time limit are left out by name", async () => {
  const { code, out } = await check(VERIFIERS, "--time-limit", "1");
  expect(out).toContain("Left out of runs/program, level default");
  expect(out).toContain("got the time limit of 1 s (--time-limit) was reached");
  expect(code).toBe(1);
}, 120_000);

test("a level that there is not is refused", async () => {
  const { code, err } = await check(WORD_FILE, "--level", "huge");
  expect(err).toContain("--level: there is no level 'huge'");
  expect(code).toBe(3);
}, 120_000);
