/** Small numbers, so that sums, repeats, zeros and fractions all happen. */
import { describe, expect, test } from "vitest";
import { formatAnswer } from "../../../envs/countdown/expression.ts";
import { countSolutions, SOLUTIONS_CAP, solve } from "../../../envs/countdown/solve.ts";
import { parse, verify } from "../../../envs/countdown/verify.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { countSequences, reachable, whole } from "./reference.ts";

function randomInstances(name: string, count: number, lengthMax: number) {
  const rng = rngFor("solve test", name);
  return Array.from({ length: count }, () => ({
    numbers: Array.from({ length: rng.int(2, lengthMax) }, () => rng.int(1, 12)),
    target: rng.int(1, 60),
  }));
}

describe("solution count", () => {
  test("the two examples of docs/decisions/0005-countdown.md: 83 and 1", () => {
    expect(countSolutions([1, 2, 6, 8], 24)).toBe(83);
    expect(countSolutions([1, 3, 4, 6], 24)).toBe(1);
  });

  test("two numbers, by hand: 2+2 and 2·2; 6−3 and 3; 3·1 and 3/1", () => {
    expect(countSolutions([2, 2], 4)).toBe(2);
    expect(countSolutions([6, 3], 3)).toBe(1);
    expect(countSolutions([6, 3], 2)).toBe(1);
    expect(countSolutions([1, 3], 3)).toBe(2);
    expect(countSolutions([3, 3], 1)).toBe(2);
    expect(countSolutions([3, 4], 5)).toBe(0);
  });

  test("does not depend on the order of the numbers", () => {
    const rng = rngFor("solve test", "order");
    for (const { numbers, target } of randomInstances("order", 100, 4)) {
      expect(countSolutions(rng.shuffle(numbers), target)).toBe(countSolutions(numbers, target));
    }
  });

  test("is that of the rule, word for word, in plain bigint fractions", () => {
    for (const { numbers, target } of randomInstances("rule", 60, 4)) {
      const expected = countSequences(numbers.map(whole), whole(target));
      expect(countSolutions(numbers, target, Infinity), JSON.stringify(numbers)).toBe(expected);
    }
  });

  test("stops at its cap", () => {
    const uncapped = countSolutions([1, 2, 3, 4, 5], 15, Infinity);
    expect(uncapped).toBeGreaterThan(SOLUTIONS_CAP);
    expect(countSolutions([1, 2, 3, 4, 5], 15)).toBe(SOLUTIONS_CAP);
    expect(countSolutions([1, 2, 3, 4, 5], 15, 7)).toBe(7);
    expect(countSolutions([2, 2], 4, 1)).toBe(1);
  });

  test("is exact at the limits of an instance", () => {
    expect(countSolutions([200, 199, 198, 197, 196, 195], 100_000, 1)).toBe(0);
    expect(countSolutions([200, 200, 200, 200, 1], 40_000, 1)).toBe(1);
    expect(countSolutions([200, 200, 200, 200], 40_003, 1)).toBe(0);
  });
});

describe("solver", () => {
  test("finds a way exactly if an independent search says that there is one", () => {
    let solvable = 0;
    for (const instance of randomInstances("iff", 150, 4)) {
      const exists = reachable(instance.numbers).has(`${instance.target}/1`);
      const solution = solve(instance);
      expect(solution.value, JSON.stringify(instance)).toBe(exists ? 1 : 0);
      expect(countSolutions(instance.numbers, instance.target) > 0).toBe(exists);
      expect(solution.proven).toBe(true);
      expect(solution.bound).toBe(solution.value);
      expect(verify(instance, solution.answer).kind).toBe(exists ? "feasible" : "infeasible");
      if (exists) solvable++;
    }
    expect(solvable).toBeGreaterThan(30);
    expect(solvable).toBeLessThan(140);
  });

  test("its answer survives being written and read", () => {
    for (const instance of randomInstances("written", 200, 5)) {
      const { answer } = solve(instance);
      expect(parse(formatAnswer(answer))).toEqual({ kind: "answer", answer });
    }
  });

  test("needs fractions where they are the only way", () => {
    const { answer } = solve({ numbers: [1, 3, 4, 6], target: 24 });
    expect(formatAnswer(answer)).toBe("6 / (1 - 3 / 4)");
  });

  test("a budget too small leaves the question open", () => {
    const hopeless = { numbers: [1, 1, 1, 1, 1, 1], target: 99_999 };
    const solution = solve(hopeless, 1000);
    expect(solution).toMatchObject({ value: 0, bound: 1, proven: false, nodes: 1000 });
  });

  test("six numbers take less than four million nodes", () => {
    const solution = solve({ numbers: [97, 89, 83, 91, 72, 99], target: 99_991 });
    expect(solution).toMatchObject({ value: 0, bound: 0, proven: true });
    expect(solution.nodes).toBeLessThan(4_000_000);
  });
});
