/** Operators: they change, pause, copy, roll back and delete runs that go on. Faults of machines are here, too. */
import { gunzipSync } from "node:zlib";
import type { Result } from "../../server/curriculum/types.ts";
import { arm, type Runs } from "../server/curriculum/support.ts";
import { configOf, create, remove, type Simulation } from "./clients.ts";
import { call } from "./network.ts";
import { policyFor } from "./scenario.ts";
import type { Server } from "./server.ts";

/** An export that a client holds. */
interface Held {
  readonly runId: string;
  readonly state: Uint8Array;
}

export function savedIn(state: Uint8Array): Uint8Array {
  return gunzipSync(state);
}

async function act<T>({ network }: Simulation, label: string, method: (runs: Runs) => Promise<Result<T>>) {
  const reply = await call(network, label, ({ runs }) => method(runs));
  return reply?.kind === "ok" ? reply.value : undefined;
}

async function exportRun(simulation: Simulation, runId: string, held: Held[]): Promise<void> {
  const { model, ground } = simulation;
  ground.world.count("export");
  const known = model.acknowledgements();
  const exported = await act(simulation, `export ${runId}`, (runs) => runs.export(runId));
  if (exported === undefined) return;
  model.exported(savedIn(exported.state), known);
  held.push({ runId, state: exported.state });
}

/** Imports an export in place or under another id, whatever run has that id now. */
async function importRun(simulation: Simulation, held: readonly Held[]): Promise<void> {
  const { model, ground } = simulation;
  const { world } = ground;
  if (held.length === 0) return;
  const { runId: from, state } = world.rng.pick(held);
  const runId = world.rng.int(0, 3) === 0 ? `${from.split(".")[0]}.copy` : from;
  world.count(runId === from ? "import in place" : "import under another id");
  const askedAt = model.moment();
  model.replacing(runId);
  const restores = world.chance(0.25);
  const imported = await act(simulation, `import ${runId}`, (runs) => runs.import(state, runId, undefined, restores));
  if (imported === undefined) return;
  model.observed(runId, imported.run.state.incarnation, askedAt);
  model.imported(imported.run.state.incarnation, restores);
  model.given(imported.outstanding, false);
}

async function pauseForAWhile(simulation: Simulation, runId: string): Promise<void> {
  const { world } = simulation.ground;
  world.count("paused");
  await act(simulation, `pause ${runId}`, (runs) => runs.pause(runId));
  await world.sleep(world.delayMs(100), "an operator waits to resume");
  await act(simulation, `resume ${runId}`, (runs) => runs.resume(runId));
}

async function maskForAWhile(simulation: Simulation): Promise<void> {
  const { ground, network } = simulation;
  const { world, resourcesDown } = ground;
  const tell = (): void => {
    for (const server of network.servers()) {
      world.after(world.delayMs(20), `${server.name} is told of the judge`, () => {
        if (server.isAlive()) void server.runs.maskArms("judge", resourcesDown.get("judge"));
      });
    }
  };
  world.count("arm masked");
  resourcesDown.set("judge", "it is down");
  tell();
  await world.sleep(world.delayMs(150), "the judge is down");
  resourcesDown.delete("judge");
  tell();
}

/** Arms that an operator may add to a run. */
const MORE_ARMS = ["extra", "more"].map((id) => arm(id, { hard: id === "more" }));

/** Adds and removes arms, and changes sizes, now and then with a policy for the new arms. */
async function changeShape(simulation: Simulation, runId: string): Promise<void> {
  const { world } = simulation.ground;
  const { rng } = world;
  const config = configOf(simulation, runId);
  const added = MORE_ARMS.filter(() => rng.int(0, 3) === 0);
  const removed = ["judged", "scarce", "extra"].filter(() => rng.int(0, 5) === 0);
  const some = <T>(value: T): T | undefined => (rng.int(0, 2) === 0 ? value : undefined);
  const length = config.length === 0 ? 0 : config.length + rng.int(-8, 16);
  const shape = {
    addArms: added,
    removeArms: removed,
    length: some(length),
    numGenerations: some(rng.pick([1, 2, 4, 6])),
    promptsPerUpdate: some(rng.pick([1, 3, 4, 9])),
    policy: some(policyFor(rng, config, added)),
  };
  const changed = await act(simulation, `change the shape of ${runId}`, (runs) => runs.updateShape(runId, shape));
  if (changed === undefined) return;
  world.count("shape changed");
  if (removed.length > 0) world.count("arm removed");
  if (added.length > 0) world.count("arm added");
}

/** Returns the actions that an operator may take, each with its weight. */
function deeds(simulation: Simulation, runId: string, held: Held[]) {
  const { world } = simulation.ground;
  const { rng } = world;
  const weight = (): number => rng.pick([0, 0.5, 1, 2]);
  const change = (label: string, method: (runs: Runs) => Promise<Result<unknown>>) => async (): Promise<void> => {
    world.count(label);
    await act(simulation, `${label} ${runId}`, method);
  };
  const weights = { plain: 1 + weight(), judged: weight(), scarce: weight() };
  const policy = policyFor(rng, configOf(simulation, runId));
  const again = async (): Promise<void> => {
    world.count("run deleted");
    await remove(simulation, runId);
    await world.sleep(world.delayMs(50), "an operator waits to create again");
    if (world.chance(0.7)) await create(simulation, runId);
  };
  return [
    [3, () => exportRun(simulation, runId, held)],
    [2, () => importRun(simulation, held)],
    [0.4, again],
    [1, () => pauseForAWhile(simulation, runId)],
    [1, () => maskForAWhile(simulation)],
    [1, change("weights changed", (runs) => runs.setWeights(runId, weights))],
    [1.5, () => changeShape(simulation, runId)],
    [1, change("policy changed", (runs) => runs.updatePolicy(runId, policy))],
    [0.5, change("policy advanced", (runs) => runs.advance(runId))],
  ] as const;
}

export async function operator(simulation: Simulation, runIds: readonly string[]): Promise<void> {
  const { ground, scenario } = simulation;
  const { world } = ground;
  const held: Held[] = [];
  const everyMs = scenario.everyMs.operator;
  while (everyMs !== Infinity && !simulation.isOver()) {
    await world.sleep(world.delayMs(everyMs), "an operator looks in");
    if (simulation.isOver()) return;
    const choices = deeds(simulation, world.rng.pick(runIds), held);
    let at = world.rng.float() * choices.reduce((sum, [weight]) => sum + weight, 0);
    const chosen = choices.find(([weight]) => (at -= weight) < 0) ?? choices[0];
    const deed = chosen[1]();
    // Some operators do not wait for their last action.
    if (world.chance(0.8)) await deed;
  }
}

/** Kills servers and starts others in their place. */
export async function killer(simulation: Simulation, servers: Server[], start: () => Server): Promise<void> {
  const { ground, scenario } = simulation;
  const { world } = ground;
  const everyMs = scenario.everyMs.server;
  while (everyMs !== Infinity && !simulation.isOver()) {
    await world.sleep(world.delayMs(everyMs), "a server's time has come");
    const victim = world.rng.int(0, servers.length - 1);
    world.count("server killed");
    servers[victim]?.kill();
    await world.sleep(world.delayMs(40), "a server is started");
    servers[victim] = start();
  }
}

/** Begins and ends outages, in which no server can store or make tasks. */
export async function outages(simulation: Simulation): Promise<void> {
  const { ground, scenario } = simulation;
  const { world } = ground;
  const everyMs = scenario.everyMs.outage;
  while (everyMs !== Infinity && !simulation.isOver()) {
    await world.sleep(world.delayMs(everyMs), "an outage is due");
    const kind = world.rng.pick(["store", "source"] as const);
    world.count(`${kind} outage`);
    ground.outages[kind] = true;
    await world.sleep(world.delayMs(60), "an outage ends");
    ground.outages[kind] = false;
  }
}
