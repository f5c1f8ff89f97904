/**
 * Streams of HTTP/2 that callers reset, by address. Node bounds the resets of one connection, and each costs 25 µs: a caller
 * that comes again with a new connection each time would begin anew.
 */
import type { Server, Socket } from "node:net";

/** Streams that an address may reset at once, and then each second: twice what one trainer cancels together. */
const RESETS_AT_ONCE = 3200;
const RESETS_PER_SECOND = 1000;
/** So many resets more are remembered: for half a minute an address that goes on has no connection. */
const DEBT_MAX = 30 * RESETS_PER_SECOND;
/** Addresses beyond these are forgotten, that which reset a stream longest ago first. */
const ADDRESSES_MAX = 4096;

interface Budget {
  readonly credit: number;
  readonly atMs: number;
  /** It ran out, and was not whole since: then connections cost too. */
  readonly isSuspect: boolean;
}

const WHOLE: Budget = { credit: RESETS_AT_ONCE, atMs: 0, isSuspect: false };

export interface ResetBudgets {
  /** Refuses connections of addresses whose budget is spent. To be called when the server listens. */
  watch(server: Server): void;
  /** Counts a stream that an address reset; false: its budget is spent, and the connection has to be closed. */
  spend(address: string): boolean;
}

/** `onSpent` is told of each address whose budget is spent, once until the budget is whole again. */
export function createResetBudgets(onSpent: (address: string) => void): ResetBudgets {
  const budgets = new Map<string, Budget>();
  const spend = (address: string, resets: number): Budget => {
    const before = budgets.get(address) ?? WHOLE;
    const atMs = performance.now();
    const gathered = Math.min(RESETS_AT_ONCE, before.credit + ((atMs - before.atMs) * RESETS_PER_SECOND) / 1000);
    const credit = Math.max(-DEBT_MAX, gathered - resets);
    const isSuspect = credit < 0 || (before.isSuspect && gathered < RESETS_AT_ONCE);
    if (isSuspect && !before.isSuspect) onSpent(address);
    const now = { credit, atMs, isSuspect };
    budgets.delete(address);
    budgets.set(address, now);
    const [oldest] = budgets.keys();
    if (budgets.size > ADDRESSES_MAX && oldest !== undefined) budgets.delete(oldest);
    return now;
  };
  const mayConnect = ({ remoteAddress: address = "" }: Socket): boolean => {
    if (!budgets.has(address)) return true;
    const { credit, isSuspect } = spend(address, 0);
    // Many that connect at the same moment would each reset streams before the first of them was counted.
    if (credit >= 0 && isSuspect) spend(address, RESETS_AT_ONCE);
    return credit >= 0;
  };
  return {
    spend: (address) => spend(address, 1).credit >= 0,
    watch(server) {
      const listeners = server.listeners("connection");
      server.removeAllListeners("connection");
      server.on("connection", (socket: Socket) => {
        if (mayConnect(socket)) for (const listener of listeners) Reflect.apply(listener, server, [socket]);
        else socket.destroy();
      });
    },
  };
}
