/** The verdict on a text: the violation or the reason, in words. */
import { describe, expect, test } from "vitest";
import { parse, verify } from "../../../envs/countdown/verify.ts";

function judge(
  text: string,
  numbers: readonly number[],
  target: number,
): { kind: string; why?: string; value?: string } {
  const parsed = parse(text);
  if (parsed.kind === "malformed") return { kind: "malformed", why: parsed.reason };
  const facts = verify({ numbers, target }, parsed.answer);
  const value = facts.info?.["value"];
  return {
    kind: facts.kind,
    ...(facts.kind === "infeasible" && { why: facts.violation }),
    ...(value !== undefined && { value }),
  };
}

describe("facts", () => {
  test.each(["8/(3-8/3)", "8 / (3 - 8/3) = 24", "\\frac{8}{3-\\frac{8}{3}}"])("%s is feasible", (text) => {
    expect(judge(text, [3, 3, 8, 8], 24)).toEqual({ kind: "feasible", value: "24" });
  });

  test("no objective: the task is to satisfy", () => {
    const parsed = parse("1+2");
    if (parsed.kind !== "answer") throw new Error(parsed.reason);
    expect(verify({ numbers: [1, 2], target: 3 }, parsed.answer)).toEqual({ kind: "feasible", info: { value: "3" } });
  });

  test.each([
    ["7+7+3", "uses 7 twice but it is given once", "17"],
    ["7+7+7+3", "uses 7 three times but it is given once", "24"],
    ["7+7+7+7+7+7+7+3", "uses 7 more than six times but it is given once", "52"],
    ["7+5", "does not use 3", "12"],
    ["7+5+9", "uses 9, which is not given", "21"],
    ["(7+5)*3", "evaluates to 36, not 24", "36"],
    ["7/5-3", "evaluates to -8/5, not 24", "-8/5"],
    ["7/(5-5)", "uses 5 twice but it is given once", undefined],
    ["24", "uses 24, which is not given", "24"],
    ["24 = 24", "uses 24, which is not given", "24"],
  ])("%s %s", (text, why, value) => {
    expect(judge(text, [3, 5, 7], 24)).toEqual({ kind: "infeasible", why, ...(value !== undefined && { value }) });
  });

  test.each([
    ["3*8", "uses 3 once but it is given twice"],
    ["8/(3-3)+8", "divides by zero"],
    ["3*8*3/8", "evaluates to 9, not 24"],
    ["3*8*3/8 = 24", "evaluates to 9, not 24"],
    ["8/(3-8/3) = 25", "claims to be 25, but evaluates to 24"],
    ["8/(3-8/3) = -24", "claims to be -24, but evaluates to 24"],
  ])("with repeated numbers, %s %s", (text, why) => {
    expect(judge(text, [3, 3, 8, 8], 24)).toMatchObject({ kind: "infeasible", why });
  });

  test("a value that doubles would call right is wrong", () => {
    // In doubles 3 * (1/3) − 1 is 0 and 0.1 + 0.2 is not 0.3; here fractions are exact in both directions.
    expect(judge("(1/10+2/10)*10", [1, 10, 2, 10, 10], 3)).toEqual({ kind: "feasible", value: "3" });
    expect(judge("999999999*999999999+1-999999999*999999999", [1], 1).value).toBe("1");
  });

  test("a huge value is told short", () => {
    const huge = Array.from({ length: 64 }, () => "999999999").join("*");
    const facts = judge(huge, [999_999_999], 5);
    expect(facts.value!.length).toBeLessThan(60);
  });
});
