/**
 * Looks for relabelled twins in different splits, at every level of all environments or of those named. The exit code is
 * 1 if there are any. Needs a Python with igraph. `--by instance` decides the split by the instance as it is written
 * down, to show what would then be found.
 *
 *   node bench/splits/run.ts [environment…] [--tasks 1000] [--python python3] [--by names-and-order|instance] [--json]
 */
import { parseArgs } from "node:util";
import type { Environment } from "../../envs/environment.ts";
import { environments } from "../../envs/registry.ts";
import { createProgress } from "../progress.ts";
import { environmentOf } from "../solvers/timed.ts";
import { blissLabelling, type Twins, twinsOf } from "./twins.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tasks: { type: "string", default: "1000" },
    python: { type: "string", default: "python3" },
    by: { type: "string", default: "names-and-order" },
    json: { type: "boolean", default: false },
  },
});

/** Split by the instance itself, as before there were invariants. */
function byInstance(environment: Environment): Environment {
  return { ...environment, invariant: (instance) => environment.canonical(instance) };
}

function print(name: string, cells: readonly (string | number)[]): void {
  console.log(name.padEnd(30) + cells.map((cell) => `${cell}`.padStart(13)).join(""));
}

const tasks = Number(options.tasks);
const labelling = blissLabelling(options.python);
const chosen = positionals.length > 0 ? positionals.map(environmentOf) : environments;
const reports: ({ readonly environment: string; readonly level: string } & Twins)[] = [];
const progress = createProgress("levels", chosen.flatMap(({ levels }) => levels).length);
if (!options.json) print(`of ${tasks} a split`, ["classes", "eval twins", "bench twins", "mislabelled"]);
for (const environment of chosen) {
  for (const level of environment.levels) {
    const asked = options.by === "instance" ? byInstance(environment) : environment;
    const twins = twinsOf(asked, level, tasks, labelling);
    progress.step();
    reports.push({ environment: environment.id, level: level.name, ...twins });
    if (twins.eval + twins.bench + twins.mislabelled > 0) process.exitCode = 1;
    const cells = [twins.classes, twins.eval, twins.bench, twins.mislabelled];
    if (!options.json) print(`${environment.id} ${level.name}`, cells);
  }
}
progress.stop();
if (options.json) console.log(JSON.stringify(reports, null, 2));
