/** Simulates one seed from its first event to the verdict. */
// First: it changes how the code under test is loaded.
import "./zlib-in-line.ts";
import { readState } from "../../server/runs/journal.ts";
import type { Store } from "../../server/stores/store.ts";
import { codecs, savedState, feedbackOf, type Key, type Spec, type Task, value } from "../server/curriculum/support.ts";
import {
  configOf,
  create,
  firstOpenCursor,
  get,
  nextBatch,
  sendAdvantages,
  sendSamples,
  type Simulation,
} from "./clients.ts";
import { differences, historyDifferences } from "./compare.ts";
import { createModel } from "./model.ts";
import { LATE_MS } from "./network.ts";
import { observer } from "./observer.ts";
import { killer, operator, outages, savedIn } from "./operator.ts";
import { readState as readSaved } from "./reader-state.ts";
import { readJournal } from "./reader.ts";
import { firstOf } from "./reading.ts";
import { scenarioFor, sourceFor } from "./scenario.ts";
import { clockOf, type Ground, type Plant, type Server, startServer } from "./server.ts";
import { sharedStore } from "./store.ts";
import { trainer } from "./trainer.ts";
import { firstDifference } from "./undisturbed.ts";
import { judge, readAll, type Read } from "./verdict.ts";
import { createWorld } from "./world.ts";

export interface Outcome {
  readonly seed: number;
  /** Violations that were found, each in words. */
  readonly violations: readonly string[];
  /** Samples whose record was acknowledged. */
  readonly samples: number;
  readonly events: number;
  /** Number of occurrences by event. */
  readonly faults: ReadonlyMap<string, number>;
  /** Equal for two runs of one seed. */
  readonly digest: string;
}

export interface Options {
  readonly seed: number;
  readonly plant?: Plant;
  readonly trace?: ((line: string) => void) | undefined;
}

/** Virtual time that trainers have under faults, and then without. */
const STORMY_MS = 10_000;
const CALM_MS = 600_000;

function build({ seed, plant = {}, trace }: Options) {
  const world = createWorld({ seed, trace });
  const scenario = scenarioFor(world.rng);
  const shared = sharedStore();
  let incarnations = 0;
  const ground: Ground = {
    world,
    shared,
    faults: scenario.server,
    outages: { store: false, source: false },
    resourcesDown: new Map(),
    source: sourceFor(world.rng.int(0, 2) === 0 ? 12_000 : 0),
    newIncarnation: () => `i${incarnations++}`,
  };
  let started = 0;
  const start = (): Server => startServer(ground, `s${started++}`, plant);
  const servers = Array.from({ length: scenario.servers }, start);
  const model = createModel();
  for (const [runId, { groupTimeoutMs }] of scenario.configs) if (groupTimeoutMs !== undefined) model.closing(runId);
  const over = { now: false };
  const simulation: Simulation = {
    ground,
    scenario,
    model,
    network: { world, faults: scenario.network, servers: () => servers },
    isOver: () => over.now,
  };
  return { simulation, servers, start, over };
}

type Built = ReturnType<typeof build>;

async function storm({ simulation, servers, start, over }: Built): Promise<void> {
  const { ground, scenario } = simulation;
  const runIds = [...scenario.configs.keys()];
  const trainers = runIds.flatMap((runId) =>
    Array.from({ length: scenario.trainers }, (_, rank) => trainer(simulation, runId, rank)),
  );
  const others = [
    operator(simulation, [...runIds, ...runIds.map((id) => `${id}.copy`)]),
    ...runIds.map((runId) => observer(simulation, runId)),
    killer(simulation, servers, start),
    outages(simulation),
  ];
  const time = ground.world.sleep(STORMY_MS, "the storm ends");
  await Promise.race([Promise.all(trainers), time]);
  over.now = true;
  await Promise.all([...trainers, ...others]);
}

/** Answers every sample of some tasks. */
async function answer(simulation: Simulation, runId: string, tasks: readonly Task[]): Promise<void> {
  const config = configOf(simulation, runId);
  if (config.feedbackSource === "step") {
    const items = tasks.flatMap((task) => feedbackOf([task], task.numGenerations));
    while ((await sendSamples(simulation, runId, items)) === undefined) continue;
    return;
  }
  for (const { incarnation, cursor } of tasks) {
    const report = { incarnation, cursor, advantages: [0.5], rewardMean: 0.5 };
    while ((await sendAdvantages(simulation, runId, report)) === undefined) continue;
  }
}

/** After the last fault a run continues: from its first open batch to two batches past the drawn ones. */
async function finish(simulation: Simulation, runId: string): Promise<void> {
  const found = await get(simulation, runId);
  if (found?.kind !== "ok") return;
  const end = found.value.state.batchesDrawn + 2;
  let cursor = (await firstOpenCursor(simulation, runId)) ?? found.value.state.cursor;
  for (;;) {
    const reply = await nextBatch(simulation, runId, { cursor, count: 64, waitMs: 1000 });
    if (reply?.kind !== "ok") {
      const refused = reply === undefined ? "nothing" : reply.kind === "unavailable" ? undefined : reply.message;
      if (refused !== undefined) throw new Error(`run ${runId} does not go on at ${cursor}: ${refused}`);
      continue;
    }
    const { tasks, nextCursor, done } = reply.value;
    await answer(simulation, runId, tasks);
    cursor = nextCursor;
    const now = await get(simulation, runId);
    if (done || (now?.kind === "ok" && now.value.state.batchesClosed >= end)) return;
  }
}

async function calm({ simulation, servers, start }: Built): Promise<void> {
  const { ground, scenario, network } = simulation;
  ground.world.calmDown();
  ground.outages.store = ground.outages.source = false;
  ground.resourcesDown.clear();
  for (const [i, server] of servers.entries()) if (!server.isAlive()) servers[i] = start();
  await ground.world.sleep(2 * LATE_MS, "the last of the storm passes");
  for (const runId of scenario.configs.keys()) await create(simulation, runId);
  const runIds = [...scenario.configs.keys()].flatMap((id) => [id, `${id}.copy`]);
  for (const runId of runIds) {
    const { runs } = network.servers()[0] as Server;
    await runs.resume(runId);
    await finish(simulation, runId);
  }
}

/** Returns how the servers' final view of a run, alive and read back, differs from the reader's own. */
async function compareWithServers(built: Built, { runId, events, reading }: Read): Promise<string[]> {
  const { simulation, servers } = built;
  const { store } = simulation.ground.shared;
  const row = await store.find(runId);
  if (row === undefined) return [];
  const clock = clockOf(simulation.ground.world, "a reader", () => true);
  const without: Store = { ...store, snapshot: async () => undefined };
  const readings = new Map<string, Uint8Array>();
  for (const [name, from] of [
    ["read from its journal", without],
    ["read from its snapshot", store],
  ] as const) {
    const state = await readState<Spec, Key>(from, row, codecs, clock);
    if (state !== undefined) readings.set(name, savedState(state, codecs));
  }
  for (const server of servers)
    readings.set(`on ${server.name}`, savedIn(value(await server.runs.export(runId)).state));
  // Reading a run may change it, such as where an arm is no longer masked.
  const now = await journalOf(store, row.key);
  const expected = now.length === events.length ? reading : readJournal(now, firstOf);
  const history = value(await (servers[0] as Server).runs.history(runId, 0, 10_000)).items;
  const untold = historyDifferences(readJournal(await journalOf(store, row.key), firstOf).run, history);
  const unlike = [...readings].flatMap(([name, saved]) => {
    const state = readSaved(saved);
    const at = state.version === expected.run.version ? expected : readJournal(now.slice(0, state.version), firstOf);
    return differences(at.run, state).map((difference) => `run ${runId} ${name}: ${difference}`);
  });
  return [...unlike, ...untold.map((difference) => `run ${runId}: ${difference}`)];
}

async function journalOf(store: Store, key: number): Promise<readonly Uint8Array[]> {
  return (await store.read(key, 0)) ?? [];
}

async function check(built: Built): Promise<void> {
  const { simulation } = built;
  const { model, ground } = simulation;
  const journals = readAll(ground.shared.journals().values(), firstOf);
  judge(journals, model);
  if (model.violations.length > 0) return;
  for (const [key, journal] of ground.shared.journals()) {
    const read = journals.all.find(({ events }) => events === journal.events);
    if (read === undefined) continue;
    const difference = await firstDifference(journals, read, ground.source);
    if (difference !== undefined) model.violate(`run ${read.runId} draws otherwise than undisturbed: ${difference}`);
    if ((await ground.shared.store.find(read.runId))?.key !== key) continue;
    for (const found of await compareWithServers(built, read)) model.violate(found);
  }
}

export async function simulate(options: Options): Promise<Outcome> {
  const built = build(options);
  const { model, ground } = built.simulation;
  const { world } = ground;
  try {
    await world.play(storm(built), STORMY_MS + CALM_MS);
    await world.play(calm(built), CALM_MS);
    await world.play(check(built), CALM_MS);
  } catch (error) {
    model.violate(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const reported = model.reports().reduce((sum, { advantages }) => sum + advantages.length, 0);
  const samples = model.acknowledged().length + reported;
  return { seed: options.seed, samples, faults: world.faults, ...told(built) };
}

function told({ simulation: { model, ground } }: Built): Pick<Outcome, "violations" | "events" | "digest"> {
  return { violations: model.violations, events: ground.world.events(), digest: ground.world.digest() };
}

export function replayOf(seed: number): string {
  return `SIMULATION_SEED=${seed} SIMULATION_TRACE=1 node node_modules/vitest/vitest.mjs run test/simulation -t whatever`;
}
