/** The harness: the same seeds give the same table, a useless policy loses, and runs that never arrive are counted. */
import { describe, expect, test } from "vitest";
import { judge, overall, type Judgement, type Played } from "../../../bench/curriculum/judge.ts";
import { candidates, policyOf, recommended, uniform, type Candidate } from "../../../bench/curriculum/policies.ts";
import { overallTable, ORACLE, report } from "../../../bench/curriculum/report.ts";
import { places, seedSets, seedsOf } from "../../../bench/curriculum/setting.ts";
import { candidates as grid } from "../../../bench/curriculum/tuning.ts";
import { configOf, play, playOracle } from "../../../server/curriculum/simulation/play.ts";
import type { Family } from "../../../server/curriculum/simulation/student.ts";
import { students } from "../../../server/curriculum/simulation/students.ts";

const shape = { batches: 120, promptsPerUpdate: 16, numGenerations: 8 };
const seeds = seedsOf("calibration", 4);
const named = (name: string): Family => students.find((family) => family.name === name)!;
const candidate = (name: string): Candidate => candidates.find((of) => of.name === name)!;

function played(family: Family, of: Candidate): Played {
  const lives = seeds.map((seed) => play(family, places, policyOf(of, places), shape, seed));
  return { student: family.name, policy: of.name, lives };
}

function judged(family: Family, names: readonly string[]): readonly Judgement[] {
  const oracle = seeds.map((seed) => playOracle(family, places, shape, seed));
  const all = [
    ...names.map((name) => played(family, candidate(name))),
    { student: family.name, policy: ORACLE, lives: oracle },
  ];
  return judge(all, uniform.name, ORACLE);
}

const of = (judgements: readonly Judgement[], policy: string): Judgement =>
  judgements.find((judgement) => judgement.policy === policy)!;

describe("with the fast student", () => {
  const names = [uniform.name, recommended.name, "bandit, ADSC", "easiest only", "staged, reversed"];
  const judgements = judged(named("fast"), names);

  test("the same seeds give the same table", () => {
    const again = judged(named("fast"), names);
    expect(report(again, candidates, "this")).toBe(report(judgements, candidates, "this"));
  });

  test("a useless policy loses: it never arrives, and that is counted", () => {
    const easiest = of(judgements, "easiest only");
    expect(easiest).toMatchObject({ lost: seeds.length, rollouts: { value: Infinity }, ratio: { value: Infinity } });
    expect(easiest.regret.low).toBeGreaterThan(of(judgements, uniform.name).regret.high);
    expect(overall(judgements).find(({ policy }) => policy === "easiest only")?.meetsBar).toBe(false);
    expect(overallTable(judgements)).toContain("| easiest only | ∞ | ∞ |");
  });

  test("a policy in the wrong order is later than one in the right order", () => {
    expect(of(judgements, "staged, reversed").regret.value).toBeGreaterThan(
      of(judgements, recommended.name).regret.value,
    );
    expect(of(judgements, recommended.name).ratio.value).toBeLessThan(1);
  });

  test("uniform's ratio to itself is 1, the oracle's regret to itself 0", () => {
    expect(of(judgements, uniform.name).ratio).toEqual({ value: 1, low: 1, high: 1 });
    expect(of(judgements, ORACLE).regret).toEqual({ value: 0, low: 0, high: 0 });
  });
});

test("time on an arm that cannot be learnt is counted", () => {
  const judgements = judged(named("misleading arm"), [uniform.name, "bandit, ADSC rescaled"]);
  expect(of(judgements, uniform.name).wasted.value).toBeCloseTo(1 / places.length, 1);
  expect(of(judgements, "bandit, ADSC rescaled").wasted.value).toBeGreaterThan(0.25);
});

test("seeds of the three sets are disjoint", () => {
  const all = seedSets.flatMap((set) => seedsOf(set, 50));
  expect(new Set(all).size).toBe(all.length);
});

test.each([...candidates, ...grid])("$name is a policy that a run can be created with", (each) => {
  expect(() => configOf(places, policyOf(each, places), shape, "x")).not.toThrow();
});
