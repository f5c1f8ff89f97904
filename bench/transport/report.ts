/** The benchmark's results as Markdown. */
import type { CpuInfo } from "node:os";
import { completionBytes } from "./data.ts";
import { completionsOf } from "./measure.ts";
import type { Result, Spread } from "./measure.ts";

export function machineText(cpus: readonly CpuInfo[], nodeVersion: string): string {
  return `${cpus.length} × ${cpus[0]?.model.trim() ?? "unknown CPU"}, ${process.platform} ${process.arch}, Node ${nodeVersion}`;
}

export function resultsTable(machine: string, results: readonly Result[]): string {
  const rows = results.map((result) => {
    const { scenario, ours, minimal, throughputRatio, cpuRatio } = result;
    const completions = completionsOf(scenario);
    const rate = ({ requestsPerSecond }: typeof ours) => Math.round(requestsPerSecond);
    const micros = ({ cpuMicrosPerRequest }: typeof ours) => cpuMicrosPerRequest.toFixed(1);
    const size = `${scenario} (${completions} × ${completionBytes / 1024} KB)`;
    const rates = `${rate(ours)} | ${rate(minimal)} | ${spreadText(throughputRatio)}`;
    return `| ${size} | ${rates} | ${micros(ours)} | ${micros(minimal)} | ${spreadText(cpuRatio)} |`;
  });
  return [
    `${machine}; ${results[0]?.pairs.length ?? 0} pairs`,
    "",
    "| request | ours, /s | minimal, /s | throughput, ours ÷ minimal | ours, µs CPU | minimal, µs CPU | CPU, ours ÷ minimal |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "Ratios: median of the paired ratios (lowest; quartiles; highest).",
  ].join("\n");
}

function spreadText({ min, lowerQuartile, median, upperQuartile, max }: Spread): string {
  const [low, from, middle, to, high] = [min, lowerQuartile, median, upperQuartile, max].map((of) => of.toFixed(2));
  return `**${middle}** (${low}; ${from}–${to}; ${high})`;
}
