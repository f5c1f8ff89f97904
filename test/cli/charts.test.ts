/** Tests of charts with little data (none, one batch, no feasible answer) and with much data of all kinds. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type HistoryRecord, HistoryRecordSchema, ReportSchema } from "../../clients/ts/src/public.ts";
import { coloursOf } from "../../cli/colours.ts";
import {
  figureBars,
  linesStyle,
  outcomeBars,
  outcomeKindsOf,
  passCurves,
  ratioHistograms,
} from "../../cli/evaluation/charts.ts";
import { reportPage } from "../../cli/evaluation/page.ts";
import type { PartSummary, Summary } from "../../cli/evaluation/summary.ts";
import { clippedName, marginFor, percent, short, spanOf, widthOf } from "../../cli/plot.ts";
import { runChart } from "../../cli/runs/chart.ts";
import { seriesOf } from "../../cli/runs/series.ts";

type Figures = Readonly<Record<string, number>>;
const arms = [
  { id: "easy", environment: "np/tsp" },
  { id: "hard", environment: "np/tsp" },
];

function batch(index: number, counts: readonly number[], more: object = {}): HistoryRecord {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const value = {
    batch: BigInt(index),
    cursor: BigInt(index * 4),
    counts: [...counts],
    closed: true,
    probabilities: counts.map((count) => count / total),
    values: counts.map(() => 0),
    ...more,
  };
  return create(HistoryRecordSchema, { kind: { case: "batch", value } });
}

const histories: Readonly<Record<string, readonly HistoryRecord[]>> = {
  empty: [],
  "one-batch": [batch(0, [3, 1], { solvedShare: 0.5, rewardMean: 1, values: [0.1, 0.2] })],
  "nothing-feasible": [
    batch(0, [2, 2], { solvedShare: 0, rewardMean: 0 }),
    batch(1, [2, 2], { solvedShare: 0, rewardMean: 0 }),
  ],
  mixed: [
    batch(0, [2, 2], { solvedShare: 0.25, rewardMean: 0.3 }),
    create(HistoryRecordSchema, { kind: { case: "control", value: { kind: "weights", cursor: 4n } } }),
    batch(1, [1, 3], { values: [0.1, 0.3] }),
    batch(2, [0, 4], { solvedShare: 1, rewardMean: -0.5, values: [0.05, 0.4] }),
  ],
};

const unfit = /NaN|Infinity|undefined/;

describe.each(Object.entries(histories))("the chart of a run: %s", (name, history) => {
  const series = seriesOf(arms, history, 100);
  const svg = runChart(name, series);

  test("is as it was", () => expect(svg).toMatchFileSnapshot(`charts/${name}.svg`));
  test("has no number that is none", () => expect(svg).not.toMatch(unfit));

  test("has lines from its beginning to its end, and no line of one point", () => {
    // A path of one point is drawn as a dot by round ends.
    for (const [, path = ""] of svg.matchAll(/<path [^>]*d="([^"]*)"/g)) expect(path).not.toMatch(/^M[-\d.,]+Z?$/);
    const lines = [...svg.matchAll(/aria-label="line"[^>]*>(.*?)<\/g>/g)].slice(0, 1);
    for (const [, inside = ""] of lines)
      for (const [, path = ""] of inside.matchAll(/ d="([^"]*)"/g)) {
        // The line spans Plot's frame, from its left margin to its right one.
        expect(path).toMatch(/^M64,/);
        expect(Math.max(...[...path.matchAll(/[MLH](-?[\d.]+)/g)].map(([, x]) => Number(x)))).toBe(740);
      }
  });
});

test("what a batch drew is as wide as its tasks are many, up to the last batch", () => {
  const [, bars = ""] =
    /aria-label="rect">(.*?)<\/g>/.exec(runChart("mixed", seriesOf(arms, histories["mixed"] ?? [], 100))) ?? [];
  const spans = [...bars.matchAll(/width="([\d.]+)" y="[\d.]+" x="([\d.]+)"/g)].map(([, width, x]) => [
    Number(x),
    Number(width),
  ]);
  // Plot's frame reaches from 64 to 740, a third for each batch; each arm that was drawn has a bar.
  const third = (740 - 64) / 3;
  const wanted = [0, 0, 1, 1, 2, 2].map((place) => [64 + place * third, third]);
  expect(
    spans
      .flat()
      .map((each) => each.toFixed(3))
      .toSorted(),
  ).toEqual(
    wanted
      .flat()
      .map((each) => each.toFixed(3))
      .toSorted(),
  );
});

/** Returns a colour's hue in degrees; none of the charts' colours is grey. */
function hueOf(colour = ""): number {
  const [r = 0, g = 0, b = 0] = [...colour.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return (Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b) * 180) / Math.PI;
}

describe("many arms", () => {
  const many = Array.from({ length: 30 }, (_, i) => ({
    id: `e${i % 6}/L${Math.floor(i / 6)}`,
    environment: `e${i % 6}`,
  }));

  test.each(["light", "dark"] as const)(
    "have thirty %s colours: a hue for each environment, lighter to darker",
    (ground) => {
      const colours = coloursOf(many.map(({ environment }) => environment)).map((colour) => colour[ground]);
      expect(new Set(colours).size).toBe(30);
      const lightness = (colour = ""): number =>
        [...colour.matchAll(/\d+/g)].reduce((sum, [digits]) => sum + Number(digits), 0);
      for (let environment = 0; environment < 6; environment++) {
        const levels = colours.filter((_, i) => i % 6 === environment).map(lightness);
        expect(levels).toEqual(levels.toSorted((a, b) => b - a));
        const hues = colours.filter((_, i) => i % 6 === environment).map(hueOf);
        expect(Math.max(...hues) - Math.min(...hues)).toBeLessThan(20);
      }
    },
  );

  test("more environments than there are chosen hues are told apart, too", () => {
    expect(new Set(coloursOf(Array.from({ length: 40 }, (_, i) => `e${i}`)).map(({ light }) => light)).size).toBe(40);
  });

  test("are drawn on a dark ground where the reader has one", () => {
    const svg = runChart(
      "many",
      seriesOf(
        many,
        [
          batch(
            0,
            many.map(() => 1),
          ),
        ],
        100,
      ),
    );
    expect(svg).toContain("prefers-color-scheme: dark");
    for (const { light, dark } of coloursOf(many.map(({ environment }) => environment)))
      expect(svg).toContain(`[fill="${light}"]{fill:${dark}}`);
  });
});

test("the lines of a report have colours for a dark ground, too", () => {
  const [light = "", dark = ""] = linesStyle(["a", "b"]).split("prefers-color-scheme: dark");
  const coloursIn = (style: string): readonly string[] => style.match(/--line-[01]: [^;]+/g) ?? [];
  expect(coloursIn(dark)).toHaveLength(2);
  expect(new Set([...coloursIn(light), ...coloursIn(dark)]).size).toBe(4);
});

test("an arm that was added later begins where it was", () => {
  const history = [batch(0, [4]), batch(1, [2, 2], { probabilities: [0.5, 0.5], values: [0.1, 0.2] })];
  expect(seriesOf(arms, history, 10).steps.map(({ values }) => values)).toEqual([
    [0, undefined],
    [0.1, 0.2],
  ]);
});

const row = (name: string, figures: Figures) => ({
  name,
  figures,
  samples: 10n,
  tasks: 10n,
  samplesExpected: 10n,
});
const part = (name: string, some: Partial<PartSummary> = {}): PartSummary => ({
  part: name,
  ratios: new Array<number>(10).fill(0),
  optimal: 0,
  wrong: 0,
  infeasible: 0,
  malformed: 0,
  noReward: 0,
  ...some,
});
const quality = { success_rate: 0.8, quality_ratio: 0.65 };
const exact = { exact_rate: 0.5, "pass@1": 0.5, "pass@2": 0.75 };
const full = part("np/tsp", { ratios: [0, 0, 0, 0, 0, 1, 2, 3, 0, 2], optimal: 1, infeasible: 1, malformed: 1 });

const reports: Readonly<
  Record<string, readonly [rows: readonly ReturnType<typeof row>[], parts: readonly PartSummary[]]>
> = {
  empty: [[], []],
  "nothing-feasible": [
    [row("planning", { success_rate: 0, quality_ratio: 0 })],
    [part("np/tsp", { infeasible: 6, malformed: 4 }), part("none at all")],
  ],
  mixed: [
    [row("planning", quality), row("no quality", exact), row("SR alone", { success_rate: 0.3 })],
    [
      full,
      part("np/clique", { infeasible: 5 }),
      part("countdown", { ratios: [0, 0, 0, 0, 0, 0, 0, 0, 0, 5], optimal: 5, infeasible: 5 }),
    ],
  ],
};
const figures = [
  { figure: "success_rate", title: "SR", colour: "var(--series-0)" },
  { figure: "quality_ratio", title: "QR", colour: "var(--series-1)" },
];

/** Returns a chart's bars: rectangles, and paths with round corners. */
const barsOf = (svg: string): readonly string[] => svg.match(/<rect|<path [^>]*fill="var/g) ?? [];

describe.each(Object.entries(reports))("the charts of a report: %s", (name, [rows, parts]) => {
  const charts = [
    figureBars("figures", rows as never, figures),
    ratioHistograms("ratios", parts),
    outcomeBars("outcomes", parts, outcomeKindsOf(parts, "quality")),
    passCurves("pass@k", rows as never),
  ];

  test("are as they were", () => expect(charts.join("\n")).toMatchFileSnapshot(`charts/report-${name}.svg`));
  test("have no number that is none", () => {
    for (const chart of charts) expect(chart).not.toMatch(unfit);
  });
});

describe("a report", () => {
  test("draws no ratio where nothing is feasible, and says so", () => {
    const svg = ratioHistograms("r", [part("a", { infeasible: 3 }), part("b")]);
    expect(barsOf(svg)).toEqual([]);
    expect(svg.match(/no feasible answer/g)).toHaveLength(2);
  });

  test("draws no bar and writes no 0% for what has no such figure", () => {
    const svg = figureBars(
      "f",
      [row("a", quality), row("b", exact), row("c", { success_rate: 0.3 })] as never,
      figures,
    );
    expect(barsOf(svg)).toHaveLength(3);
    expect(svg).not.toContain(">b<");
    expect(svg).toContain(">–<");
    expect(svg.match(/>0%</g)).toHaveLength(1);
  });

  test("leaves categories without a quality out of the charts of quality", () => {
    const report = create(ReportSchema, {
      parts: [row("np/tsp", quality)],
      categories: [row("planning", quality), row("numbers", exact)],
      overall: row("overall", quality),
    });
    const summary: Summary = { report, settings: {}, parts: [full], violations: [], rows: [], specimens: [] };
    const [chart = ""] = /<svg [^>]*aria-label="Success rate[^]*?<\/svg>/.exec(reportPage(summary)) ?? [];
    expect(chart).toContain("planning");
    expect(chart).not.toContain("numbers");
  });
});

describe("the chart helper", () => {
  test.each([
    [[], [0, 1]],
    [
      [0, 0],
      [0, 1],
    ],
    [
      [undefined, NaN],
      [0, 1],
    ],
    [[0.5], [0, 0.5]],
    [
      [-2, 1],
      [-2, 1],
    ],
    [[-3], [-3, 0]],
  ] as const)("an axis of %j is %j", (values, span) => expect(spanOf(values)).toEqual(span));

  test.each([
    [0, "0%"],
    [0.004, "0.4%"],
    [0.125, "13%"],
    [0.996, "100%"],
    [1, "100%"],
  ])("%d is %s", (value, words) => expect(percent(value)).toBe(words));

  test.each([0, 1, -0.000_005, 1e9, -1_234_567, 0.333_333])("a tick of %d fits the margin", (value) => {
    expect(short(value).length).toBeLessThanOrEqual(8);
  });

  test("a name has room beside a chart, however long or wide it is", () => {
    for (const name of ["", "a", "W".repeat(30), "x".repeat(200), "一".repeat(20)])
      expect(marginFor([name])).toBeGreaterThanOrEqual(widthOf(clippedName(name)) + 10);
    expect(clippedName(`${"a".repeat(60)}/T0`)).toMatch(/^a+…a+\/T0$/);
    expect(marginFor([])).toBeGreaterThan(0);
  });
});
