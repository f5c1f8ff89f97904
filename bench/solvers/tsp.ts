/** How fast np/tsp is solved exactly: per level, then by size. `--count 5000`, `--json`. */
import { parseArgs } from "node:util";
import { solveTsp } from "../../envs/np/tsp/solve/index.ts";
import { euclidean, randomOf, uniform } from "../../test/envs/np/tsp/instances.ts";
import type { Matrix, Random } from "../../test/envs/np/tsp/instances.ts";

interface Group {
  readonly name: string;
  readonly count: number;
  readonly draw: (random: Random) => Matrix;
}

interface Row {
  readonly name: string;
  readonly count: number;
  readonly proven: number;
  /** (value - bound) / value, mean over the instances that were not proven; 0 if all were. */
  readonly gapOpen: number;
  readonly nodesMedian: number;
  readonly nodesMax: number;
  readonly cpuMs: Spread;
  readonly wallMs: Spread;
}

interface Spread {
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

const { values: options } = parseArgs({
  options: { count: { type: "string", default: "1000" }, json: { type: "boolean", default: false } },
});
const count = Number(options.count);

const cities = (min: number, max: number) => (random: Random) => uniform(min + random(max - min + 1), 1, 100, random);
const levels: readonly Group[] = [
  { name: "easy", count, draw: cities(10, 20) },
  { name: "medium", count, draw: cities(20, 30) },
  { name: "hard", count, draw: cities(35, 45) },
  { name: "benchmark", count, draw: cities(45, 55) },
];
const few = Math.ceil(count / 50);
const sizes: readonly Group[] = [60, 80, 100, 150, 200].flatMap((n) => [
  { name: `uniform ${n}`, count: few, draw: cities(n, n) },
  { name: `Euclidean ${n}`, count: Math.ceil(few / 4), draw: (random: Random) => euclidean(n, 1000, random) },
]);

function spread(sample: readonly number[]): Spread {
  const sorted = [...sample].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}

function measure(group: Group, seed: number): Row {
  const random = randomOf(seed);
  const cpu: number[] = [];
  const wall: number[] = [];
  const nodes: number[] = [];
  const gaps: number[] = [];
  for (let k = 0; k < group.count; k++) {
    const distances = group.draw(random);
    const cpuStart = process.cpuUsage();
    const wallStart = performance.now();
    const solution = solveTsp(distances);
    wall.push(performance.now() - wallStart);
    const used = process.cpuUsage(cpuStart);
    cpu.push((used.user + used.system) / 1000);
    nodes.push(solution.nodes);
    if (!solution.proven) gaps.push((solution.value - solution.bound) / solution.value);
  }
  return {
    name: group.name,
    count: group.count,
    proven: 1 - gaps.length / group.count,
    gapOpen: gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length),
    nodesMedian: spread(nodes).median,
    nodesMax: spread(nodes).max,
    cpuMs: spread(cpu),
    wallMs: spread(wall),
  };
}

function print(row: Row): void {
  const cell = (text: string | number, width: number): string => String(text).padStart(width);
  const times = (ms: Spread): string => [ms.median, ms.p99, ms.max].map((x) => cell(x.toFixed(2), 9)).join("");
  const share = `${(100 * row.proven).toFixed(1)}%`;
  const open = row.gapOpen === 0 ? "" : `  open: ${(100 * row.gapOpen).toFixed(2)}% apart`;
  const counts = cell(row.count, 6) + cell(share, 8) + cell(row.nodesMedian, 7) + cell(row.nodesMax, 7);
  console.log(row.name.padEnd(14) + counts + times(row.cpuMs) + times(row.wallMs) + open);
}

// Warm up on seeds of its own, so that the first level is not charged for cold code.
measure({ name: "warm-up", count: 300, draw: cities(10, 55) }, 1);
if (!options.json) {
  const heads = ["median", "p99", "max"].map((head) => head.padStart(9)).join("");
  console.log("".padEnd(42) + "cpu ms".padStart(27) + "wall ms".padStart(27));
  console.log("".padEnd(14) + " count  proven  nodes    max" + heads + heads);
}
const rows = [...levels, ...sizes].map((group, k) => {
  const row = measure(group, 1000 + k);
  if (!options.json) print(row);
  return row;
});
if (options.json) console.log(JSON.stringify(rows, null, 2));
