/** The plots of the report, as SVG that stands alone. */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { setting } from "./setting.ts";
import type { Judgement } from "./judge.ts";

/** What Plot needs of a page to draw on. */
const { document } = parseHTML("<html></html>") as { readonly document: object };

/** Ratios beyond this are drawn at the edge. */
const RATIO_MAX = 2.5;

function draw(options: Plot.PlotOptions): string {
  const style = { background: "white", color: "#222", fontFamily: "system-ui, sans-serif" };
  const drawn = Plot.plot({ document, style, ...options } as Plot.PlotOptions) as unknown as {
    readonly outerHTML: string;
  };
  return `${drawn.outerHTML.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"')}\n`;
}

const namesOf = (judgements: readonly Judgement[], of: "student" | "policy"): string[] => [
  ...new Set(judgements.map((judgement) => judgement[of])),
];

/** Rollouts to the target of each policy over uniform's, by student. */
export function ratios(judgements: readonly Judgement[]): string {
  const cut = (value: number): number => Math.min(RATIO_MAX, value);
  const data = judgements.map(({ student, policy, ratio }) => ({
    ...{ student, policy, value: cut(ratio.value), low: cut(ratio.low), high: cut(ratio.high) },
    kind: ratio.value > RATIO_MAX || Number.isNaN(ratio.value) ? "lost or beyond" : "arrived",
  }));
  const policies = namesOf(judgements, "policy");
  return draw({
    width: 1100,
    height: 90 + 22 * policies.length,
    marginLeft: 190,
    marginTop: 50,
    ariaLabel: "Rollouts to the target over uniform's",
    x: { domain: [0, RATIO_MAX], label: "rollouts to the target, of uniform's", grid: true, ticks: [0, 0.7, 1.1, 2] },
    y: { domain: policies, label: null },
    fx: { domain: namesOf(judgements, "student"), label: null, padding: 0.08 },
    color: { domain: ["arrived", "lost or beyond"], range: ["#1668b0", "#c23b22"], legend: false },
    marks: [
      Plot.ruleX([1], { stroke: "#999" }),
      Plot.ruleX([0.7, 1.1], { stroke: "#999", strokeDasharray: "3 3" }),
      Plot.ruleY(data, { y: "policy", x1: "low", x2: "high", fx: "student", stroke: "kind", strokeWidth: 2 }),
      Plot.dot(data, { y: "policy", x: "value", fx: "student", fill: "kind", r: 4 }),
    ],
  });
}

/** Median score over rollouts, of each policy, by student. */
export function curves(judgements: readonly Judgement[]): string {
  const rollouts = setting.batches * setting.promptsPerUpdate * setting.numGenerations;
  const data = judgements.flatMap(({ student, policy, curve }) =>
    curve.map((score, i) => ({ student, policy, score, at: ((i + 1) * rollouts) / curve.length / 1000 })),
  );
  const policies = namesOf(judgements, "policy");
  const hue = (_: string, i: number): string => `hsl(${Math.round((360 * i) / policies.length)} 70% ${35 + 15 * (i % 2)}%)`;
  const students = namesOf(judgements, "student");
  return students
    .reduce<string[]>((all, _, i) => (i === 0 ? [one()] : all), [])
    .join("");

  function one(): string {
    return draw({
      width: 1100,
      height: 200 * Math.ceil(students.length / 2) + 60,
      marginLeft: 50,
      marginRight: 190,
      ariaLabel: "Score over rollouts",
      x: { label: "thousand rollouts", grid: true },
      y: { domain: [0, 1], label: "score", grid: true },
      fx: { axis: null, padding: 0.2 },
      fy: { axis: null, padding: 0.15 },
      color: { domain: policies, range: policies.map(hue) },
      marks: [
        Plot.line(data, {
          ...{ x: "at", y: "score", z: "policy", stroke: "policy", strokeWidth: 1.5 },
          ...{
            fx: ({ student }: { student: string }) => students.indexOf(student) % 2,
            fy: ({ student }: { student: string }) => Math.floor(students.indexOf(student) / 2),
          },
        }),
      ],
    });
  }
}
