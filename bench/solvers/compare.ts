/**
 * The same instances solved here and by OR-Tools CP-SAT with one worker: whether the values agree, and what time each
 * takes. `node bench/solvers/compare.ts np/clique --count 500 --python PATH`, with a Python that has `ortools`.
 *
 * Ours is the CPU time of the whole process, its compiler's and garbage collector's threads included; theirs is of the
 * search alone, without making the model. Both have solved other instances before, and take turns by a few instances.
 * `--limit 20` gives up on an instance there after so many seconds; then ratios that it enters are at least what is said.
 */
import { parseArgs } from "node:util";
import type { Environment, Parameters } from "../../envs/environment.ts";
import { createProgress } from "../progress.ts";
import { startCpSat } from "./cpsat.ts";
import type { CpSat, Theirs } from "./cpsat.ts";
import { plain } from "./plain.ts";
import { environmentOf, instancesOf, spread, timed, warmUp } from "./timed.ts";
import type { Timed } from "./timed.ts";

/** Instances in a turn. In turns of one, either would pay for the other's use of the caches. */
const TURN = 20;
/** Instances that CP-SAT solves before it is measured: its first takes ten times as long. */
const WARM_UP = 3;

interface Pair {
  readonly ours: Timed;
  readonly theirs: Theirs;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "300" },
    level: { type: "string", default: "benchmark" },
    python: { type: "string", default: "python3" },
    limit: { type: "string" },
    seed: { type: "string", default: "5000" },
  },
});

function writerOf(id: string): (instance: unknown) => unknown {
  const write = plain[id] as ((instance: unknown) => unknown) | undefined;
  if (write === undefined) throw new Error(`no script for ${id}`);
  return write;
}

async function measure(environment: Environment, cpSat: CpSat): Promise<readonly Pair[]> {
  const { id, levels } = environment;
  const write = writerOf(id);
  const parameters = levels.find(({ name }) => name === options.level)?.parameters as Parameters;
  const easiest = levels[0]?.parameters as Parameters;
  for (const instance of instancesOf(environment, easiest, WARM_UP, 1_000_000)) await cpSat.solve(write(instance));
  const instances = instancesOf(environment, parameters, Number(options.count), Number(options.seed));
  warmUp(environment);
  const progress = createProgress(id, instances.length);
  const pairs: Pair[] = [];
  for (let from = 0; from < instances.length; from += TURN) {
    const turn = instances.slice(from, from + TURN).map((instance) => timed(environment, instance));
    for (const ours of turn) {
      pairs.push({ ours, theirs: await cpSat.solve(write(ours.instance)) });
      progress.step();
    }
  }
  progress.stop();
  return pairs;
}

function print(id: string, pairs: readonly Pair[]): void {
  const open = pairs.filter(({ theirs }) => theirs.value === null).length;
  const mismatches = pairs.filter(
    ({ ours: { solution }, theirs: { value } }) => !solution.proven || (value !== null && value !== solution.value),
  ).length;
  const here = pairs.map(({ ours }) => ours.cpuMs);
  const there = pairs.map(({ theirs }) => theirs.seconds * 1000);
  const total = (times: readonly number[]): number => times.reduce((sum, each) => sum + each, 0);
  const [ourSpread, theirSpread] = [spread(here), spread(there)];
  const times = (ratio: number, atLeast: boolean): string => `${atLeast ? "at least " : ""}${ratio.toFixed(1)} times`;
  const inMedian = times(theirSpread.median / ourSpread.median, 2 * open >= pairs.length);
  const inAll = times(total(there) / total(here), open > 0);
  console.log(
    `${id}: ${pairs.length} instances, ${pairs.length - open} solved there, ${mismatches} mismatches; ` +
      `ms ${ourSpread.median.toFixed(3)} against ${theirSpread.median.toFixed(3)} in the median (${inMedian}), ` +
      `p99 ${ourSpread.p99.toFixed(3)} against ${theirSpread.p99.toFixed(3)}, ` +
      `in all ${total(here).toFixed(1)} against ${total(there).toFixed(1)} (${inAll})`,
  );
  if (mismatches > 0) process.exitCode = 1;
}

for (const id of positionals.length > 0 ? positionals : Object.keys(plain)) {
  const cpSat = startCpSat(options.python, id, options.limit);
  try {
    print(id, await measure(environmentOf(id), cpSat));
  } finally {
    cpSat.stop();
  }
}
