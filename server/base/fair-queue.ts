/**
 * Fair queue of several callers. It serves the caller that was given the least work so far, however many items each
 * caller has waiting.
 */

export type FairQueue<Item> = ReturnType<typeof fairQueue<Item>>;

interface Share<Item> {
  given: number;
  /**
   * Expected cost of this caller's work in progress. The cost is not added to `given`, because it may turn out lower,
   * and new callers start with a `given` that an earlier caller had.
   */
  expected: number;
  waiting: number;
  items: { readonly item: Item; readonly size: number }[];
}

/**
 * Maximum number of callers that the queue remembers. When it is reached, the queue forgets the callers without items
 * or current work.
 */
export const CALLERS_MAX = 4096;

/**
 * Creates a queue with start-time fair queuing (Goyal, Vin, Cheng, "Start-time fair queueing", 1997), with the cost of
 * work in place of packet lengths. A caller that was idle starts level with the caller served last, so that idle time
 * earns no credit.
 */
export function fairQueue<Item>() {
  const shares = new Map<string, Share<Item>>();
  let waiting = 0;
  /**
   * Highest `given` that a caller had when it was served. A caller that is new, or whose queue was empty, starts with
   * at least this amount.
   */
  let level = 0;

  const shareOf = (caller: string): Share<Item> => {
    const known = shares.get(caller);
    if (known !== undefined) return known;
    if (shares.size >= CALLERS_MAX)
      for (const [name, { items, expected }] of shares) if (items.length === 0 && expected === 0) shares.delete(name);
    const share = { given: level, expected: 0, waiting: 0, items: [] };
    shares.set(caller, share);
    return share;
  };
  const take = (share: Share<Item>, item: Item): void => {
    const at = share.items.findIndex((each) => each.item === item);
    if (at < 0) return;
    for (const { size } of share.items.splice(at, 1)) {
      share.waiting -= size;
      waiting -= size;
    }
  };
  const nextCaller = (): string | undefined => least(shares, ({ given, expected }) => given + expected);
  const serve = (caller: string, item: Item): void => {
    const share = shareOf(caller);
    level = Math.max(level, share.given);
    take(share, item);
  };

  return {
    /**
     * Adds an item behind the caller's other items. `size` counts in the caller's sum of waiting sizes, see `waiting`.
     */
    add(caller: string, item: Item, size: number): void {
      const share = shareOf(caller);
      if (share.items.length === 0) share.given = Math.max(share.given, level);
      share.items.push({ item, size });
      share.waiting += size;
      waiting += size;
    },
    /**
     * Returns the caller that was given the least work, among the callers with waiting items. Undefined: nothing waits.
     */
    nextCaller,
    /** Removes and returns the first item of the caller that `nextCaller` returns. Undefined: nothing waits. */
    next(): Item | undefined {
      const caller = nextCaller();
      const first = caller === undefined ? undefined : shares.get(caller)?.items[0];
      if (caller !== undefined && first !== undefined) serve(caller, first.item);
      return first?.item;
    },
    /** Removes one of a caller's items because it is served now, and counts the caller as the one served last. */
    serve,
    /** Adds the cost of work done for a caller, in any unit. A negative amount reduces the cost. */
    charge(caller: string, amount: number): void {
      shareOf(caller).given += amount;
    },
    /** Adds the expected cost of a caller's work that begins. When the work ends, pass the same amount, negative. */
    expect(caller: string, amount: number): void {
      shareOf(caller).expected += amount;
    },
    /** Removes an item at any position. */
    remove(caller: string, item: Item): void {
      const share = shares.get(caller);
      if (share !== undefined) take(share, item);
    },
    /** Removes and returns all items for which a test is true. */
    removeWhere(test: (item: Item) => boolean): readonly Item[] {
      return [...shares.values()].flatMap((share) => {
        const { removed = [], left = [] } = Object.groupBy(share.items, ({ item }) =>
          test(item) ? "removed" : "left",
        );
        share.items = left;
        const size = removed.reduce((sum, each) => sum + each.size, 0);
        share.waiting -= size;
        waiting -= size;
        return removed.map(({ item }) => item);
      });
    },
    /** Returns the caller with the largest sum of waiting sizes. Undefined: nothing waits. */
    heaviest: () => least(shares, (share) => -share.waiting),
    /** Returns the item that a caller added last. Undefined: the caller has no waiting items. */
    newest: (caller: string) => shares.get(caller)?.items.at(-1)?.item,
    /** Returns the sum of the waiting sizes of one caller, or of all. */
    waiting: (caller?: string) => (caller === undefined ? waiting : (shares.get(caller)?.waiting ?? 0)),
  };
}

/** Returns the caller for which `by` is least, among the callers with waiting items. The first one wins a tie. */
function least<Item>(shares: ReadonlyMap<string, Share<Item>>, by: (share: Share<Item>) => number): string | undefined {
  let found: readonly [caller: string, value: number] | undefined;
  for (const [caller, share] of shares) {
    const value = share.items.length === 0 ? Infinity : by(share);
    if (value < (found?.[1] ?? Infinity)) found = [caller, value];
  }
  return found?.[0];
}
