/** Turns that are shared twice: between callers, and what a caller is given between its connections. */
import { CALLERS_MAX, type FairQueue, fairQueue } from "./fair-queue.ts";

/** Whose budgets a call comes out of: its token's, or its address's if the server asks for no token (""). */
export function callerName(token: string, peer: string): string {
  return token === "" ? `address ${peer.replace(/:\d+$/, "")}` : `token ${token}`;
}

/** The caller for whom something is asked. */
export interface Party {
  /** A token, a run, or an address: callerName here and runCaller in making/make.ts name it. */
  readonly caller: string;
  /** A connection or a run, which share what the caller is given: who opens many takes nothing from other callers. */
  readonly connection: string;
}

/** The party of a call that belongs to no run. */
export function partyOf({ caller, peer }: { readonly caller: string; readonly peer: string }): Party {
  return { caller: callerName(caller, peer), connection: peer };
}

export interface FairTurns<Item> {
  /** `size`: how much of the room it takes while it waits. */
  add(party: Party, item: Item, size: number): void;
  /** Takes out the item whose turn it is, of all callers or of one; undefined: none waits. */
  next(of?: string): Item | undefined;
  /** What a party was given, in any unit; less than 0 takes back. */
  charge(party: Party, amount: number): void;
  /** What a party will have been given once what it is served now has ended; less than 0: it has. */
  expect(party: Party, amount: number): void;
  remove(party: Party, item: Item): void;
  /**
   * What has to make room for an item of this size: the newest of who has most waiting. Undefined: that is the party
   * itself, or would be, so that it is the item that has to go.
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
