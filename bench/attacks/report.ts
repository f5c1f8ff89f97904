/** Results of the attacks, and the check that other callers were spared. */
import type { AttackName } from "./attacks.ts";

export interface Latencies {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Latencies that one caller saw of a server. */
export interface Seen {
  readonly step: Latencies;
  readonly health: Latencies;
  readonly nextBatch: Latencies;
}

export interface Result {
  readonly attack: AttackName;
  readonly attacked: Seen;
  /** Latencies of a second, idle server, measured at the same moments: the share that the machine itself adds. */
  readonly idle: Seen;
  /** Largest memory that the attacked server had, above what it had before. */
  readonly memoryOverIdleMiB: number;
  /** Calls of the attackers that ended, a second. */
  readonly callsPerSecond: number;
}

/** Limits on other callers' calls: a time in milliseconds, or a ratio to an idle server if that is slow itself. */
const bars = { p99Ms: 50, maxMs: 250, p99Ratio: 2, maxRatio: 3 };
const BATCH_RATIO = 3;
const MEMORY_MIB = 1024;

export function summary(latencies: readonly number[]): Latencies {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { calls: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function isSpared(attacked: Latencies, idle: Latencies): boolean {
  const p99 = attacked.p99Ms <= Math.max(bars.p99Ms, bars.p99Ratio * idle.p99Ms);
  return p99 && attacked.maxMs <= Math.max(bars.maxMs, bars.maxRatio * idle.maxMs);
}

function isMet({ attacked, idle, memoryOverIdleMiB }: Result): boolean {
  const calls = isSpared(attacked.step, idle.step) && isSpared(attacked.health, idle.health);
  // A call that takes a few milliseconds on an idle server may take three times as long: nobody notices that.
  const batches = attacked.nextBatch.p50Ms <= Math.max(bars.p99Ms, BATCH_RATIO * idle.nextBatch.p50Ms);
  return calls && batches && memoryOverIdleMiB <= MEMORY_MIB;
}

/** Returns a line for each attack, with its rounds one after the other. */
export function table(names: readonly AttackName[], results: readonly Result[]): string {
  const rows = names.map((name) => {
    const rounds = results.filter(({ attack }) => attack === name);
    const each = (text: (result: Result) => string): string => rounds.map(text).join("; ");
    const pair = ({ p99Ms, maxMs }: Latencies): string => `${p99Ms.toFixed(0)}/${maxMs.toFixed(0)}`;
    const ratio =
      (of: (seen: Seen) => number) =>
      ({ attacked, idle }: Result) =>
        (of(attacked) / of(idle)).toFixed(1);
    return [
      name,
      each(({ callsPerSecond }) => callsPerSecond.toPrecision(2)),
      each(({ attacked }) => pair(attacked.step)),
      each(({ idle }) => pair(idle.step)),
      each(ratio(({ step }) => step.p99Ms)),
      each(ratio(({ step }) => step.maxMs)),
      `${each(({ attacked }) => pair(attacked.health))} beside ${each(({ idle }) => pair(idle.health))}`,
      each(ratio(({ nextBatch }) => nextBatch.p50Ms)),
      each(({ memoryOverIdleMiB }) => memoryOverIdleMiB.toFixed(0)),
      `${rounds.length - attacksThatMissed(rounds)} of ${rounds.length}`,
    ].join(" | ");
  });
  return [
    "| attack | its calls a second | Step p99/max, ms | of an idle server at the same moments | p99 ratio | max ratio | health p99/max | NextBatch p50 ratio | memory over idle, MiB | rounds that met the bars |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}

/** Returns how many of the rounds missed a bar. */
export function attacksThatMissed(results: readonly Result[]): number {
  return results.filter((result) => !isMet(result)).length;
}
