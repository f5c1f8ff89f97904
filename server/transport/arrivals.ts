/**
 * Lets new connections in one after another, while no call waits for its turn. To set a connection up takes half a
 * millisecond: hundreds that arrive together would hold up everybody else's calls, and then all send their first.
 */
import type { Server, Socket } from "node:net";
import { fairQueue } from "../base/fair-queue.ts";
import type { Turns } from "./connection-turns.ts";
import type { ResetBudgets } from "./reset-budgets.ts";

/** Longest time between two connections, in milliseconds, while calls wait for their turns. */
const BETWEEN_MS = 10;

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
  let lastMs = 0;
  const letIn = (): void => {
    isWaiting = queue.waiting() > 0;
    if (!isWaiting) return;
    setImmediate(letIn);
    if (!turns.isIdle() && performance.now() - lastMs < BETWEEN_MS) return;
    lastMs = performance.now();
    queue.next()?.();
  };
  const arrive = (socket: Socket, enter: () => void): void => {
    const { remoteAddress = "" } = socket;
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
