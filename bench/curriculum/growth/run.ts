/**
 * Judges arms that grow by simulated students: four growing arms against equal shares over exactly the levels that can be
 * solved, on the same students. It says the ratio of their rollouts to the target, and the shares of rollouts on levels
 * that are solved and on levels that cannot be.
 *
 * ```
 * node bench/curriculum/growth/run.ts [--seeds 20] [--set tuned|apart|all] [--only NAME…] [--jobs N] [--fixed] [--json]
 * ```
 *
 * `fixed` judges the policy frontier over exactly the levels that can be solved, in place of arms that grow.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Piscina } from "piscina";
import { mean, median } from "../../../server/simulation/statistics.ts";
import { createProgress } from "../../progress.ts";
import { growthKinds } from "./kinds.ts";
import type { GrowthJob, GrowthLife } from "./worker.ts";

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    set: { type: "string", default: "all" },
    only: { type: "string", multiple: true, default: [] },
    jobs: { type: "string", default: String(availableParallelism()) },
    fixed: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const SEEDS_A_JOB = 2;
const kinds = growthKinds.filter(
  ({ name, apart }) =>
    (options.only.length === 0 || options.only.includes(name)) &&
    (options.set === "all" || apart === (options.set === "apart")),
);
const seeds = Array.from({ length: Number(options.seeds) }, (_, i) => `growth/${i}`);
const pool = new Piscina<GrowthJob, readonly GrowthLife[]>({
  filename: new URL("worker.ts", import.meta.url).href,
  maxThreads: Number(options.jobs),
});
const jobs = kinds.flatMap(({ name }) =>
  Array.from({ length: Math.ceil(seeds.length / SEEDS_A_JOB) }, (_, i): GrowthJob => {
    return { kind: name, seeds: seeds.slice(i * SEEDS_A_JOB, (i + 1) * SEEDS_A_JOB), fixed: options.fixed };
  }),
);
const progress = createProgress("students", jobs.length);
const lives = await Promise.all(
  jobs.map(async (job) => {
    const found = await pool.run(job);
    progress.step();
    return found.map((life) => ({ kind: job.kind, ...life }));
  }),
);
progress.stop();
await pool.destroy();

const all = lives.flat();
const rows = kinds.map(({ name, apart, adjacent }) => {
  const of = all.filter(({ kind, equal }) => kind === name && equal !== null);
  const ratios = of.map(({ equal, grown }) => (grown ?? Infinity) / (equal ?? NaN));
  return {
    kind: name,
    set: apart ? "apart" : "tuned",
    adjacent,
    students: of.length,
    ratio: median(ratios),
    lost: ratios.filter((ratio) => ratio === Infinity).length,
    solved: mean(of.map(({ solved }) => solved)),
    beyond: mean(of.map(({ beyond }) => beyond)),
    equal: median(of.map(({ equal }) => equal ?? NaN)),
  };
});
// A kind whose students equal shares never bring to the target has no ratio.
const known = rows.filter(({ students }) => students > 0);
const judged = known.filter(({ adjacent }) => !adjacent).map(({ ratio }) => ratio);
const summary = {
  kinds: known.length,
  median: median(known.map(({ ratio }) => ratio)),
  worst: Math.max(...judged),
  worstSolved: Math.max(...known.map(({ solved }) => solved)),
};
if (options.json) console.log(JSON.stringify({ summary, rows }, undefined, 2));
else {
  console.log("| kind | set | of equal shares' rollouts | lost | on solved levels | beyond | equal shares' rollouts |");
  console.log("| --- | --- | --- | --- | --- | --- | --- |");
  for (const { kind, set, ratio, lost, students, solved, beyond, equal } of rows)
    console.log(
      `| ${kind} | ${set} | ${ratio.toFixed(2)} | ${lost} of ${students} | ${solved.toFixed(2)} | ${beyond.toFixed(2)} | ${equal} |`,
    );
  console.log(
    `median ${summary.median.toFixed(2)}, worst ${summary.worst.toFixed(2)} without adjacent impossible levels`,
  );
}
