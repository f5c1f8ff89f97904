/**
 * Measures how fast instances are solved exactly at each level. The arguments name environments; the default is each one
 * with something to optimise. The largest parameters are in maxima.ts.
 *
 * ```
 * node bench/solvers/run.ts np/clique np/tsp --count 5000 --json
 * ```
 */
import { parseArgs } from "node:util";
import type { Environment, Parameters } from "../../envs/environment.ts";
import { environments } from "../../envs/registry.ts";
import { environmentOf, instancesOf, spread, timed, warmUp } from "./timed.ts";
import type { Spread } from "./timed.ts";

interface Row {
  readonly environment: string;
  readonly name: string;
  readonly count: number;
  readonly proven: number;
  /** |value − bound| / value, mean over the instances that were not proven; 0 if all were. */
  readonly gapOpen: number;
  readonly nodesMedian: number;
  readonly nodesMax: number;
  readonly cpuMs: Spread;
  readonly wallMs: Spread;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "1000" }, json: { type: "boolean", default: false } },
});
const count = Number(options.count);

function measure(environment: Environment, name: string, parameters: Parameters, instances: number): Row {
  const results = instancesOf(environment, parameters, instances, 0).map((instance) => timed(environment, instance));
  const open = results.map(({ solution }) => solution).filter(({ proven }) => !proven);
  const nodes = spread(results.map(({ solution }) => solution.nodes));
  return {
    environment: environment.id,
    name,
    count: instances,
    proven: 1 - open.length / instances,
    gapOpen: open.reduce((sum, s) => sum + Math.abs(s.value - s.bound) / s.value, 0) / Math.max(1, open.length),
    nodesMedian: nodes.median,
    nodesMax: nodes.max,
    cpuMs: spread(results.map(({ cpuMs }) => cpuMs)),
    wallMs: spread(results.map(({ wallMs }) => wallMs)),
  };
}

function print(row: Row): void {
  const cell = (text: string | number, width: number): string => String(text).padStart(width);
  const times = (ms: Spread): string => [ms.median, ms.p99, ms.max].map((x) => cell(x.toFixed(3), 10)).join("");
  const share = `${(100 * row.proven).toFixed(1)}%`;
  const open = row.gapOpen === 0 ? "" : `  open: ${(100 * row.gapOpen).toFixed(1)}% apart`;
  const counts = cell(row.count, 6) + cell(share, 8) + cell(row.nodesMedian, 8) + cell(row.nodesMax, 8);
  console.log(`  ${row.name.padEnd(24)}${counts}${times(row.cpuMs)}${times(row.wallMs)}${open}`);
}

function heading(id: string): void {
  const heads = ["median", "p99", "max"].map((head) => head.padStart(10)).join("");
  console.log(`\n${id.padEnd(26)} count  proven   nodes     max${heads}${heads}   (CPU ms, then wall ms)`);
}

const chosen =
  positionals.length > 0 ? positionals.map(environmentOf) : environments.filter((e) => e.goal !== "satisfy");
const rows: Row[] = [];
for (const environment of chosen) {
  if (!options.json) heading(environment.id);
  warmUp(environment);
  for (const { name, parameters } of environment.levels) {
    const row = measure(environment, name, parameters, count);
    rows.push(row);
    if (!options.json) print(row);
  }
}
if (options.json) console.log(JSON.stringify(rows, null, 2));
