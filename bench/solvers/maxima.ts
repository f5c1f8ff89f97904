/**
 * What the largest declared parameters cost: for each corner of each environment's ranges, the CPU time to draw and solve
 * an instance, the widest gap between value and bound, and the most nodes.
 * `node bench/solvers/maxima.ts np/meetings --count 10 --json`
 */
import { parseArgs } from "node:util";
import type { Environment } from "../../envs/environment.ts";
import { environments } from "../../envs/registry.ts";
import { type Corner, cornersOf } from "./corners.ts";
import { environmentOf, gapOf, instancesOf, spread, timed, warmUp } from "./timed.ts";

interface Row {
  readonly environment: string;
  readonly corner: string;
  /** To draw and to solve an instance. */
  readonly cpuMsMedian: number;
  readonly cpuMsMax: number;
  /** Share of the instances. */
  readonly proven: number;
  readonly gapMax: number;
  readonly nodesMax: number;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "10" }, json: { type: "boolean", default: false } },
});
const count = Number(options.count);

function measure(environment: Environment, { name, parameters }: Corner): Row {
  const results = Array.from({ length: count }, (_, seed) => {
    const start = process.cpuUsage();
    const [instance] = instancesOf(environment, parameters, 1, seed);
    const used = process.cpuUsage(start);
    const { cpuMs, solution } = timed(environment, instance);
    return { cpuMs: cpuMs + (used.user + used.system) / 1000, solution };
  });
  const cpuMs = spread(results.map((each) => each.cpuMs));
  return {
    environment: environment.id,
    corner: name,
    cpuMsMedian: cpuMs.median,
    cpuMsMax: cpuMs.max,
    proven: results.filter(({ solution }) => solution.proven).length / count,
    gapMax: Math.max(...results.map(({ solution }) => gapOf(solution))),
    nodesMax: Math.max(...results.map(({ solution }) => solution.nodes)),
  };
}

function print({ corner, cpuMsMedian, cpuMsMax, proven, gapMax, nodesMax }: Row): void {
  const share = (part: number): string => `${(100 * part).toFixed(1)}%`.padStart(8);
  const times = [cpuMsMedian, cpuMsMax].map((ms) => ms.toFixed(0).padStart(8)).join("");
  console.log(`  ${corner.padEnd(100)}${times}${share(proven)}${share(gapMax)}${`${nodesMax}`.padStart(10)}`);
}

/** The worst of an environment's corners: of each column the largest, of `proven` the least. */
function worstOf(rows: readonly Row[]): Row {
  return rows.reduce((worst, row) => ({
    environment: row.environment,
    corner: `the worst of ${rows.length} corners`,
    cpuMsMedian: Math.max(worst.cpuMsMedian, row.cpuMsMedian),
    cpuMsMax: Math.max(worst.cpuMsMax, row.cpuMsMax),
    proven: Math.min(worst.proven, row.proven),
    gapMax: Math.max(worst.gapMax, row.gapMax),
    nodesMax: Math.max(worst.nodesMax, row.nodesMax),
  }));
}

const chosen =
  positionals.length > 0 ? positionals.map(environmentOf) : environments.filter((each) => each.goal !== "satisfy");
const all: Row[] = [];
for (const environment of chosen) {
  if (!options.json) console.log(`\n${environment.id.padEnd(102)}  median     max  proven     gap     nodes`);
  warmUp(environment);
  const rows = cornersOf(environment).map((corner) => {
    const row = measure(environment, corner);
    if (!options.json) print(row);
    return row;
  });
  if (!options.json) print(worstOf(rows));
  all.push(...rows);
}
if (options.json) console.log(JSON.stringify(all, null, 2));
