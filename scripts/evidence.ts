/**
 * Writes a row of docs/evidence.md from what a benchmark says as JSON, in the place of the row of the same claim.
 *
 *   COMMAND --json > result.json; node scripts/evidence.ts BENCHMARK result.json "MACHINE"
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Result } from "../bench/attacks/report.ts";
import { attacksThatMissed } from "../bench/attacks/report.ts";

interface Benchmark<T> {
  readonly claim: string;
  readonly command: string;
  figure(result: T): string;
}

/** Checked by the benchmark's own types where it is TypeScript; Python's are written down here. */
const benchmark = <T>(row: Benchmark<T>): Benchmark<unknown> => row;

const sorted = (numbers: readonly number[]): readonly number[] => [...numbers].sort((a, b) => a - b);
const at = (numbers: readonly number[], share: number): number =>
  sorted(numbers)[Math.max(0, Math.ceil(share * numbers.length) - 1)] ?? NaN;

/** "1.05 (0.94 to 1.29)": the middle and both ends. */
export function spread(numbers: readonly number[], digits: number): string {
  const [middle, least, most] = [0.5, 0, 1].map((share) => at(numbers, share).toFixed(digits));
  return `${middle} (${least} to ${most})`;
}

interface Felt {
  readonly us_per_sample: Readonly<Record<string, readonly number[]>>;
  readonly next_batch_ms: Readonly<Record<string, readonly number[]>>;
}

interface OpenEnv {
  readonly ratios: readonly number[];
  readonly us_per_completion: Readonly<Record<string, number>>;
}

interface Window {
  readonly window: number;
  readonly ratio: number;
  readonly ratio_min: number;
  readonly ratio_max: number;
}

interface Setting {
  readonly prompts: number;
  readonly completions: number;
  readonly together: number;
  readonly bytesPerSample: number;
}

const benchmarks: Readonly<Record<string, Benchmark<unknown>>> = {
  attacks: benchmark<readonly Result[]>({
    claim:
      "Attacks, beside an idle server asked at the same moments: Step and health p99 ≤ 50 ms and max ≤ 250, or twice and three times the idle server's",
    command: "node bench/attacks/run.ts --rounds 5 --seconds 5",
    figure: (results) =>
      [...Map.groupBy(results, ({ attack }) => attack)]
        .map(([attack, rounds]) => {
          const worst = Math.max(...rounds.map(({ attacked }) => attacked.step.p99Ms));
          return `${attack} ${rounds.length - attacksThatMissed(rounds)} of ${rounds.length} (p99 at most ${worst.toFixed(0)})`;
        })
        .join(", "),
  }),
  felt: benchmark<Felt>({
    claim: "Server CPU of 16 × 4 KB groups that the Python client streams in a run, and its NextBatch of 64",
    command: ".venv/bin/python bench/felt/run.py",
    figure: ({ us_per_sample: { this: micros = [] }, next_batch_ms: { this: waits = [] } }) =>
      `${spread(micros, 1)} µs a sample; NextBatch ${at(waits, 0.5).toFixed(1)} ms in the middle, ` +
      `${at(waits, 0.99).toFixed(1)} at the 99th percentile`,
  }),
  openenv: benchmark<OpenEnv>({
    claim:
      "OpenEnv's own application beside Gradus, the same 4 KB completions, every reward compared: at least 7.5 times less server CPU",
    command: ".venv-openenv/bin/python bench/openenv/run.py",
    figure: ({ ratios, us_per_completion: micros }) =>
      `${spread(ratios, 1)} times, ${ratios.length} rounds by turns; µs a completion: ` +
      Object.entries(micros)
        .map(([name, each]) => `${name} ${each.toFixed(1)}`)
        .join(", "),
  }),
  python_client: benchmark<readonly Window[]>({
    claim:
      "The Python client's stream at most 1.5 times a bare grpcio client's CPU, windows of 64 and 512, seven interleaved pairs",
    command: ".venv/bin/python bench/python_client/run.py",
    figure: (windows) =>
      windows
        .map((each) => `${each.window}: ${each.ratio.toFixed(2)} (${each.ratio_min} to ${each.ratio_max})`)
        .join(", "),
  }),
  journal: benchmark<readonly Setting[]>({
    claim: "The journal at most 64 bytes a sample",
    command: "node bench/journal/run.ts",
    figure: (settings) =>
      settings
        .map(({ prompts, completions, together, bytesPerSample }) => {
          return `${prompts} × ${completions}, ${together} together: ${bytesPerSample}`;
        })
        .join("; "),
  }),
};

/** The table with the row in the place of the one of the same claim, or at its end. */
export function withRow(table: string, claim: string, row: string): string {
  const lines = table.trimEnd().split("\n");
  const place = lines.findIndex((line) => line.startsWith(`| ${claim} |`));
  return `${lines.toSpliced(place < 0 ? lines.length : place, place < 0 ? 0 : 1, row).join("\n")}\n`;
}

if (import.meta.main) {
  const [name = "", file = "", machine = ""] = process.argv.slice(2);
  const found = benchmarks[name];
  if (found === undefined || machine === "") {
    console.error(`usage: node scripts/evidence.ts ${Object.keys(benchmarks).join("|")} result.json "MACHINE"`);
    process.exit(2);
  }
  const path = join(resolve(import.meta.dirname, ".."), "docs/evidence.md");
  const figure = found.figure(JSON.parse(readFileSync(file, "utf8")));
  const date = new Date().toISOString().slice(0, 10);
  const row = `| ${found.claim} | \`${found.command}\` | ${figure} | ${machine}, ${date} |`;
  writeFileSync(path, withRow(readFileSync(path, "utf8"), found.claim, row));
  console.log(row);
}
