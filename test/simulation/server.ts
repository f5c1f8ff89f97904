/** A server of a world: the real coordinator of runs over a store, a clock and a source that live in virtual time. */
import type { Clock } from "../../server/base/clock.ts";
import { createRuns } from "../../server/runs/runs.ts";
import type { Store } from "../../server/stores/store.ts";
import type { Made, Runs, TaskSource } from "../server/curriculum/support.ts";
import { type SharedStore, type StoreFaults, storeOf } from "./store.ts";
import type { World } from "./world.ts";

export interface Server {
  readonly name: string;
  readonly runs: Runs;
  readonly world: World;
  isAlive(): boolean;
  /** Kills the server as kill -9 does: all its work stops without notice. */
  kill(): void;
}

/** Faults of servers, and how far they make tasks ahead. */
export interface ServerFaults {
  readonly store: StoreFaults;
  /** Probability that a task cannot be made now. */
  readonly sourceUnavailable: number;
  /** Tasks that are made ahead of their draw; 0: none. */
  readonly aheadMax: number;
}

/** Things that all servers of a world share. */
export interface Ground {
  readonly world: World;
  readonly shared: SharedStore;
  readonly source: TaskSource;
  readonly faults: ServerFaults;
  /** Stretches of time in which nothing can be stored, or made, by anyone. */
  readonly outages: { store: boolean; source: boolean };
  /** Resources that are down, by name, with the reason. */
  readonly resourcesDown: Map<string, string>;
  readonly newIncarnation: () => string;
}

/** Planted bug of the server, to check that the simulation finds it. */
export interface Plant {
  readonly store?: (store: Store, ground: Ground) => Store;
  readonly runs?: (runs: Runs, ground: Ground) => Runs;
  readonly newIncarnation?: (ground: Ground) => () => string;
  readonly source?: (source: TaskSource, ground: Ground) => TaskSource;
}

export function clockOf(world: World, name: string, isAlive: () => boolean): Clock {
  // Clocks of two machines never agree.
  const skewMs = world.rng.int(-50, 50);
  const later = (delayMs: number, label: string, callback: () => void): (() => void) =>
    world.after(delayMs, `${name} ${label}`, () => {
      if (isAlive()) callback();
    });
  return {
    now: () => Math.floor(world.nowMs()) + skewMs,
    setTimer: (delayMs, callback) => later(delayMs + world.delayMs(0.2), "timer", callback),
    nextTurn: (callback) => void later(world.delayMs(0.02), "next turn", callback),
  };
}

function sourceOf({ world, source, faults, outages }: Ground, name: string, isAlive: () => boolean): TaskSource {
  const unavailable: Made = {
    kind: "unavailable",
    message: "too many tasks wait to be made on this server: try again later",
    retryDelayMs: 20,
  };
  return {
    ...source,
    make: (places, signal, runId) =>
      new Promise((resolve) => {
        const make = async (): Promise<void> => {
          if (!isAlive()) return;
          if (signal.aborted) return resolve(places.map(() => ({ kind: "cancelled" })));
          if (outages.source) return resolve(places.map(() => unavailable));
          const made = await source.make(places, signal, runId);
          resolve(made.map((each) => (world.fault("task not made", faults.sourceUnavailable) ? unavailable : each)));
        };
        world.after(world.delayMs(2), `${name} tasks made`, () => void make());
      }),
  };
}

export function startServer(ground: Ground, name: string, plant: Plant = {}): Server {
  const { world, shared, faults, outages } = ground;
  let alive = true;
  const isAlive = (): boolean => alive;
  const seen = storeOf(world, shared.store, { name, isAlive, storeIsDown: () => outages.store }, faults.store);
  const source = sourceOf(ground, name, isAlive);
  const runs = createRuns({
    store: plant.store?.(seen, ground) ?? seen,
    source: plant.source?.(source, ground) ?? source,
    clock: clockOf(world, name, isAlive),
    newIncarnation: plant.newIncarnation?.(ground) ?? ground.newIncarnation,
    ...(faults.aheadMax > 0 && { aheadMax: faults.aheadMax }),
  });
  // The server finds out by itself which resources are down.
  for (const resource of ground.resourcesDown.keys()) {
    world.after(world.delayMs(20), `${name} looks for ${resource}`, () => {
      if (alive) void runs.maskArms(resource, ground.resourcesDown.get(resource));
    });
  }
  return {
    name,
    world,
    isAlive,
    runs: plant.runs?.(runs, ground) ?? runs,
    kill: () => {
      alive = false;
    },
  };
}
