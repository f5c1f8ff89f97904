/**
 * No answer to any task beats its baseline or is scored wrongly. Each environment gets 3,000 answers, at least half of them
 * to instances at benchmark level; OPTIMA_ANSWERS=100000 tries as many.
 */
import { describe, expect, test } from "vitest";
import { checkAnswers } from "./check.ts";
import { neighbourhoods } from "./neighbourhoods/index.ts";
import { environmentOf } from "../../../bench/solvers/timed.ts";
import type { Solver } from "../../../envs/environment.ts";
import type { Facts } from "../../../envs/facts.ts";
import { environments } from "../../../envs/registry.ts";

const ANSWERS = Number(process.env["OPTIMA_ANSWERS"] ?? 3000);
const PLAN = { answers: ANSWERS, instances: Math.ceil(ANSWERS / 500), seed: 10_000 };
/** A smaller plan, which still finds a fault that affects every answer or a few in a hundred. */
const FEWER = { ...PLAN, answers: 400, instances: 1 };

/** Wraps a solver so that it solves each instance once. */
function remembering(solver: Solver<unknown, unknown> | undefined): Solver<unknown, unknown> {
  if (solver === undefined) throw new Error("an environment has no solver");
  const solved = new Map<string, ReturnType<typeof solver.solve>>();
  return {
    format: (answer) => solver.format(answer),
    solve(instance, nodes) {
      const name = JSON.stringify([instance, nodes]);
      const solution = solved.get(name) ?? solver.solve(instance, nodes);
      solved.set(name, solution);
      return solution;
    },
  };
}

test("every environment with something to optimise has a neighbourhood", () => {
  // A single answer to a game is right or wrong. Best play is proven beside its own tests.
  const graded = environments.filter(
    ({ goal, turns }) => goal !== "satisfy" && (turns === undefined || turns.optional),
  );
  const ids = graded.map(({ id }) => id);
  expect(Object.keys(neighbourhoods)).toEqual(ids);
});

describe.each(Object.keys(neighbourhoods))("%s", (id) => {
  const fresh = environmentOf(id);
  // Most of the time goes into the same few optima.
  const environment = { ...fresh, solver: remembering(fresh.solver) };
  const report = checkAnswers(environment, PLAN);

  test("no answer is better than the baseline, or scored against the rules", () => {
    const instances = environment.levels.length * PLAN.instances;
    expect(report).toMatchObject({ environment: id, instances, violations: 0 });
    expect(report.counterexample).toBeUndefined();
    expect(report.answers).toBeGreaterThanOrEqual(PLAN.answers);
  });

  test("many of the answers differ, many are feasible, and some come near the baseline", () => {
    expect(report.distinct / report.answers).toBeGreaterThan(0.5);
    expect(report.feasible / report.answers).toBeGreaterThan(0.3);
    expect(report.optimal).toBeGreaterThan(report.instances);
    expect(report.optimal / report.answers).toBeLessThan(0.5);
    expect(report.ratioBelowOne).toBeGreaterThan(0.75);
    expect(report.ratioBelowOne).toBeLessThan(1);
  });

  test("the same again", () => {
    expect(checkAnswers(fresh, FEWER)).toEqual(checkAnswers(environment, FEWER));
  });

  test("a baseline that is not the optimum is found out", () => {
    const { solver } = environment;
    const step = environment.goal === "maximize" ? -1 : 1;
    const worse: Solver<unknown, unknown> = {
      format: (answer) => solver.format(answer),
      solve(instance) {
        const solution = solver.solve(instance);
        return { ...solution, value: solution.value + step, bound: solution.bound + step };
      },
    };
    const { violations, counterexample } = checkAnswers({ ...environment, solver: worse }, FEWER);
    expect(violations).toBeGreaterThan(FEWER.answers / 100);
    expect(counterexample?.problem).toMatch(/beats the certified bound/);
  });

  test("a verifier that lets an answer through, or refuses one, is found out", () => {
    const lax = (instance: unknown, answer: unknown): Facts => {
      const facts = environment.verify(instance, answer);
      return facts.kind === "feasible" ? facts : { kind: "feasible", objective: environment.trivial!(instance) };
    };
    const strict = (instance: unknown, answer: unknown): Facts => {
      const facts = environment.verify(instance, answer);
      return environment.solver.format(answer).includes("3") ? { kind: "infeasible", violation: "it has a 3" } : facts;
    };
    for (const verify of [lax, strict]) {
      expect(checkAnswers({ ...environment, verify }, FEWER).violations).toBeGreaterThan(FEWER.answers / 100);
    }
  });
});
