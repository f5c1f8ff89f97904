/** Queues work in a fair order at two levels: callers take turns, and so do the connections of one caller. */
import { CALLERS_MAX, type FairQueue, fairQueue } from "./fair-queue.ts";

/**
 * Returns the name under which a call counts for budgets: its token's name, or its address without port if the server
 * asks for no token ("").
 */
export function callerName(token: string, peer: string): string {
  return token === "" ? `address ${peer.replace(/:\d+$/, "")}` : `token ${token}`;
}

/** Caller and connection for which a request counts in a fair queue. */
export interface Party {
  /** Name of a token, a run or an address, as made by callerName or by runCaller in making/make.ts. */
  readonly caller: string;
  /**
   * Id of a connection or of a run. All connections of a caller share its turns, so that opening many connections takes
   * nothing from other callers.
   */
  readonly connection: string;
}

/** Returns the caller and the connection of a call that belongs to no run. */
export function partyOf({ caller, peer }: { readonly caller: string; readonly peer: string }): Party {
  return { caller: callerName(caller, peer), connection: peer };
}

export interface FairTurns<Item> {
  /** Adds an item. `size` is its weight while it waits, see `outweighed`. */
  add(party: Party, item: Item, size: number): void;
  /** Removes and returns the next item, either of all callers or only of the caller `of`. Undefined: no item waits. */
  next(of?: string): Item | undefined;
  /**
   * Adds the cost of work done for a party (caller and connection), in any unit. A negative amount reduces the cost.
   */
  charge(party: Party, amount: number): void;
  /**
   * Adds the expected cost of work that begins for a party (caller and connection). When the work ends, pass the same
   * amount, negative.
   */
  expect(party: Party, amount: number): void;
  remove(party: Party, item: Item): void;
  /**
   * Returns the item to drop when an item of this size arrives at a full queue: the newest item of the party with the
   * most waiting. Undefined: that party is `by` itself, so the arriving item is refused.
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

/**
 * Returns a function that runs work in turns, at most `atOnce` pieces at a time. The next turn goes to the caller whose
 * finished work has cost least so far.
 */
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
  /**
   * Runs `work` when the party has its turn. While the work runs, `expectedCost` counts for the party; afterwards the
   * costs that the work passed to `charge` count instead. Costs have any unit.
   */
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
