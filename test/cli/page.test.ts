/** Tests of `report.html`: it can be read without a script, and shows a model's words only as text. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ReportSchema } from "../../clients/ts/src/index.ts";
import { reportPage } from "../../cli/evaluation/page.ts";
import { reportFromJson, summaryToJson, type Summary } from "../../cli/evaluation/summary.ts";

const row = (name: string, figures: Readonly<Record<string, number>>, samples = 10n) => ({
  name,
  figures,
  samples,
  tasks: samples,
  samplesExpected: 10n,
});
const part = (name: string, some: Partial<Summary["parts"][number]> = {}) => ({
  part: name,
  ratios: [0, 0, 0, 0, 0, 1, 2, 3, 0, 2],
  optimal: 1,
  wrong: 0,
  infeasible: 1,
  malformed: 1,
  noReward: 0,
  ...some,
});

const quality = { success_rate: 0.8, quality_ratio: 0.65, optimal_rate: 0.1, malformed_rate: 0.1 };
const good: Summary = {
  report: create(ReportSchema, {
    evaluation: { evaluationId: "e", model: '<script>alert("m")</script>', samplesPerTask: 1 },
    suite: { id: "forge-bench", version: 1, description: "d" },
    parts: [row("np/tsp", quality), row("np/clique", { ...quality, success_rate: 0.4 })],
    categories: [row("planning", quality), row("graph", quality), row("schedule", {}, 0n)],
    overall: row("overall", quality),
    baseline: "Ratios are against proven optima.",
  }),
  settings: { endpoint: "http://h/v1", temperature: 0.6 },
  parts: [part("np/tsp"), part("np/clique")],
  violations: [{ part: "np/tsp", violation: "city … <b>twice</b>", count: 3 }],
  rows: [],
  specimens: [],
};

const exact = { exact_rate: 0.5, mean_score: 0.55, "pass@1": 0.5, "pass@2": 0.7, "pass@avg": 0.6 };
const right: Summary = {
  ...good,
  report: create(ReportSchema, {
    evaluation: { evaluationId: "e", model: "m", samplesPerTask: 2 },
    suite: { id: "countdown", version: 1 },
    parts: [row("countdown T0", exact)],
    categories: [row("3 numbers", exact), row("4 numbers", exact)],
    overall: row("overall", exact),
  }),
  parts: [part("countdown T0", { ratios: [0, 0, 0, 0, 0, 0, 0, 0, 0, 5], optimal: 5, infeasible: 5, malformed: 0 })],
  violations: [],
};

const charts = (page: string): readonly string[] =>
  [...page.matchAll(/<svg [^>]*aria-label="([^"]+)"/g)].map(([, label = ""]) => label);

describe("the page", () => {
  test("needs no script and nothing from elsewhere, and reads in light and dark", () => {
    for (const page of [reportPage(good), reportPage(right)]) {
      expect(page).not.toMatch(/<script|<link|<img|@import|url\(/);
      expect(page).toContain('<meta name="color-scheme" content="light dark">');
      expect(page).toContain("prefers-color-scheme: dark");
    }
  });

  test("shows what a model or endpoint wrote as text", () => {
    const page = reportPage(good);
    expect(page).toContain("&lt;script&gt;alert(&quot;m&quot;)&lt;/script&gt;");
    expect(page).toContain("city … &lt;b&gt;twice&lt;/b&gt;");
  });

  test("on a narrow screen, scrolls tables and charts rather than squeezing them", () => {
    const page = reportPage(good);
    const tables = [...page.matchAll(/(.{0,20})<table><thead>/g)].map(([, before]) => before);
    expect(tables).toHaveLength(2);
    for (const before of tables) expect(before).toMatch(/<div class="wide">$/);
    expect(page).toMatch(/figure svg \{ min-width: \d+px;/);
  });

  test("has charts of quality, where there is one", () => {
    const page = reportPage(good);
    expect(charts(page)).toEqual([
      "Success rate and quality ratio by category",
      "Ratios of feasible answers by part",
      "Outcomes by part",
    ]);
    expect(page).toContain("<b>80.0%</b><span>SR</span>");
    expect(page).toContain("Ratios are against proven optima.");
    expect(page).not.toContain("<th>schedule</th>");
  });

  test("has pass@k, where an answer is right or not", () => {
    const page = reportPage(right);
    expect(charts(page)).toEqual(["pass@k by category", "Outcomes by part"]);
    expect(page).toContain("</i>right</li>");
    expect(page).not.toContain("Why answers failed");
  });

  test("of an evaluation without samples is a page, too", () => {
    const none = {
      ...good,
      parts: [],
      violations: [],
      report: create(ReportSchema, { overall: row("overall", {}, 0n) }),
    };
    expect(charts(reportPage(none))).toEqual([]);
    expect(reportPage(none)).toContain("10 are missing");
  });
});

test("report.json holds the report, to be read again", () => {
  expect(reportFromJson(summaryToJson(good))).toEqual(good.report);
  for (const other of [null, [], {}, { report: 3 }, { report: { parts: "none" } }])
    expect(reportFromJson(other)).toBeUndefined();
});

describe("pictures", () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><text>&lt;/svg&gt;</text></svg>';
  const words = '</figcaption><script>alert("p")</script>';

  test("are images of their own, with what a model wrote as text beside them", () => {
    const page = reportPage(good, [{ part: "np/tsp", words, svg }]);
    const [, source = ""] = /<img [^>]*src="data:image\/svg\+xml;base64,([^"]+)"/.exec(page) ?? [];
    expect(Buffer.from(source, "base64").toString()).toBe(svg);
    expect(page).not.toContain("<script");
    expect(page).toContain("&lt;script&gt;alert(&quot;p&quot;)");
  });

  test("that cannot be drawn are accounted for, and there is nothing to say where no answer falls short", () => {
    expect(reportPage(good)).toContain("--key-file");
    expect(reportPage(good, [])).not.toContain("What falls short");
  });
});
