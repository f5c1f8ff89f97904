/**
 * Makes envs/countdown/pool.jsonl: `node test/tools/make-countdown-pool.ts`. The same rows each time.
 *
 * Rows stand for real data, so they come another way than the generator's: numbers and target are drawn apart and
 * evenly, as in the public 3-to-4 set, and kept if the target can be reached. A random tree makes sums of its numbers
 * far more often.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rows, tierOf } from "../../envs/countdown/generate.ts";
import { canonical, type CountdownInstance } from "../../envs/countdown/instance.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";

const ROWS_PER_TIER = 500;

/** Counts of numbers and targets that candidates for a tier are drawn from; tierOf has the last word. */
const RANGES = [
  { tier: "T0", counts: [3], targetMin: 1, targetMax: 30 },
  { tier: "T1", counts: [3, 4], targetMin: 1, targetMax: 75 },
  { tier: "T2", counts: [4], targetMin: 76, targetMax: 150 },
  { tier: "T3", counts: [4], targetMin: 1, targetMax: 999 },
] as const;

export function makeCountdownPool(): string {
  const rng = rngFor("countdown pool", 1);
  const seen = new Set<string>();
  const instances = RANGES.flatMap((range) => {
    const kept: CountdownInstance[] = [];
    while (kept.length < ROWS_PER_TIER) {
      const candidate = drawCandidate(range, rng);
      if (seen.has(canonical(candidate)) || tierOf(candidate) !== range.tier) continue;
      seen.add(canonical(candidate));
      kept.push(candidate);
    }
    return kept;
  });
  return rng
    .shuffle(instances)
    .map(({ numbers, target }) => `${JSON.stringify({ nums: numbers, target })}\n`)
    .join("");
}

function drawCandidate({ counts, targetMin, targetMax }: (typeof RANGES)[number], rng: Rng): CountdownInstance {
  const numbers = Array.from({ length: rng.pick<number>(counts) }, () => rng.int(1, 99));
  return { numbers, target: rng.int(targetMin, targetMax) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(rows.defaultPool.file, makeCountdownPool());
