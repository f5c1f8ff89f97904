/** Turns that are shared at two levels: between callers, and between the connections of a caller. */
import { CALLERS_MAX, type FairQueue, fairQueue } from "./fair-queue.ts";

/**
 * Returns the name of the caller whose budgets a call counts for: its token, or its address if the server asks for no
 * token ("").
 */
export function callerName(token: string, peer: string): string {
  return token === "" ? `address ${peer.replace(/:\d+$/, "")}` : `token ${token}`;
}

/** Caller of a request. */
export interface Party {
  /** A token, a run or an address. Named by callerName, or by runCaller in making/make.ts. */
  readonly caller: string;
  /** A connection or a run. They share the caller's turns, so that opening many takes nothing from other callers. */
  readonly connection: string;
}

/** Returns the party of a call that belongs to no run. */
export function partyOf({ caller, peer }: { readonly caller: string; readonly peer: string }): Party {
  return { caller: callerName(caller, peer), connection: peer };
}

export interface FairTurns<Item> {
  /** Adds an item. `size` is the room that it takes while it waits. */
  add(party: Party, item: Item, size: number): void;
  /** Removes and returns the next item, of all callers or of one. Undefined: none waits. */
  next(of?: string): Item | undefined;
  /** Adds to the amount that a party was given, in any unit. A negative amount takes back. */
  charge(party: Party, amount: number): void;
  /** Adds to the amount that a party will have been given when its current work ends. Negative: the work has ended. */
  expect(party: Party, amount: number): void;
  remove(party: Party, item: Item): void;
  /**
   * Returns the item that must make room for an item of this size: the newest of the party with the most waiting.
   * Undefined: the party `by` itself would have the most, so its own item must go.
   */
  outweighed(by: Party, size: number): Item | undefined;
}

export function fairTurns<Item>(): FairTurns<Item> {
  const callers = fairQueue<Item>();
  const connections = new Map<string, FairQueue<Item>>();
  const connectionsOf = (caller: string): FairQueue<Item> => {
    const known = connections.get(caller);
    if (known !== undefined) return known;
    if (connections.size >= CALLERS_MAX)
      for (const [name, queue] of connections) if (queue.heaviest() === undefined) connections.delete(name);
    const queue = fairQueue<Item>();
    connections.set(caller, queue);
    return queue;
  };
  return {
    add({ caller, connection }, item, size) {
      connectionsOf(caller).add(connection, item, size);
      callers.add(caller, item, size);
    },
    next(of) {
      const caller = of ?? callers.nextCaller();
      const item = caller === undefined ? undefined : connections.get(caller)?.next();
      if (caller === undefined || item === undefined) return undefined;
      callers.serve(caller, item);
      return item;
    },
    charge({ caller, connection }, amount) {
      callers.charge(caller, amount);
      connections.get(caller)?.charge(connection, amount);
    },
    expect({ caller, connection }, amount) {
      callers.expect(caller, amount);
      connectionsOf(caller).expect(connection, amount);
    },
    remove({ caller, connection }, item) {
      callers.remove(caller, item);
      connections.get(caller)?.remove(connection, item);
    },
    outweighed(by, size) {
      const caller = callers.heaviest();
      const own = caller === undefined ? undefined : connections.get(caller);
      const connection = own?.heaviest();
      if (caller === undefined || own === undefined || connection === undefined) return undefined;
      const outweighs =
        caller === by.caller
          ? own.waiting(connection) > own.waiting(by.connection) + size
          : callers.waiting(caller) > callers.waiting(by.caller) + size;
      if (!outweighs) return undefined;
      return own.newest(connection);
    },
  };
}

/** Does work in its turn: at most `atOnce` pieces at a time, and callers take turns by the cost of what was done for each. */
export function createTurnTaking(atOnce: number) {
  const turns = fairTurns<() => void>();
  let running = 0;
  const beginNext = (): void => {
    for (; running < atOnce; running++) {
      const begin = turns.next();
      if (begin === undefined) return;
      begin();
    }
  };
  /** `expectedCost` counts while the work runs, and what the work passes to `charge` counts afterwards. Any unit. */
  return async <T>(
    party: Party,
    expectedCost: number,
    work: (charge: (cost: number) => void) => Promise<T>,
  ): Promise<T> => {
    await new Promise<void>((begin) => {
      turns.add(party, begin, 1);
      beginNext();
    });
    turns.expect(party, expectedCost);
    let cost = 0;
    try {
      return await work((more) => {
        cost += more;
      });
    } finally {
      turns.expect(party, -expectedCost);
      turns.charge(party, cost);
      running--;
      beginNext();
    }
  };
}
