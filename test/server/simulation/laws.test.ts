/**
 * Tests that every student must pass: it is pure, repeats by its seed, has valid chances, and gains nothing from groups
 * that teach nothing.
 */
import { describe, expect, test } from "vitest";
import { places } from "../../../bench/curriculum/setting.ts";
import { hashKey, rngFor } from "../../../envs/lib/rng.ts";
import { scoreOf, type Family, type Practice, type Student } from "../../../server/simulation/student.ts";
import { students } from "../../../server/simulation/students.ts";

const SAMPLES = 8;

/** Yields states of a student after random practice. */
function* minds(family: Family, seed: string): Generator<{ readonly student: Student; readonly mind: unknown }> {
  const student = family.create(seed, places);
  const rng = rngFor("minds", seed);
  let mind = student.initial;
  for (let batch = 0; batch < 60; batch++) {
    yield { student, mind };
    const groups = Array.from({ length: 16 }, (): Practice => {
      const [arm, solved] = [rng.int(0, places.length - 1), rng.int(0, SAMPLES)];
      return { arm, solved, samples: SAMPLES };
    });
    mind = student.learn(mind, groups);
  }
}

const by = (student: Student, mind: unknown): readonly number[] => student.success(mind);

describe.each(students)("$name", (family) => {
  test.each(["x/0", "x/1", "x/2"])(
    "chances and success of %s are in [0, 1], and harder tasks are solved less",
    (seed) => {
      for (const { student, mind } of minds(family, seed)) {
        for (const success of by(student, mind)) {
          expect(success).toBeGreaterThanOrEqual(0);
          expect(success).toBeLessThanOrEqual(1);
        }
        for (const arm of places.keys()) {
          const chances = [0.01, 0.25, 0.5, 0.75, 0.99].map((rank) => student.chance(mind, arm, rank));
          expect(chances).toEqual(chances.toSorted((a, b) => b - a));
          expect(Math.min(...chances)).toBeGreaterThanOrEqual(0);
          expect(Math.max(...chances)).toBeLessThanOrEqual(1);
        }
      }
    },
  );

  test("success is the mean chance over an arm's tasks", () => {
    const student = family.create("x/0", places);
    for (const [arm, success] of by(student, student.initial).entries()) {
      const ranks = Array.from({ length: 4096 }, (_, i) => (i + 0.5) / 4096);
      const mean = ranks.reduce((sum, rank) => sum + student.chance(student.initial, arm, rank), 0) / ranks.length;
      expect(Math.abs(success - mean)).toBeLessThan(0.01);
    }
  });

  test("the same seed is the same student, another seed another one", () => {
    const scores = (seed: string) => [...minds(family, seed)].map(({ student, mind }) => by(student, mind));
    expect(scores("x/0")).toEqual(scores("x/0"));
    const of = (seed: string) => by(family.create(seed, places), family.create(seed, places).initial);
    expect(of("x/1")).not.toEqual(of("x/0"));
  });

  test("minds are not changed in place", () => {
    const student = family.create("x/0", places);
    const before = JSON.stringify(student.initial);
    student.learn(student.initial, [{ arm: 0, solved: 4, samples: SAMPLES }]);
    expect(JSON.stringify(student.initial)).toBe(before);
  });

  test("groups that are solved by all or by none teach nothing, and one in between most", () => {
    const student = family.create("x/0", places);
    const gain = (arm: number, solved: number): number => {
      const all = places.map((_, i): Practice => ({ arm: i, solved: i === arm ? solved : 0, samples: SAMPLES }));
      return scoreOf(student, student.learn(student.initial, all)) - scoreOf(student, student.initial);
    };
    for (const arm of places.keys()) {
      expect(gain(arm, 0)).toBe(0);
      expect(gain(arm, SAMPLES)).toBe(0);
      if (!student.learnable[arm]) expect(gain(arm, SAMPLES / 2)).toBe(0);
      else expect(gain(arm, SAMPLES / 2)).toBeGreaterThan(gain(arm, 1));
    }
  });

  test("without practice there is forgetting only, and never below the beginning", () => {
    for (const { student, mind } of minds(family, "x/0")) {
      const [begun, before, after] = [student.initial, mind, student.learn(mind, [])].map((now) => by(student, now));
      for (const arm of places.keys()) {
        expect(after?.[arm]).toBeLessThanOrEqual(before?.[arm] ?? 0);
        expect(after?.[arm]).toBeGreaterThanOrEqual(Math.min(before?.[arm] ?? 0, begun?.[arm] ?? 0));
      }
    }
  });

  test("arms that cannot be learnt stay as they are, and the others begin below the target", () => {
    for (const { student, mind } of minds(family, "x/1")) {
      const [begun, now] = [by(student, student.initial), by(student, mind)];
      for (const [arm, learnable] of student.learnable.entries()) if (!learnable) expect(now[arm]).toBe(begun[arm]);
    }
    const student = family.create("x/1", places);
    expect(scoreOf(student, student.initial)).toBeLessThan(student.target);
  });
});

const named = (name: string, seed = "x/0"): Student => {
  const found = students.find((family) => family.name === name);
  if (found === undefined) throw new Error(`there is no student "${name}"`);
  return found.create(seed, places);
};

test("the fast one learns more of a group than the slow one, and the forgetful one forgets most", () => {
  // Returns uniform practice, by the student's chances.
  const practice = (student: Student, mind: unknown): readonly Practice[] =>
    by(student, mind).map((success, arm) => ({ arm, solved: Math.round(SAMPLES * success), samples: SAMPLES }));
  const after = (student: Student, batches: number): unknown => {
    let mind = student.initial;
    for (let i = 0; i < batches; i++) mind = student.learn(mind, practice(student, mind));
    return mind;
  };
  const gain = (name: string): number => {
    const all = ["x/0", "x/1", "x/2", "x/3", "x/4", "x/5"].map((seed) => named(name, seed));
    return all.reduce(
      (sum, student) => sum + scoreOf(student, after(student, 20)) - scoreOf(student, student.initial),
      0,
    );
  };
  expect(gain("fast")).toBeGreaterThan(1.5 * gain("slow"));
  const kept = (student: Student): number => {
    let mind = after(student, 100);
    const learnt = scoreOf(student, mind);
    for (let i = 0; i < 50; i++) mind = student.learn(mind, []);
    return scoreOf(student, mind) / learnt;
  };
  expect(kept(named("forgetful"))).toBeLessThan(kept(named("fast")) - 0.05);
});

test("for the order-free one any arm is as good as any other", () => {
  const student = named("order-free");
  const after = places.map((_, arm) => student.learn(student.initial, [{ arm, solved: 3, samples: SAMPLES }]));
  for (const mind of after) expect(student.success(mind)).toEqual(student.success(after[0]));
});

test("a misleading arm has the greatest variance, and a hopeless arm has none", () => {
  const mislead = named("misleading arm");
  const arm = mislead.learnable.indexOf(false);
  expect(Math.abs((mislead.success(mislead.initial)[arm] ?? 0) - 0.5)).toBeLessThan(0.1);
  expect(places[arm]?.level).toBe(0);
  const hopeless = named("hopeless arm");
  expect(hopeless.success(hopeless.initial)[hopeless.learnable.indexOf(false)]).toBeLessThan(0.002);
});

test("the students are frozen: a change here makes all that was reported of them another claim", () => {
  const lives = students.map((family) =>
    [...minds(family, "frozen/0")].map(({ student, mind }) => by(student, mind).map((success) => success.toFixed(9))),
  );
  expect(hashKey(JSON.stringify(lives))).toMatchInlineSnapshot(
    `"4123d19a483d153ecbfaf4b1652261992b8e276b9a1f556370a26f2f595577d8"`,
  );
});
