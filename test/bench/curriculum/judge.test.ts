/** Tests of the harness: pairs are judged, a useless policy loses, and the kinds that were set apart are known. */
import { describe, expect, test } from "vitest";
import { judgedKinds } from "../../../bench/curriculum/judged-kinds.ts";
import { judged, overall, type Judgement, type Played } from "../../../bench/curriculum/judge.ts";
import { kinds } from "../../../bench/curriculum/kinds/kinds.ts";
import { candidates, policyOf, recommended, type Candidate } from "../../../bench/curriculum/policies.ts";
import { kindTable, overallTable, ratioTable, report } from "../../../bench/curriculum/report.ts";
import { places, seedSets, seedsOf, setting } from "../../../bench/curriculum/setting.ts";
import { candidates as grid } from "../../../bench/curriculum/tuning.ts";
import work from "../../../bench/curriculum/worker.ts";
import { hashKey, rngFor } from "../../../envs/lib/rng.ts";
import { configOf } from "../../../bench/curriculum/run-config.ts";
import type { SimulatedOutcome } from "../../../server/simulation/simulated-outcome.ts";
import { scoreOf } from "../../../server/simulation/student.ts";

const named = (name: string): Candidate => candidates.find((of) => of.name === name)!;

async function judgedOf(kind: string, names: readonly string[], count = 4): Promise<readonly Judgement[]> {
  const of = (await judgedKinds([])).find(({ name }) => name === kind)!;
  const policies = names.map((name) => [name, named(name).policy(of.places, of.shape)] as const);
  const taught = await work({ kind, files: [], policies, seeds: seedsOf("calibration", count) });
  return names.map((policy) => {
    const pairs = taught.map(({ uniform, others }) => ({ policy: others[policy]!, uniform }));
    return judged({ kind, set: of.set, policy, pairs });
  });
}

describe("with the fast student", async () => {
  const names = ["uniform", recommended.name, "easiest only", "staged, reversed"];
  const judgements = await judgedOf("fast", names);
  const of = (policy: string): Judgement => judgements.find((each) => each.policy === policy)!;

  test("the same seeds give the same tables", async () => {
    const kind = (await judgedKinds([])).filter(({ name }) => name === "fast");
    const text = (all: readonly Judgement[]) =>
      report({ judgements: all, candidates, kinds: kind, first: recommended.name, command: "this" });
    expect(text(await judgedOf("fast", names))).toBe(text(judgements));
    expect(text(judgements)).toContain(`| fast | tuned on | ${of(recommended.name).ratio.value.toFixed(2)}`);
  });

  test("equal shares are as late as themselves", () => {
    expect(of("uniform").ratio).toEqual({ value: 1, low: 1, high: 1 });
    expect(of("uniform").late).toEqual({ value: 0, low: 0, high: 0 });
  });

  test("a useless policy loses: it never arrives, and that is counted", () => {
    expect(of("easiest only")).toMatchObject({ lost: 4, ratio: { value: Infinity } });
    expect(of("easiest only").late.high).toBeLessThan(-0.2);
    expect(overall(judgements, "tuned on").find(({ policy }) => policy === "easiest only")?.meetsBar).toBe(false);
    expect(overallTable(judgements, "tuned on")).toContain("| easiest only | ∞ | ∞ | ∞ | fast | 4 |");
  });

  test("the recommended policy is earlier, and no worse late", () => {
    expect(of(recommended.name).ratio.high).toBeLessThan(1);
    expect(of(recommended.name).late.value).toBeGreaterThan(0);
  });
});

test("time on arms that cannot be learnt is counted", async () => {
  const [uniform, followed] = await judgedOf("misleading arm", ["uniform", "bandit, ADSC rescaled"]);
  expect(uniform?.wasted).toBeCloseTo(1 / places.length, 1);
  expect(followed?.wasted).toBeGreaterThan(0.25);
});

test("students of whom nobody arrived say nothing of a ratio, and are counted", () => {
  const life = (rolloutsToTarget: number | null): SimulatedOutcome => ({
    rolloutsToTarget,
    final: 0,
    successMean: 0,
    wasted: 0,
    useful: 0,
  });
  const pairs: Played["pairs"] = [
    { policy: life(50), uniform: life(100) },
    { policy: life(null), uniform: life(100) },
    { policy: life(30), uniform: life(null) },
  ];
  const found = judged({ kind: "any", set: "tuned on", policy: "any", pairs });
  expect(found).toMatchObject({ students: 3, unreached: 1, lost: 1 });
  expect(judged({ kind: "any", set: "tuned on", policy: "any", pairs: pairs.slice(0, 1) }).ratio.value).toBe(0.5);
});

test("the table by kinds and policies has a row a kind", async () => {
  const all = [...(await judgedOf("fast", ["uniform"], 2)), ...(await judgedOf("sudden falls", ["uniform"], 2))];
  expect(ratioTable(all).split("\n")).toHaveLength(4);
  expect(kindTable(all, "uniform")).toContain("| sudden falls | set apart | 1.00 |");
});

describe("kinds of students", () => {
  test("are at least thirty, of names that differ, half of them set apart", () => {
    expect(kinds.length).toBeGreaterThanOrEqual(30);
    expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length);
    expect(2 * kinds.filter(({ apart }) => apart).length).toBe(kinds.length);
  });

  test.each(kinds)("$name begins below its target, and learns and forgets by plain data", (kind) => {
    const student = kind.create("x/0", kind.places);
    expect(student.learnable).toHaveLength(kind.places.length);
    expect(scoreOf(student, student.initial)).toBeLessThan(student.target);
    const before = JSON.stringify(student.initial);
    const groups = kind.places.map((_, arm) => ({ arm, solved: 3, samples: 8 }));
    const next = student.learn(student.initial, groups);
    expect(JSON.stringify(student.initial)).toBe(before);
    expect(student.learn(student.initial, groups)).toEqual(next);
    for (const chance of student.success(next)) expect(chance >= 0 && chance <= 1).toBe(true);
    const grade = student.grade?.(next, 0, 0.5, rngFor("grade")) ?? student.chance(next, 0, 0.5);
    expect(grade >= 0 && grade <= 1).toBe(true);
  });

  test("are frozen: a change here makes all that was reported of them another claim", () => {
    const minds = kinds.map((kind) => {
      const student = kind.create("frozen/0", kind.places);
      let mind = student.initial;
      for (let i = 0; i < 5; i++) {
        const groups = Array.from({ length: 16 }, (_, g) => ({
          arm: g % kind.places.length,
          solved: 1 + (g % 7),
          samples: 8,
        }));
        mind = student.learn(mind, groups);
      }
      return [kind.name, student.success(mind).map((success) => success.toFixed(9)), kind.shape];
    });
    expect(hashKey(JSON.stringify(minds))).toMatchInlineSnapshot(
      `"ca0834a6e875b8936d3c5c734fa73abffed76efe8964a71bb0a4c5127807f05f"`,
    );
  });
});

test("seeds of the sets are disjoint", () => {
  const all = seedSets.flatMap((set) => seedsOf(set, 50));
  expect(new Set(all).size).toBe(all.length);
});

test.each([...candidates, ...grid])("$name is a policy that a run can be created with", (each) => {
  expect(() => configOf(places, policyOf(each, places, setting), setting, "x")).not.toThrow();
});
