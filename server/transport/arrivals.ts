/**
 * Accepts new connections one after another, with longer pauses while calls wait. Setting up a connection takes half a
 * millisecond, so hundreds at once would delay other callers' calls.
 */
import type { Server, Socket } from "node:net";
import { fairQueue } from "../base/fair-queue.ts";
import type { Turns } from "./connection-turns.ts";
import type { ResetBudgets } from "./reset-budgets.ts";

/**
 * Minimum and maximum pause, in milliseconds, before the next connection is accepted. Between the two, the pause ends
 * once the event loop was mostly idle since the last connection. There is no pause if no call waits and no other
 * address calls.
 */
const BETWEEN_MS = { min: 5, max: 50 };
/**
 * Maximum share of the time since the last accepted connection for which the event loop may have been busy. With a
 * larger share, the next connection waits.
 */
const BUSY_MAX = 1 / 3;

export interface Arrivals {
  /**
   * Begins to control when the server accepts connections. Call it when the server listens. Connections of addresses
   * that have reset too many HTTP/2 streams are refused; other addresses take turns.
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
    // An address that has reset too many streams gets no connection. It is refused here, or below if it resets them
    // while its connection waits.
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
      // The socket is not read until its connection is accepted. Otherwise Node would read 64 KiB of each waiting
      // connection.
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
