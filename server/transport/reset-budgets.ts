/**
 * Limits, by address, the HTTP/2 streams that callers reset. Node limits the resets of one connection only, and each
 * reset costs 25 µs: a caller could start over with a new connection each time.
 */
import type { Socket } from "node:net";

/**
 * Number of streams that an address may reset at once, and then each second: twice the number that one trainer cancels
 * together.
 */
const RESETS_AT_ONCE = 3200;
const RESETS_PER_SECOND = 1000;
/** Maximum debt of an address in resets: an address that keeps resetting gets no connection for half a minute. */
const DEBT_MAX = 30 * RESETS_PER_SECOND;
/** Maximum number of addresses that are remembered; above it, the address whose last reset is oldest is forgotten. */
const ADDRESSES_MAX = 4096;

interface Budget {
  readonly credit: number;
  readonly atMs: number;
  /** Whether the budget ran out and has not been whole since; if so, connections cost credit too. */
  readonly isSuspect: boolean;
}

const WHOLE: Budget = { credit: RESETS_AT_ONCE, atMs: 0, isSuspect: false };

export interface ResetBudgets {
  /** Returns whether a new connection's address has credit left. */
  mayConnect(socket: Socket): boolean;
  /** Counts a stream that an address reset; false: the budget is spent, and the caller must close the connection. */
  spend(address: string): boolean;
}

/** Calls `onSpent` for each address whose budget is spent, once until the budget is whole again. */
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
    // Charges each connection of a suspect address: connections opened at the same moment would each reset streams
    // before the first reset is counted.
    if (credit >= 0 && isSuspect) spend(address, RESETS_AT_ONCE);
    return credit >= 0;
  };
  return { mayConnect, spend: (address) => spend(address, 1).credit >= 0 };
}
