/** The plots of the report, as SVG that stands alone. */
import * as Plot from "@observablehq/plot";
import { draw } from "../../cli/plot.ts";
import { setting } from "./setting.ts";
import type { Judgement } from "./judge.ts";

const WIDTH = 1100;
const COLUMNS = 2;

/** Ratios beyond this are drawn at the edge. */
const RATIO_MAX = 2.5;

/** A picture that stands alone. */
function picture(label: string, options: Plot.PlotOptions): string {
  const style = { background: "white", color: "#222", fontFamily: "system-ui, sans-serif" };
  const svg = draw(label, { width: WIDTH, style, ...options });
  // Without it a file of its own is not a picture.
  return `${svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"')}\n`;
}

const namesOf = (judgements: readonly Judgement[], of: "student" | "policy"): string[] => [
  ...new Set(judgements.map((judgement) => judgement[of])),
];

/** Rollouts to the target of each policy over uniform's, by student. */
export function ratios(judgements: readonly Judgement[]): string {
  const cut = (value: number): number => Math.min(RATIO_MAX, value);
  const data = judgements.map(({ student, policy, ratio }) => ({
    student,
    policy,
    value: cut(ratio.value),
    low: cut(ratio.low),
    high: cut(ratio.high),
    kind: ratio.value > RATIO_MAX || Number.isNaN(ratio.value) ? "lost or beyond" : "arrived",
  }));
  const policies = namesOf(judgements, "policy");
  return picture("Rollouts to the target over uniform's", {
    height: 90 + 22 * policies.length,
    marginLeft: 190,
    marginTop: 50,
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
  const hue = (_: string, i: number): string =>
    `hsl(${Math.round((360 * i) / policies.length)} 70% ${35 + 15 * (i % 2)}%)`;
  const students = namesOf(judgements, "student");
  const of = ({ student }: { readonly student: string }): number => students.indexOf(student);
  const place = {
    fx: (datum: { readonly student: string }) => of(datum) % COLUMNS,
    fy: (datum: { readonly student: string }) => Math.floor(of(datum) / COLUMNS),
  };
  const titles = students.map((student) => ({ student }));
  const ends = policies.map((policy, i) => ({ policy, y: 1 - i / policies.length }));
  return picture("Score over rollouts", {
    height: 230 * Math.ceil(students.length / COLUMNS) + 60,
    marginLeft: 50,
    marginRight: 180,
    x: { label: "thousand rollouts", grid: true },
    y: { domain: [0, 1], label: "score", grid: true },
    fx: { axis: null, padding: 0.1 },
    fy: { axis: null, padding: 0.15 },
    color: { domain: policies, range: policies.map(hue) },
    marks: [
      Plot.line(data, { x: "at", y: "score", z: "policy", stroke: "policy", strokeWidth: 1.5, ...place }),
      Plot.text(titles, { ...place, text: "student", frameAnchor: "top", dy: -14, fontWeight: "bold" }),
      // Plot's own legends are HTML.
      Plot.text(ends, {
        text: "policy",
        fill: "policy",
        y: "y",
        frameAnchor: "right",
        textAnchor: "start",
        dx: 14,
        fx: () => COLUMNS - 1,
        fy: () => 0,
      }),
    ],
  });
}
