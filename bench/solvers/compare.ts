/**
 * The same instances solved here and by OR-Tools CP-SAT with one worker: whether the values agree, and what CPU time
 * each takes. `node bench/solvers/compare.ts np/clique --count 500 --python PATH`, with a Python that has `ortools`.
 * `--limit 20` gives up on an instance there after so many seconds, and counts it as not solved.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import type { Parameters } from "../../envs/environment.ts";
import { plain } from "./plain.ts";
import { environmentOf, instancesOf, spread, timed, warmUp } from "./timed.ts";
import type { Timed } from "./timed.ts";

interface Theirs {
  /** null: not solved within the limit. */
  readonly value: number | null;
  /** CPU time of the search alone: the model is built before. */
  readonly seconds: number;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "300" },
    level: { type: "string", default: "benchmark" },
    python: { type: "string", default: "python3" },
    limit: { type: "string" },
  },
});

function solveThere(id: string, ours: readonly Timed[]): readonly Theirs[] {
  const write = plain[id] as ((instance: unknown) => unknown) | undefined;
  if (write === undefined) throw new Error(`no script for ${id}`);
  const input = ours.map(({ instance, solution }) =>
    JSON.stringify({ environment: id, instance: write(instance), value: solution.value }),
  );
  const script = new URL(`cpsat/${id.replace("np/", "")}.py`, import.meta.url).pathname;
  const limit = options.limit === undefined ? [] : [options.limit];
  const run = spawnSync(options.python, [script, ...limit], {
    input: input.join("\n"),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  const lines = run.stdout.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Theirs);
}

for (const id of positionals.length > 0 ? positionals : Object.keys(plain)) {
  const environment = environmentOf(id);
  const parameters = environment.levels.find(({ name }) => name === options.level)?.parameters as Parameters;
  warmUp(environment);
  const ours = instancesOf(environment, parameters, Number(options.count), 5_000).map((each) =>
    timed(environment, each),
  );
  const theirs = solveThere(id, ours);
  const solved = theirs.filter(({ value }) => value !== null).length;
  const mismatches = ours.filter(
    ({ solution }, i) => !solution.proven || (theirs[i]?.value !== null && solution.value !== theirs[i]?.value),
  ).length;
  const [here, there] = [ours.map(({ cpuMs }) => cpuMs), theirs.map(({ seconds }) => seconds * 1000)];
  const total = (times: readonly number[]): number => times.reduce((sum, each) => sum + each, 0);
  const [ourSpread, theirSpread] = [spread(here), spread(there)];
  console.log(
    `${id}: ${ours.length} instances, ${solved} solved there, ${mismatches} mismatches; CPU ms ${ourSpread.median.toFixed(3)} against ` +
      `${theirSpread.median.toFixed(3)} in the median (${(theirSpread.median / ourSpread.median).toFixed(1)} times), ` +
      `p99 ${ourSpread.p99.toFixed(3)} against ${theirSpread.p99.toFixed(3)}, in all ${(total(there) / total(here)).toFixed(1)} times`,
  );
}
