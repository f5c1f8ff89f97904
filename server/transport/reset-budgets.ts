/**
 * Limits how many HTTP/2 streams each address may reset. Each reset costs 25 µs, and Node limits resets only for one
 * connection, so a caller could go on with a new connection.
 */
import type { Socket } from "node:net";

/** Number of streams that an address may reset at once. One trainer that cancels its calls resets half as many. */
const RESETS_AT_ONCE = 3200;
/** Number of streams that an address may reset per second in the long run. */
const RESETS_PER_SECOND = 1000;
/**
 * Maximum debt of an address, in resets above its budget. An address with this debt gets no connection for half a
 * minute.
 */
const DEBT_MAX = 30 * RESETS_PER_SECOND;
/** Maximum number of remembered addresses. Beyond it, the address with the oldest reset is forgotten. */
const ADDRESSES_MAX = 4096;

interface Budget {
  readonly credit: number;
  readonly atMs: number;
  /** Whether the budget ran out and has not been full again since. If so, each new connection costs credit too. */
  readonly isSuspect: boolean;
}

const WHOLE: Budget = { credit: RESETS_AT_ONCE, atMs: 0, isSuspect: false };

export interface ResetBudgets {
  /** Returns whether a new connection is allowed, i.e. its address has not reset too many streams. */
  mayConnect(socket: Socket): boolean;
  /**
   * Counts a stream that an address reset. Returns false if its budget is spent; the caller then closes the connection.
   */
  spend(address: string): boolean;
}

/**
 * Creates budgets. Calls `onSpent` with each address whose budget is spent, and again only after the budget was full.
 */
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
    // Each new connection of a suspect address costs credit. Otherwise connections opened at the same moment could all
    // reset streams before the first reset counts.
    if (credit >= 0 && isSuspect) spend(address, RESETS_AT_ONCE);
    return credit >= 0;
  };
  return { mayConnect, spend: (address) => spend(address, 1).credit >= 0 };
}
