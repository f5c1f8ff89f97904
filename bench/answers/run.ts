/**
 * Looks for an answer that beats its baseline, or is scored wrongly, in all environments with something to optimise or
 * those named. README.md says which answers. The exit code is 1 if there is one.
 *
 *   node bench/answers/run.ts [environment…] [--answers 100000] [--instances 100] [--seed 1] [--json]
 */
import { parseArgs } from "node:util";
import { environments } from "../../envs/registry.ts";
import { createProgress } from "../progress.ts";
import { environmentOf } from "../solvers/timed.ts";
import { checkAnswers } from "./check.ts";
import type { Report } from "./check.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    answers: { type: "string", default: "100000" },
    instances: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});

const HEADS = ["instances", "answers", "distinct", "feasible", "optimal", "ratio < 1", "violations"];
const NAME_WIDTH = 22;

function print(name: string, cells: readonly (string | number)[]): void {
  console.log(name.padEnd(NAME_WIDTH) + cells.map((cell) => `${cell}`.padStart(11)).join(""));
}

function printReport(report: Report): void {
  const { instances, answers, distinct, feasible, optimal, ratioBelowOne, violations } = report;
  const share = (part: number): string => `${((100 * part) / answers).toFixed(1)}%`;
  const shares = [share(feasible), share(optimal), ratioBelowOne.toFixed(4)];
  print(report.environment, [instances, answers, distinct, ...shares, violations]);
}

const chosen =
  positionals.length > 0
    ? positionals.map(environmentOf)
    : environments.filter((each) => each.resource === undefined).filter(({ goal }) => goal !== "satisfy");
const plan = { answers: Number(options.answers), instances: Number(options.instances), seed: Number(options.seed) };
const reports: Report[] = [];
if (!options.json) print("", HEADS);
for (const environment of chosen) {
  const progress = createProgress(environment.id, plan.answers);
  const report = checkAnswers(environment, { ...plan, step: () => progress.step() });
  progress.stop();
  reports.push(report);
  if (!options.json) printReport(report);
}
if (options.json) console.log(JSON.stringify(reports, null, 2));
for (const { environment, counterexample } of reports) {
  if (counterexample === undefined) continue;
  process.exitCode = 1;
  console.error(`\n${environment}: ${JSON.stringify(counterexample, null, 2)}`);
}
