/**
 * Lets new connections in one after another, while no call waits for its turn. To set a connection up takes half a
 * millisecond: hundreds that arrive together would hold up everybody else's calls, and then all send their first.
 */
import type { Server, Socket } from "node:net";
import { fairQueue } from "../base/fair-queue.ts";
import type { Turns } from "./connection-turns.ts";
import type { ResetBudgets } from "./reset-budgets.ts";

/**
 * Times between two connections, in milliseconds, while calls wait for their turns, or while other addresses call: what
 * a new connection sends first may take tens of milliseconds. The next one waits until the event loop was idle for most
 * of the time since the last one, but no longer than the second time.
 */
const BETWEEN_MS = { min: 5, max: 50 };
/** Largest share of that time for which the event loop was busy. */
const BUSY_MAX = 1 / 3;

export interface Arrivals {
  /**
   * Refuses connections of addresses whose budget of resets is spent, and lets the others in: addresses take turns, and
   * the connections of an address keep their order. Call this when the server listens.
   */
  watch(server: Server): void;
}

export function createArrivals(turns: Turns, resets: Pick<ResetBudgets, "mayConnect">): Arrivals {
  const queue = fairQueue<() => void>();
  let isWaiting = false;
  let last = { atMs: -Infinity, use: performance.eventLoopUtilization() };
  const isTooEarly = (): boolean => {
    const sinceMs = performance.now() - last.atMs;
    if (sinceMs < BETWEEN_MS.min || sinceMs > BETWEEN_MS.max) return sinceMs < BETWEEN_MS.min;
    return performance.eventLoopUtilization(last.use).utilization > BUSY_MAX;
  };
  const letIn = (): void => {
    const address = queue.nextCaller();
    isWaiting = address !== undefined;
    if (address === undefined) return;
    if (isTooEarly() && !(turns.isIdle() && turns.isAlone(address))) return void setTimeout(letIn, BETWEEN_MS.min);
    setImmediate(letIn);
    last = { atMs: performance.now(), use: performance.eventLoopUtilization() };
    queue.next()?.();
  };
  const arrive = (socket: Socket, enter: () => void): void => {
    const { remoteAddress = "" } = socket;
    if (!resets.mayConnect(socket)) return void socket.destroy();
    const begin = (): void => {
      queue.charge(remoteAddress, 1);
      if (socket.destroyed) return;
      if (!resets.mayConnect(socket)) return void socket.destroy();
      socket.resume();
      enter();
    };
    queue.add(remoteAddress, begin, 1);
    if (isWaiting) return;
    isWaiting = true;
    setImmediate(letIn);
  };
  return {
    watch(server) {
      // The system keeps what a waiting connection sends. Otherwise Node would read 64 KiB of each.
      Object.assign(server, { pauseOnConnect: true });
      const listeners = server.listeners("connection");
      server.removeAllListeners("connection");
      server.on("connection", (socket: Socket) => {
        arrive(socket, () => {
          for (const listener of listeners) Reflect.apply(listener, server, [socket]);
        });
      });
    },
  };
}
