/** Solves instances of any environment with a solver, and measures it. */
import type { Environment, Parameters, Solution, Solver, SyncEnvironment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import { createRegistry, environments } from "../../envs/registry.ts";

export interface Timed {
  readonly instance: unknown;
  readonly solution: Solution<unknown>;
  readonly cpuMs: number;
  readonly wallMs: number;
}

export interface Spread {
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** Returns the environment of an id, which must be synchronous, as all with a solver are. */
export function environmentOf(id: string): SyncEnvironment {
  const found = createRegistry(environments).find(id);
  if (found.kind !== "found") throw new Error(found.message);
  const { environment } = found;
  if (environment.resource !== undefined) throw new Error(`${id} asks ${environment.resource.name} for its facts`);
  return environment;
}

export function solverOf(environment: Environment): Solver<unknown, unknown> {
  if (environment.solver === undefined) throw new Error(`${environment.id} has no solver`);
  return environment.solver;
}

/** Returns the instances of the seeds from `seed` on, as training issues them. */
export function instancesOf(environment: Environment, parameters: Parameters, count: number, seed: number): unknown[] {
  // Without a goal the environment does not solve instances while it makes them.
  const drawn: Environment = { ...environment, goal: "satisfy" };
  return Array.from({ length: count }, (_, i) => {
    const result = makeGenerated(drawn, { parameters, seed: BigInt(seed + i), split: "train" });
    if (result.kind !== "made") throw new Error(result.message);
    return result.instance;
  });
}

export function timed(environment: Environment, instance: unknown): Timed {
  const solver = solverOf(environment);
  const cpuStart = process.cpuUsage();
  const wallStart = performance.now();
  const solution = solver.solve(instance);
  const wallMs = performance.now() - wallStart;
  const used = process.cpuUsage(cpuStart);
  return { instance, solution, cpuMs: (used.user + used.system) / 1000, wallMs };
}

/** Returns the difference of a value and its bound as a share of the smaller one; as a share of 1 if that is 0. */
export function gapOf({ value, bound }: Solution<unknown>): number {
  return Math.abs(value - bound) / Math.max(1, Math.min(value, bound));
}

/**
 * Warm-up time. With less, the runtime still compiles hot code while the first few hundred short solves are measured.
 */
const WARM_UP_MS = 2000;

/** Solves instances again and again, so that the next measurement does not include the compilation of cold code. */
export function warmUp(environment: Environment): void {
  const instances = environment.levels.flatMap(({ parameters }) =>
    instancesOf(environment, parameters, 150, 1_000_000),
  );
  const started = performance.now();
  do for (const instance of instances) timed(environment, instance);
  while (performance.now() - started < WARM_UP_MS);
}

export function spread(sample: readonly number[]): Spread {
  const sorted = [...sample].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}
