/** What holds for every environment at every level (DESIGN.md, "An environment"). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatInstruction, wrapAnswer } from "../../envs/answers/wording.ts";
import type { Environment, Solver, Split, SyncEnvironment } from "../../envs/environment.ts";
import { restore } from "../../envs/instances.ts";
import { findLevel, resolveParameters } from "../../envs/parameters.ts";
import { rowAt, rowCount } from "../../envs/pool.ts";
import { rewardSchemes } from "../../envs/reward/schemes.ts";
import { score, type Score, type ScoreTask } from "../../envs/score.ts";
import { instanceHash, splitOf } from "../../envs/splits.ts";
import { type Case, cases, issue, type Issued, pools, scoreTask, synchronous } from "./every.ts";
import { hostileTexts } from "./hostile.ts";
import { mutated } from "./mutated.ts";

const SPLITS: readonly Split[] = ["train", "eval", "bench"];
/** Tasks of a level that a law is held against. */
const TASKS = 6;

function tasksOf(given: Case): readonly Issued[] {
  return Array.from({ length: TASKS }, (_, i) => issue(given, BigInt(i), SPLITS[i % 3] as Split));
}

function solverOf(environment: Environment): Solver<unknown, unknown> {
  if (environment.solver === undefined) throw new Error(`${environment.id} has no solver`);
  return environment.solver;
}

/** A text may happen to hold an answer that takes no thought, such as one vertex as a clique: it earns no more. */
function expectNoBetterThanTrivial(task: ScoreTask, { verdict, objective }: Score): void {
  if (verdict !== "feasible") return;
  const { goal } = task.environment;
  const [value, trivial] = [objective as number, task.environment.trivial?.(task.instance) as number];
  expect(goal === "maximize" ? value <= trivial : goal === "minimize" && value >= trivial).toBe(true);
}

describe.each(cases)("$title", (given) => {
  const { environment, level } = given;
  const tasks = tasksOf(given);

  test("the level is complete and in range", () => {
    expect(resolveParameters(environment, level.parameters)).toEqual({ kind: "ok", parameters: level.parameters });
    expect(findLevel(environment, level.name)).toEqual({ kind: "found", level });
  });

  test("the same key gives the same bytes", () => {
    expect(tasksOf(given)).toEqual(tasks);
    for (const { instance } of tasks) {
      for (const format of environment.answerFormats) {
        expect(environment.render(instance, format)).toEqual(environment.render(instance, format));
      }
    }
  });

  test("an instance restored is the instance issued, in the split asked for", () => {
    for (const [i, { origin, instance, hash }] of tasks.entries()) {
      const restored = restore(environment, origin, pools);
      expect(restored).toEqual({ kind: "ok", instance });
      expect(instanceHash(environment, instance)).toBe(hash);
      expect(splitOf(environment, instance)).toBe(SPLITS[i % 3]);
    }
  });

  test("an instance that travels in a task id comes back as it was", () => {
    const { inline } = environment;
    for (const { instance } of tasks) {
      const bytes = inline?.encode(instance);
      if (bytes !== undefined) expect(inline?.decode(bytes)).toEqual(instance);
    }
  });

  test("a generator accepts what it issued", () => {
    for (const { instance } of tasks) {
      expect(environment.generator?.accepts?.(instance, level.parameters) ?? true).toBe(true);
    }
  });

  test("the solver's answer is feasible, of the solver's value, proven and within its nodes", () => {
    for (const { instance, baseline } of tasks) {
      const { answer, value, bound, proven, nodes } = solverOf(environment).solve(instance);
      const facts = environment.verify(instance, answer);
      expect(facts.kind).toBe("feasible");
      expect([proven, bound]).toEqual([true, value]);
      expect(Number.isSafeInteger(nodes) && nodes >= 0).toBe(true);
      if (environment.goal === "satisfy") expect(baseline).toBeUndefined();
      else expect([baseline, facts]).toMatchObject([{ value, bound, proven }, { objective: value }]);
    }
  });

  test("a solver out of nodes gives an answer of its value, and a bound that holds", () => {
    const sign = environment.goal === "minimize" ? 1 : -1;
    for (const { instance } of tasks) {
      const best = solverOf(environment).solve(instance);
      const hasty = solverOf(environment).solve(instance, 1);
      expect(hasty.nodes).toBeLessThanOrEqual(1);
      expect(sign * hasty.bound).toBeLessThanOrEqual(sign * best.value);
      expect(sign * hasty.value).toBeGreaterThanOrEqual(sign * best.value);
      expect(hasty.proven).toBe(hasty.value === hasty.bound);
      const facts = environment.verify(instance, hasty.answer);
      if (environment.goal !== "satisfy") expect(facts).toMatchObject({ kind: "feasible", objective: hasty.value });
    }
  });

  test("an answer read back is the answer written, in every format", () => {
    for (const issued of tasks) {
      const { answer } = solverOf(environment).solve(issued.instance);
      const text = solverOf(environment).format(answer);
      expect(environment.parse(text, issued.instance)).toEqual({ kind: "answer", answer });
      for (const format of environment.answerFormats) {
        const scored = score(scoreTask(environment, issued, format), wrapAnswer(text, format));
        expect(scored).toMatchObject({ verdict: "feasible", solved: true, violation: "" });
      }
    }
  });

  test("no change to the solver's answer beats it", () => {
    const issued = tasks[0] as Issued;
    const text = solverOf(environment).format(solverOf(environment).solve(issued.instance).answer);
    const task = scoreTask(environment, issued, "answer_tag");
    const best = score(task, wrapAnswer(text, "answer_tag")).reward;
    let feasible = 0;
    fc.assert(
      // An objective beyond the baseline throws.
      fc.property(mutated(text), (changed) => {
        const { reward, verdict } = score(task, wrapAnswer(changed, "answer_tag"));
        expect(reward).toBeLessThanOrEqual(best);
        if (verdict === "feasible") feasible++;
      }),
      { numRuns: 300 },
    );
    expect(feasible).toBeGreaterThan(0);
  });

  test("the prompt asks for the format, and neither it nor the metadata holds the answer or the baseline", () => {
    for (const { instance, baseline } of tasks) {
      const answer = solverOf(environment).format(solverOf(environment).solve(instance).answer);
      const metadata = environment.metadata(instance);
      if (baseline !== undefined) expect(Object.values(metadata)).not.toContain(`${baseline.value}`);
      for (const format of environment.answerFormats) {
        const prompt = environment.render(instance, format);
        expect(prompt.at(-1)).toMatchObject({ role: "user" });
        expect(prompt.at(-1)?.content.endsWith(formatInstruction(format))).toBe(true);
        expect(JSON.stringify([prompt, metadata])).not.toContain(answer);
      }
    }
  });

  test("random completions are malformed, infeasible or trivial", () => {
    const issued = tasks[0] as Issued;
    const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.stringMatching(/^[[\](){}0-9, +*/=-]{0,30}$/));
    for (const format of environment.answerFormats) {
      const task = scoreTask(environment, issued, format);
      fc.assert(
        fc.property(text, (inner) => {
          for (const completion of [inner, wrapAnswer(inner, format)]) {
            expectNoBetterThanTrivial(task, score(task, completion));
          }
        }),
        { numRuns: 100 },
      );
    }
  });
});

describe.each(
  synchronous.map((environment) => [`${environment.id} version ${environment.version}`, environment] as const),
)("%s", (_, environment) => {
  const [given] = cases.filter((each) => each.environment === environment) as [Case];

  test("is named, described and priced", () => {
    expect(environment.id).toMatch(/^[a-z0-9-]+(\/[a-z0-9-]+)*$/);
    expect(environment.version).toBeGreaterThanOrEqual(1);
    expect(environment.description).not.toBe("");
    expect(environment.answerFormats.length * environment.rewardSchemes.length).toBeGreaterThan(0);
    for (const name of environment.rewardSchemes) expect(Object.hasOwn(rewardSchemes, name), name).toBe(true);
    expect(resolveParameters(environment, {}).kind).toBe("ok");
    const names = environment.levels.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test("empty and hostile completions of a megabyte are malformed, infeasible or trivial", () => {
    const issued = issue(given, 1n, "train");
    let turn = 0;
    for (const text of hostileTexts(1 << 20)) {
      const format = environment.answerFormats[turn++ % environment.answerFormats.length];
      const task = scoreTask(environment, issued, format ?? "boxed");
      const scored = score(task, text);
      expectNoBetterThanTrivial(task, scored);
      expect(Buffer.byteLength(scored.violation)).toBeLessThanOrEqual(512);
      expect(scored.violation === "").toBe(scored.verdict === "feasible");
    }
    for (const format of environment.answerFormats) {
      for (const completion of ["", wrapAnswer("", format)]) {
        expect(score(scoreTask(environment, issued, format), completion).verdict).toBe("malformed");
      }
    }
  });
});

describe.each([...pools.values()].map((pool) => [pool.name, pool] as const))("pool %s", (_, pool) => {
  test("its rows are tasks, as good as generated ones", () => {
    const environment = synchronous.find(({ id }) => id === pool.environment) as SyncEnvironment;
    expect(pool.reasons).toEqual([]);
    for (const level of environment.levels) {
      if (level.evaluationOnly !== true) expect(rowCount(pool, level.name, "train"), level.name).toBeGreaterThan(0);
      for (let ordinal = 0; ordinal < TASKS && rowCount(pool, level.name, "train") > 0; ordinal++) {
        const result = rowAt(pool, level.name, "train", 3n, ordinal);
        if (result.kind !== "made") throw new Error(result.message);
        const { instance } = result;
        const { origin, hash } = result.key;
        expect(restore(environment, origin, pools)).toEqual({ kind: "ok", instance });
        expect(instanceHash(environment, instance)).toBe(hash);
        expect(environment.rows?.levelOf(instance)).toBe(level.name);
        const answer = solverOf(environment).format(solverOf(environment).solve(instance).answer);
        const scored = score(scoreTask(environment, { ...result.key, instance }, "boxed"), wrapAnswer(answer, "boxed"));
        expect(scored.solved).toBe(true);
      }
    }
  });
});
