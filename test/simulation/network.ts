/** Carries calls of clients to servers, over a network that loses, delays and repeats them. */
import type { Server } from "./server.ts";
import type { World } from "./world.ts";

export interface NetworkFaults {
  readonly requestLost: number;
  readonly replyLost: number;
  /** Probability that a request arrives a second time, soon or long after. */
  readonly repeated: number;
}

export interface Network {
  readonly world: World;
  readonly faults: NetworkFaults;
  /** Servers that can be called; some may be dead. */
  readonly servers: () => readonly Server[];
}

/** A server's work for a call. `signal` aborts when the client is gone. */
export type Operation<T> = (server: Server, signal: AbortSignal) => Promise<T>;

/** Time, in milliseconds, after which a client takes a reply for lost. */
const PATIENCE_MS = 3000;

/** Latest time, in milliseconds, at which a request arrives again. */
export const LATE_MS = 30_000;

function deliver<T>({ world }: Network, label: string, server: Server, operation: Operation<T>) {
  const leaving = new AbortController();
  const done = new Promise<T | undefined>((resolve) => {
    world.after(world.delayMs(2), `${label} reaches ${server.name}`, () => {
      if (!server.isAlive()) return resolve(undefined);
      // A rejection is a failure of the server. The client learns that something failed, but not what was done.
      operation(server, leaving.signal).then(resolve, (error: unknown) => {
        world.note(`${label} failed: ${(error as Error).message}`);
        resolve(undefined);
      });
    });
  });
  return { done, leave: () => leaving.abort() };
}

/** Calls a server. Returns undefined if the client does not learn the outcome. */
export function call<T>(network: Network, label: string, operation: Operation<T>): Promise<T | undefined> {
  const { world, faults, servers } = network;
  const server = world.rng.pick(servers());
  return new Promise((resolve) => {
    const lost = world.fault("request lost", faults.requestLost);
    const request = lost ? undefined : deliver(network, label, server, operation);
    const giveUp = world.after(PATIENCE_MS, `${label} is given up`, () => {
      request?.leave();
      resolve(undefined);
    });
    void request?.done.then((value) => {
      if (world.fault("reply lost", faults.replyLost)) return;
      world.after(world.delayMs(2), `${label} is answered`, () => {
        // If the server has died, the client sees the connection break.
        giveUp();
        resolve(server.isAlive() ? value : undefined);
      });
    });
    if (world.fault("request repeated", faults.repeated)) {
      const laterMs = Math.min(LATE_MS, world.delayMs(world.rng.pick([1, 30, 500])));
      world.after(laterMs, `${label} comes again`, () => {
        void deliver(network, label, world.rng.pick(servers()), operation);
      });
    }
  });
}
