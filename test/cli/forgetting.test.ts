/** `gradus forgetting`: the matrix, the order, and a policy that a run takes. */
import { create, toJson } from "@bufbuild/protobuf";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Report, ReportSchema } from "../../clients/ts/src/public.ts";
import { policyText, transferMatrix } from "../../cli/research/forgetting/matrix.ts";
import { matrixChart } from "../../cli/research/forgetting/chart.ts";
import { parseRunFile } from "../../cli/run-file.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

function report(scores: Readonly<Record<string, number>>): Report {
  const environments = Object.entries(scores).map(([name, score]) => ({ name, figures: { quality_ratio: score } }));
  return create(ReportSchema, { environments });
}

const base = report({ x: 0.5, y: 0.4, z: 0.3 });
const after = [
  { domain: "x", reports: [report({ x: 0.9, y: 0.3, z: 0.32 })] },
  { domain: "y", reports: [report({ x: 0.45, y: 0.8, z: 0.34 })] },
  { domain: "z", reports: [report({ x: 0.48, y: 0.38, z: 0.7 })] },
];
const plain = { base: [base], after, rows: new Map(), figure: undefined };

describe("the matrix", () => {
  test("has the changes of each domain by training on each, and the least forgotten first", () => {
    const result = transferMatrix(plain);
    if (result.kind === "invalid") throw new Error(result.message);
    const { matrix } = result;
    expect(matrix.transfers.map(({ changes }) => changes)).toEqual([
      [0.4, -0.1, 0.02],
      [-0.05, 0.4, 0.04],
      [-0.02, -0.02, 0.4],
    ]);
    // Without the diagonal: z gains, x loses .035 on average, y .06.
    expect(matrix.means.map((mean) => Number(mean.toFixed(4)))).toEqual([-0.035, -0.06, 0.03]);
    expect(matrix.order).toEqual(["z", "x", "y"]);
    const svg = matrixChart(matrix);
    expect(svg.startsWith("<svg xmlns=")).toBe(true);
    expect(svg).toContain("-0.100");
  });

  test("gives a policy that a run file takes", () => {
    const result = transferMatrix(plain);
    if (result.kind === "invalid") throw new Error(result.message);
    const read = parseRunFile("run.yaml", policyText(result.matrix));
    if (read.kind === "invalid") throw new Error(read.problems.join("\n"));
    const kind = read.file.config.policy?.kind;
    if (kind?.case !== "forgetting") throw new Error("no forgetting policy");
    expect(kind.value.domains.map(({ name, weights }) => [name, weights])).toEqual([
      ["x", { x: 1 }],
      ["y", { y: 1 }],
      ["z", { z: 1 }],
    ]);
    expect(kind.value.transfers[0]).toMatchObject({ trained: "x", changes: { y: -0.1, z: 0.02 } });
  });

  test("a domain's score is the mean of its rows, from whichever report has them", () => {
    const rows = new Map([["both", ["x", "y"]]]);
    const split = [report({ x: 0.6 }), report({ y: 0.6, z: 0.1 })];
    const result = transferMatrix({
      base: [base],
      rows,
      figure: undefined,
      after: [
        { domain: "both", reports: split },
        { domain: "z", reports: [base] },
      ],
    });
    expect(result).toMatchObject({ matrix: { base: [0.45, 0.3], transfers: [{ changes: [0.15, -0.2] }, {}] } });
  });

  const ofSuite = (id: string, scores: Readonly<Record<string, number>>, samples = 4n): Report => {
    const { environments } = report(scores);
    const rows = environments.map((row) => ({ ...row, samples, samplesExpected: 4n }));
    return create(ReportSchema, { environments: rows, suite: { id, version: 2 } });
  };
  const of = (before: Report, later: Report) =>
    transferMatrix({ ...plain, base: [before], after: ["x", "y"].map((domain) => ({ domain, reports: [later] })) });

  test("scores on other tasks than before are not compared", () => {
    expect(of(ofSuite("levels", { x: 1, y: 1 }), ofSuite("bench", { x: 1, y: 1 }))).toEqual({
      kind: "invalid",
      message:
        "--after x: row 'x' comes from suite bench version 2, but at --base from suite levels version 2: evaluate both on one suite",
    });
  });

  test("a score that may change is said to", () => {
    const [whole, part] = [ofSuite("s", { x: 1, y: 1 }), ofSuite("s", { x: 1, y: 1 }, 1n)];
    expect(of(whole, whole)).toMatchObject({ warnings: [] });
    const warnings = ["x", "y"].map((row) => `--base: row '${row}' lacks 3 samples: its score may change`);
    expect(of(part, whole)).toMatchObject({ kind: "ok", warnings });
    const told = { ...whole, warnings: ["3 of 4 samples have no reward"] };
    expect(of(told, whole)).toMatchObject({
      warnings: ["x", "y"].map((row) => `--base: row '${row}': 3 of 4 samples have no reward`),
    });
  });

  test.each([
    [
      { ...plain, rows: new Map([["x", ["w"]]]) },
      "--base: no report has a row 'w': give its rows by --domain NAME=ROW,ROW; there are x, y, z",
    ],
    [{ ...plain, figure: "exact_rate" }, "--base: row 'x' has no statistic 'exact_rate'; it has quality_ratio"],
    [
      { ...plain, after: [...after.slice(0, 2), { domain: "z", reports: [report({ x: 1 })] }] },
      "--after z: no report has a row 'y'",
    ],
    [{ ...plain, base: [base, report({ x: 0.1 })] }, "--base: several reports have a row 'x'"],
  ])("says what is missing", (input, message) => {
    expect(transferMatrix(input)).toEqual({ kind: "invalid", message: expect.stringContaining(message) as string });
  });
});

describe("on the command line", () => {
  const write = (name: string, of: Report): string => {
    const path = join(folder.path, name);
    writeFileSync(path, JSON.stringify({ report: toJson(ReportSchema, of) }));
    return path;
  };
  const [before, x = "", y = ""] = [
    write("base.json", base),
    ...after.slice(0, 2).map(({ domain, reports: [of] }) => write(`${domain}.json`, of ?? base)),
  ];

  test("it prints the matrix, the order and the policy", async () => {
    const flags = ["--base", before, "--after", `x=${x}`, "--after", `y=${y}`];
    const chart = join(folder.path, "matrix.svg");
    const { code, out, err } = await gradus({ cwd: folder.path }, "forgetting", ...flags, "--chart", chart);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/x +\(\+0\.4000\) +-0\.1000/);
    expect(out).toContain("order: x, y\n");
    expect(out).toContain("  forgetting:\n");
    const json = await gradus({ cwd: folder.path }, "forgetting", ...flags, "--json");
    expect(JSON.parse(json.out)).toMatchObject({ order: ["x", "y"], means: [-0.05, -0.1] });
    const twice = await gradus({ cwd: folder.path }, "forgetting", ...flags, "--domain=x=y", "--domain=x=z", "--json");
    expect(JSON.parse(twice.out)).toMatchObject({ base: [0.35, 0.4] });
  });

  test("what is rounded away has no sign", async () => {
    const third = (name: string, z: number): string => write(name, report({ x: 0.5, y: 0.4, z }));
    const paths = [third("p.json", 0.3), third("q.json", 0.2999), third("r.json", 0.3), third("s.json", 0.3)];
    const domains = ["x", "y", "w", "z"].map((name, i) => `--after=${name}=${paths[i]}`);
    const { out } = await gradus({ cwd: folder.path }, "forgetting", "--base", before, ...domains, "--domain", "w=x");
    expect(out).toContain("-0.0001");
    expect(out).not.toContain("-0.0000");
  });

  test.each([
    [["--base", before, "--after", `x=${x}`], "must be given for at least 2 domains"],
    [
      ["--base", before, "--after", `x=${x}`, "--after", `y=${y}`, "--domain", "z=x"],
      "'z' has no --after; there are x, y",
    ],
    [["--base", before, "--after", x], "Want name=value"],
  ])("a wrong one says what it wants", async (flags, message) => {
    const { code, err } = await gradus({ cwd: folder.path }, "forgetting", ...flags);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
