/**
 * Makes FORGE-BENCH: 1,000 instances at benchmark level with their proven optima and prompts, in one thread. The digest
 * is over all of them: run it twice, and on two machines.
 *
 * ```
 * node bench/solvers/forge-bench.ts
 * ```
 */
import { createHash } from "node:crypto";
import { makeGenerated } from "../../envs/instances.ts";
import { deriveSeed } from "../../envs/lib/rng.ts";
import { environments } from "../../envs/registry.ts";

const PER_ENVIRONMENT = 100;
const started = performance.now();
const digest = createHash("sha256");
let proven = 0;
let made = 0;
for (const environment of environments.filter(({ id }) => id.startsWith("np/"))) {
  const parameters = environment.levels.find(({ name }) => name === "benchmark")?.parameters ?? {};
  for (let i = 0; i < PER_ENVIRONMENT; i++) {
    const seed = deriveSeed("forge-bench", 2, environment.id, i);
    const result = makeGenerated(environment, { parameters, seed, split: "bench" });
    if (result.kind !== "made") throw new Error(result.message);
    const { instance } = result;
    const { hash, baseline } = result.key;
    made += 1;
    if (baseline?.proven === true) proven += 1;
    digest.update(JSON.stringify([hash, baseline, environment.render(instance, "think_answer")]));
  }
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`${made} tasks, ${proven} proven optimal, ${seconds} s, sha256 ${digest.digest("hex").slice(0, 16)}`);
