/** An observer: it asks for groups of a run, waits until they are whole, and reopens groups that were closed. */
import { get, getGroups, reopenGroups, type Simulation } from "./clients.ts";

export async function observer(simulation: Simulation, runId: string): Promise<void> {
  const { world } = simulation.ground;
  const everyMs = simulation.scenario.everyMs.observer;
  while (everyMs !== Infinity && !simulation.isOver()) {
    await world.sleep(world.delayMs(everyMs), "an observer looks in");
    if (simulation.isOver()) return;
    const found = await get(simulation, runId);
    if (found?.kind !== "ok" || found.value.state.batchesDrawn === 0) continue;
    const batch = world.rng.int(0, found.value.state.batchesDrawn - 1);
    const waitMs = world.rng.pick([0, 0, 100, 1000]);
    const groups = await getGroups(simulation, runId, { kind: "batch", batch }, waitMs);
    if (groups === undefined) continue;
    world.count("groups looked at");
    const tasks = groups.map(({ task }) => task);
    if (world.chance(0.3)) await getGroups(simulation, runId, { kind: "groups", refs: world.rng.shuffle(tasks) }, 0);
    // Whole groups are among them, and the server refuses to reopen those.
    const closed = groups.filter((group) => group.closed && (group.missing.length > 0 || world.chance(0.1)));
    if (closed.length === 0 || !world.chance(0.6)) continue;
    const count = await reopenGroups(
      simulation,
      runId,
      closed.map(({ task }) => task),
    );
    if (count > 0) world.count("groups opened again");
  }
}
