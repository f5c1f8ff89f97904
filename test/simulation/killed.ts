/**
 * Kills a real server on SQLite again and again, and compares it with one that is left alone. Runs have several
 * policies, waves of a reserve and changes of shape. In another scene a proxy cuts connections and swallows replies,
 * while the run is exported and rolled back to its exports. Choices are seeded, time is real.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ArmChoice,
  createClient,
  type GradusClient,
  type PolicyChoice,
  type RowChoice,
  type RunChoice,
} from "../../clients/ts/src/index.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { CHECKOUT, hostOf, mountedArms, mountedCompletion } from "../support/mounted/killed.ts";
import { adscRun, complete } from "../support/scripted-policy.ts";
import { type ServerProcess, startServerIn, temporaryFolder } from "../support/server-process.ts";
import { differences } from "./compare.ts";
import { type Course, type Crew, noteEnds, type Shapes, trainAll } from "./driver.ts";
import { savedIn } from "./operator.ts";
import { startProxy } from "./proxy.ts";
import { readState } from "./reader-state.ts";
import { readJournal } from "./reader.ts";
import { shortened } from "./reading.ts";
import { newSeen, type Seen, unlike } from "./seen.ts";
import { journalsIn, payloadOf } from "./stored.ts";

/** Time limit, in milliseconds, against hanging. */
const PATIENCE_MS = 600_000;

/** Time without a reply, in milliseconds, after which trainers have lost something. */
const STUCK_MS = 120_000;

const RUN = "killed";
const COPY = "copy";
const PROMPTS = 6;
const GENERATIONS = 4;

/** Scenes: the run's first policy, its later policy, and the server's flags. */
export const scenes = {
  bandit: { before: { kind: "bandit" }, after: { kind: "bandit", alpha: 0.3 } },
  frontier: {
    before: { kind: "frontier" },
    after: { kind: "frontier", armMeasures: { "real/T0": "solved" } },
  },
  own: {
    before: ownPolicy(0.1),
    after: ownPolicy(0.5),
    flags: ["--policies", "examples/policies/weakest-part.ts"],
  },
  // The bandit again, with arms of a Python file whose host is killed before each kill of the server.
  mounted: {
    before: { kind: "bandit" },
    after: { kind: "bandit", alpha: 0.3 },
    flags: ["--python", ".venv/bin/python", "--python", "test/support/mounted/word.py", "--mount-workers", "2"],
  },
  // The default policy over an arm for each environment of a file, most of which grow.
  "mounted, growing": {
    before: { kind: "frontier", practiceScale: 4 },
    after: { kind: "frontier", practiceScale: 4, exploration: 0.3 },
    flags: ["--python", ".venv/bin/python", "--python", "test/support/mounted/several.py", "--mount-workers", "2"],
    grown: [{ environment: "mounted/*", grow: {} }],
  },
  rows: { before: { kind: "bandit" }, after: { kind: "bandit", alpha: 0.3 }, rows: { retireAfter: 2 } },
  // Arms that grow, beside fixed ones.
  growing: {
    before: { kind: "frontier", practiceScale: 4 },
    after: { kind: "frontier", practiceScale: 4, exploration: 0.3 },
    grown: [
      { id: "grown/two", environment: "countdown", grow: { axis: "numbers", start: 2, cap: 5 } },
      { id: "grown/three", environment: "countdown", grow: { axis: "numbers", start: 3 } },
    ],
  },
  // An arm that grows, behind a proxy that cuts connections, in a run that is exported and imported.
  "growing, cut": {
    before: { kind: "frontier", practiceScale: 4 },
    after: undefined,
    grown: [{ id: "grown/three", environment: "countdown", grow: { axis: "numbers", start: 3 } }],
  },
  // Two trainers behind a proxy that cuts them off, and a run that is exported and imported.
  cut: { before: { kind: "bandit" }, after: undefined },
} as const satisfies Readonly<Record<string, Scene>>;

export type SceneName = keyof typeof scenes;

interface Scene {
  readonly before: PolicyChoice;
  /** Later policy. Undefined: the shape is not changed, connections are cut, and the run is rolled back. */
  readonly after: PolicyChoice | undefined;
  readonly flags?: readonly string[];
  /** How the arms with rows choose among them. Undefined: they go through them in order. */
  readonly rows?: RowChoice;
  /**
   * Arms that grow, beside the others. Their groups are more often useless, so a larger reserve keeps an update batch from
   * using it up: a change of shape must come between two batches.
   */
  readonly grown?: readonly ArmChoice[];
}

/** Returns a policy of examples/policies that reads a part of the rewards. */
function ownPolicy(rate: number): PolicyChoice {
  return { kind: "named", name: "weakest-part", parameters: { part: "correctness", worst: 0, rate } };
}

export interface KilledOptions {
  readonly scene: SceneName;
  readonly kills: number;
  readonly seed: number;
  /** Called after each kill. */
  readonly progress?: () => void;
}

export interface Killed {
  readonly violations: readonly string[];
  readonly batches: number;
  readonly tasks: number;
  readonly samples: number;
  /** Number of faults of each kind. */
  readonly faults: Readonly<Record<string, number>>;
}

function shapesFor(batches: number, after: PolicyChoice): Shapes {
  const at = (share: number): number => Math.max(1, Math.floor(share * batches));
  const arm = { id: "late/T1", environment: "countdown", level: "T1" };
  return new Map([
    [at(0.2), { addArms: [arm] }],
    [at(0.4), { numGenerations: 3, promptsPerUpdate: 5 }],
    [at(0.6), { removeArms: ["synthetic/T3"], length: BigInt(batches * PROMPTS + 4) }],
    [at(0.8), { numGenerations: GENERATIONS, policy: after }],
  ]);
}

function choiceFor(batches: number, name: SceneName): RunChoice {
  const adsc = adscRun();
  const { constraints } = adsc.policy;
  const { before, rows, grown = [] }: Scene = scenes[name];
  const fixed = adsc.arms.map((arm) => (rows !== undefined && arm.source === "real" ? { ...arm, rows } : arm));
  const arms = [...fixed, ...grown];
  return adscRun({
    arms: name === "mounted" ? [...arms, ...mountedArms()] : arms,
    policy: { ...before, ...(constraints && { constraints }) },
    length: batches * PROMPTS,
    promptsPerUpdate: PROMPTS,
    numGenerations: GENERATIONS,
    dynamicSampling: { oversampleMax: grown.length > 0 ? 4 : 2, alike: "solved" },
  });
}

function crewFor(name: SceneName, kills: number): Crew {
  const { after }: Scene = scenes[name];
  // More update batches than trainers answer between the kills: the last kill must not come after the end.
  const batches = 8 + kills * (after === undefined ? 4 : 1);
  return {
    run: RUN,
    choice: choiceFor(batches, name),
    trainers: after === undefined ? 2 : 1,
    isRolledBack: after === undefined,
    ...(after && { shapes: shapesFor(batches, after) }),
    textOf: (task, sample) => mountedCompletion(task, sample) ?? complete(task, sample),
  };
}

/** The server's process; each kill brings another. */
interface Host {
  server: ServerProcess | undefined;
}

/** Events that must happen before the last kill, in a run that is cut off and rolled back. */
const CUT = ["cut", "swallow", `import as ${RUN}`, `import as ${COPY}`];

interface Storm {
  readonly options: KilledOptions;
  readonly rng: Rng;
  readonly seen: Seen;
  readonly host: Host;
  readonly start: () => Promise<ServerProcess>;
  readonly count: (fault: string) => void;
  /** Returns whether every event has happened that must happen before the last kill. */
  readonly isComplete: () => boolean;
}

/** Waits for more replies to trainers. 0: returns while the first call is under way. */
async function replies({ seen, rng }: Storm, count: number): Promise<void> {
  const until = seen.replies + count;
  if (count === 0) return void (await sleep(rng.int(0, 20)));
  const stuck = new Error(`trainers wait for ${until - seen.replies} replies, and none came for ${STUCK_MS} ms`);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(stuck), STUCK_MS);
    seen.onReply = () => {
      timer.refresh();
      if (seen.replies < until) return;
      clearTimeout(timer);
      resolve();
    };
  });
}

/** Kills the server at random points, with requests in flight, and restarts it each time but the last. */
async function killAgain(storm: Storm): Promise<void> {
  const { options, rng, host, start, count, isComplete } = storm;
  for (let kills = 0; kills < options.kills; kills++) {
    host.server ??= await start();
    const apart = rng.int(0, Math.floor(1.5 * PROMPTS * GENERATIONS));
    // The host of mounted environments is killed first, and the run goes on meanwhile.
    const python = hostOf(host.server.pid);
    const before = rng.int(Math.min(1, apart), apart);
    await replies(storm, before);
    if (python !== undefined) {
      process.kill(python, "SIGKILL");
      count("host killed");
    }
    if (apart > before) await replies(storm, apart - before);
    while (kills === options.kills - 1 && !isComplete()) await sleep(10);
    await host.server.kill("SIGKILL");
    host.server = undefined;
    count("server killed");
    options.progress?.();
  }
}

/** Exports the run now and then, and imports the newest export in its place or under another id. */
async function rollBack({ rng, count }: Storm, address: string, stop: AbortSignal): Promise<void> {
  const client = createClient(address, { retry: false });
  let held: Uint8Array | undefined;
  while (!stop.aborted) {
    await sleep(rng.int(100, 600));
    const options = { deadlineMs: 30_000, signal: stop };
    try {
      if (held === undefined || rng.int(0, 2) > 0) held = (await client.run(RUN).export(options)).state;
      else {
        const runId = rng.int(0, 2) === 0 ? COPY : RUN;
        await client.run(runId).import(held, options);
        count(`import as ${runId}`);
      }
    } catch {
      // The server is down, or the reply was lost: whether or not the import was made, the run must go on.
      count("export or import without a reply");
    }
  }
  client.close();
}

/** Returns how a server that reads the journals back differs from the reader of the tests. */
async function misread(folder: string, client: GradusClient): Promise<readonly string[]> {
  const journals = journalsIn(folder).map(({ runId, events }) => ({ runId, read: readJournal(events, shortened) }));
  const found: string[] = [];
  for (const { runId, read } of journals) {
    const { state } = await client.run(runId).export();
    const unlikely = [...read.faults, ...differences(read.run, readState(savedIn(payloadOf(state))))];
    found.push(...unlikely.map((what) => `run ${runId} read back: ${what}`));
  }
  return found;
}

/** Hosts find the Python package here, whatever is installed. */
function startIn(folder: string, { flags = [] }: Scene): Promise<ServerProcess> {
  return startServerIn({ ...process.env, PYTHONPATH: CHECKOUT }, folder, ...flags);
}

export async function killedAndNot(options: KilledOptions): Promise<Killed> {
  const { scene, kills, seed } = options;
  using calmFolder = temporaryFolder();
  using stormyFolder = temporaryFolder();
  const crew = crewFor(scene, kills);
  const rngOf = (name: string): Rng => rngFor("trainers", seed, name);
  const never = new AbortController().signal;
  const courseOf = (address: string, seen: Seen, stop: AbortSignal): Course => {
    return { address, seen, stop, deadlineMs: PATIENCE_MS };
  };
  const toTheEnd = async (server: ServerProcess, seen: Seen): Promise<void> => {
    const course = courseOf(server.address, seen, never);
    await trainAll(course, [crew], rngOf);
    await noteEnds(course, [crew]);
    await server.kill("SIGTERM");
  };
  const calm = newSeen();
  await toTheEnd(await startIn(calmFolder.path, scenes[scene]), calm);
  copyFileSync(join(calmFolder.path, "task-keys"), join(stormyFolder.path, "task-keys"));

  const start = (): Promise<ServerProcess> => startIn(stormyFolder.path, scenes[scene]);
  const stormy = newSeen();
  const faults = new Map<string, number>();
  const count = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const host: Host = { server: undefined };
  const portOf = (): number | undefined => host.server && Number(host.server.address.split(":")[1]);
  const proxy = await startProxy(rngFor("proxy", seed), portOf, crew.isRolledBack ? undefined : Infinity);
  const isComplete = (): boolean =>
    !crew.isRolledBack || CUT.every((fault) => faults.has(fault) || proxy.faults.has(fault));
  const storm: Storm = { options, rng: rngFor("kills", seed), seen: stormy, host, start, count, isComplete };
  const over = new AbortController();
  await Promise.all([
    killAgain(storm).finally(() => over.abort()),
    trainAll({ ...courseOf(proxy.address, stormy, over.signal), isStormy: true }, [crew], rngOf).then(() => {
      if (!over.signal.aborted) throw new Error("the run was at its end before its server was killed so often");
    }),
    crew.isRolledBack && rollBack(storm, proxy.address, over.signal),
  ]);
  await proxy.close();

  const server = await start();
  const client = createClient(server.address);
  const violations = await misread(stormyFolder.path, client);
  client.close();
  // If a sample is lost, waiting for the end could last for ever.
  const isWhole = violations.length === 0;
  await (isWhole ? toTheEnd(server, stormy) : server.kill("SIGKILL"));
  return {
    violations: isWhole ? unlike(calm, stormy, crew.isRolledBack) : violations,
    batches: Math.max(0, calm.states.size - 2),
    tasks: calm.tasks.size,
    samples: stormy.rewards.size,
    faults: Object.fromEntries([...faults, ...proxy.faults]),
  };
}
