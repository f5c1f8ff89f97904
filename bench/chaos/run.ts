/**
 * The chaos test at length: schedules of the simulation, seed after seed, until so many samples were acknowledged; then
 * runs of a real server that is killed at random points, which must go on as if it had not been; then runs on replicas.
 * Ends with 1 where anything was lost, counted twice, counted for another, or was another after a kill.
 *
 * ```
 * node bench/chaos/run.ts [--samples 1000000] [--seed 0] [--points 0] [--scene NAME…] [--replicated 0] [--episodes 0] [--json]
 * ```
 *
 * `seed` is the first seed. `points` are the kills of each run that is held against an undisturbed one, 0: none. There is a
 * run for each scene: bandit, frontier, own and rows; growing, with arms that grow, and "growing, cut"; mounted, the bandit over arms of a Python file, whose host is killed
 * before each kill of the server; "mounted, growing", an arm for each environment of a file; and cut, two trainers behind a proxy that cuts them off, while the run is exported and
 * imported. `replicated` are samples of runs on three replicas with PostgreSQL behind HAProxy, against one undisturbed
 * server, 0: none. `episodes` are episodes of eight calls on two replicas, of which one is killed at each call number,
 * against one undisturbed server, 0: none. Each seed that fails is printed with the command that plays it again
 * (test/simulation/README.md).
 */
import { parseArgs } from "node:util";
import { replayOf, simulate } from "../../test/simulation/simulate.ts";
import { killedAndNot, scenes, type SceneName } from "../../test/simulation/killed.ts";
import { againstReplicas } from "../../test/simulation/replicas.ts";
import { episodesOnReplicas } from "../../test/simulation/episodes.ts";
import { createProgress } from "../progress.ts";

const { values: options } = parseArgs({
  options: {
    samples: { type: "string", default: "1000000" },
    seed: { type: "string", default: "0" },
    points: { type: "string", default: "0" },
    scene: { type: "string", multiple: true, default: Object.keys(scenes) },
    replicated: { type: "string", default: "0" },
    episodes: { type: "string", default: "0" },
    json: { type: "boolean", default: false },
  },
});

const played = Object.keys(scenes).filter((name) => options.scene.includes(name)) as SceneName[];

/** Number of violations of a seed that are shown. */
const SHOWN_MAX = 5;

interface Part {
  readonly name: string;
  readonly seeds: number;
  readonly samples: number;
  readonly events: number;
  readonly violations: number;
  readonly minutes: number;
  readonly cpuMinutes: number;
  readonly faults: Readonly<Record<string, number>>;
}

function timed() {
  const [startMs, cpu] = [performance.now(), process.cpuUsage()];
  const minutes = (ms: number): number => Number((ms / 60_000).toFixed(2));
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { minutes: minutes(performance.now() - startMs), cpuMinutes: minutes((user + system) / 1000) };
  };
}

function tellOf(where: string, violations: readonly string[]): void {
  if (violations.length === 0) return;
  console.error(`${violations.length} violations; ${where}`);
  for (const violation of violations.slice(0, SHOWN_MAX)) console.error(`  ${violation}`);
}

async function simulated(samplesWanted: number, first: number): Promise<Part> {
  const ended = timed();
  const progress = createProgress("% of the samples", 100);
  const faults = new Map<string, number>();
  let [samples, events, violations, percent] = [0, 0, 0, 0];
  let seed = first;
  for (; samples < samplesWanted; seed++) {
    const outcome = await simulate({ seed });
    samples += outcome.samples;
    events += outcome.events;
    violations += outcome.violations.length;
    for (const [kind, count] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + count);
    tellOf(`replay: ${replayOf(seed)}`, outcome.violations);
    for (; percent < Math.min(100, (100 * samples) / samplesWanted); percent++) progress.step();
  }
  progress.stop();
  const counts = { seeds: seed - first, samples, events, violations };
  return { name: "simulated", ...counts, ...ended(), faults: Object.fromEntries([...faults].sort()) };
}

async function continued(points: number, seed: number, scene: SceneName): Promise<Part> {
  const ended = timed();
  const progress = createProgress(`kill -9 at random points, ${scene}`, points);
  const outcome = await killedAndNot({ kills: points, seed, scene, progress: () => progress.step() });
  progress.stop();
  const { violations, faults, samples, batches, tasks } = outcome;
  tellOf(`against an undisturbed run, ${scene}`, violations);
  const counts = { seeds: 1, samples, events: 0, violations: violations.length };
  const all = { ...faults, "update batches": batches, tasks };
  return { name: `identical continuation, ${scene}`, ...counts, ...ended(), faults: all };
}

async function replicated(wanted: number, seed: number): Promise<Part> {
  const ended = timed();
  // The total is twice the samples: undisturbed, and in the storm. Without a progress bar the output says enough.
  const progress = createProgress("% of the samples, undisturbed and on replicas", 100);
  let [samplesIn, percent] = [0, 0];
  const onSample = (): void => {
    samplesIn++;
    for (; percent < Math.min(100, (50 * samplesIn) / wanted); percent++) progress.step();
  };
  const tell = process.stderr.isTTY ? () => undefined : console.error;
  const outcome = await againstReplicas({ seed, samples: wanted, store: "postgres", tell, onSample });
  progress.stop();
  const { violations, samples, gapMs, faults } = outcome;
  tellOf("against one undisturbed server", violations);
  const counts = { seeds: 1, samples, events: 0, violations: violations.length };
  return { name: "replicas", ...counts, ...ended(), faults: { ...faults, "longest gap, ms": Math.round(gapMs) } };
}

async function ofTurns(wanted: number, seed: number): Promise<Part> {
  const ended = timed();
  const progress = createProgress("episodes, undisturbed and on replicas", 2 * wanted);
  const outcome = await episodesOnReplicas({ seed, episodes: wanted, onEpisode: () => progress.step() });
  progress.stop();
  const { violations, episodes, calls, twice, kills } = outcome;
  tellOf("episodes against one undisturbed server", violations);
  const counts = { seeds: 1, samples: episodes, events: 0, violations: violations.length };
  const killed = Object.fromEntries(Object.entries(kills).map(([call, count]) => [`kills at call ${call}`, count]));
  return { name: "episodes", ...counts, ...ended(), faults: { calls, "sent twice": twice, ...killed } };
}

const parts: Part[] = [];
if (Number(options.samples) > 0) parts.push(await simulated(Number(options.samples), Number(options.seed)));
if (Number(options.points) > 0)
  for (const scene of played) parts.push(await continued(Number(options.points), Number(options.seed), scene));
if (Number(options.replicated) > 0) parts.push(await replicated(Number(options.replicated), Number(options.seed)));
if (Number(options.episodes) > 0) parts.push(await ofTurns(Number(options.episodes), Number(options.seed)));
if (options.json) console.log(JSON.stringify(parts, undefined, 2));
else {
  console.table(parts.map(({ faults: _faults, ...part }) => part));
  for (const { name, faults } of parts) console.log(`${name}, how often what happened:`, faults);
}
if (parts.some(({ violations }) => violations > 0)) process.exitCode = 1;
