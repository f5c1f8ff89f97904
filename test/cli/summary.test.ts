/** Tests the counts of outcomes in a report's charts and in its progress lines. */
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type EvaluationHandle, ReportSchema } from "../../clients/ts/src/public.ts";
import { type Exactness, outcomeBars, outcomeKindsOf } from "../../cli/evaluation/charts.ts";
import { createProgress } from "../../cli/evaluation/progress.ts";
import { reportPage } from "../../cli/evaluation/page.ts";
import { reportTable, summarize, summaryToJson } from "../../cli/evaluation/summary.ts";

const scored = (verdict: string, more: object = {}) => ({
  kind: "scored",
  verdict,
  violation: "",
  solved: false,
  reward: 0,
  ...more,
});
const unscored = { kind: "unscored", reason: "too_large", detail: "it is too long" };

/** Each outcome with its class, its name in a chart of such answers, and whether it is right. */
const outcomes = [
  ["the optimum", scored("feasible", { solved: true, ratio: 1 }), "optimal", "quality", "optimal", true],
  ["short of it", scored("feasible", { ratio: 0.5 }), "ratios", "quality", "feasible", true],
  ["an expression that is right", scored("feasible", { solved: true }), "optimal", "exact", "right", true],
  ["an expression that is wrong", scored("infeasible"), "infeasible", "exact", "wrong", false],
  ["graded as right", scored("graded", { solved: true }), "optimal", "exact", "right", true],
  ["graded as wrong", scored("graded"), "wrong", "exact", "wrong", false],
  ["right in a suite of all sorts", scored("graded", { solved: true }), "optimal", "mixed", "right or optimal", true],
  ["wrong in a suite of all sorts", scored("graded"), "wrong", "mixed", "wrong or infeasible", false],
  ["a broken constraint", scored("infeasible"), "infeasible", "quality", "infeasible", false],
  ["what cannot be read", scored("malformed"), "malformed", "exact", "malformed", false],
  ["what has no reward", unscored, "noReward", "exact", "no reward", false],
] as const;

const evaluationOf = (...all: readonly object[]): EvaluationHandle =>
  ({
    report: () => Promise.resolve(create(ReportSchema, {})),
    *samples() {
      for (const outcome of all) yield { part: "p", outcome };
    },
  }) as never;

describe.each(outcomes)("%s", (_, outcome, counted, exactness: Exactness, title, isGood) => {
  test(`counts as ${counted}, once, and is drawn as ${title}`, async () => {
    const { parts } = await summarize(evaluationOf(outcome), {});
    const [{ part, ratios, ...counts } = { part: "", ratios: [] }] = parts;
    expect(part).toBe("p");
    const feasible = ratios.reduce((sum, count) => sum + count, 0);
    expect(
      Object.entries({ ...counts, ratios: feasible }).flatMap(([name, count]) => (count > 0 ? [name] : [])),
    ).toEqual(counted === "optimal" ? ["optimal", "ratios"] : [counted]);
    const kinds = outcomeKindsOf(parts, exactness);
    expect(kinds.map((kind) => [kind.title, parts.map((each) => kind.count(each))])).toEqual([[title, [1]]]);
    expect(outcomeBars("o", parts, kinds)).toContain(">100%<");
  });

  describe("while the evaluation goes on", () => {
    const said: string[] = [];
    beforeEach(() => {
      said.length = 0;
      vi.useFakeTimers();
      vi.spyOn(console, "error").mockImplementation((line: string) => void said.push(line));
    });
    afterEach(() => {
      vi.useRealTimers();
      vi.restoreAllMocks();
    });

    const isCounted = counted !== "noReward";
    const figures = isCounted ? `${isGood ? 100 : 0}%  reward 0.000` : "–  reward –";

    test(`${isCounted ? `is ${isGood ? "" : "not "}among the good ones` : "is in no figure"}, and no ratio is said`, () => {
      const progress = createProgress(0, 2, true);
      progress.step({ kind: "scored", outcome: outcome as never });
      vi.advanceTimersByTime(5_000);
      progress.stop();
      expect(said).toEqual([expect.stringContaining(`right or feasible ${figures}`)]);
    });
  });
});

test("a report's warnings stand before its figures: in the table, in the page and in the JSON", async () => {
  const words = "3 of 200 samples (1.5%) have no reward";
  const overall = {
    name: "overall",
    samples: 200n,
    tasks: 9n,
    figures: { "pass@1": 0.25 },
    tasksLeftOut: { "pass@4": 2n },
  };
  const report = create(ReportSchema, { warnings: [words], overall });
  const table = reportTable(report);
  expect(table.startsWith(`warning: ${words}\n`)).toBe(true);
  expect(table).toContain("Of 9 tasks pass@4 leaves out 2");
  const evaluation = { ...evaluationOf(unscored), report: () => Promise.resolve(report) };
  const summary = await summarize(evaluation, {});
  const page = reportPage(summary);
  expect(page.indexOf(words)).toBeGreaterThan(0);
  expect(page.indexOf(words)).toBeLessThan(page.indexOf('class="tiles"'));
  const json = summaryToJson(summary) as unknown as { readonly report: { readonly warnings: readonly string[] } };
  expect(Object.entries(json)[0]).toEqual(["warnings", [words]]);
  expect(json.report.warnings).toEqual([words]);
});
