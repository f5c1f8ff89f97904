/** A queue that is shared by callers: who has been given least is served first, however much each has waiting. */

export interface FairQueue<Item> {
  /** Adds an item behind the caller's others. `size`: how much it counts while it waits. */
  add(caller: string, item: Item, size: number): void;
  /** The caller that was given least, of those that have something waiting; undefined: none has. */
  nextCaller(): string | undefined;
  /** Takes out the first item of that caller. */
  next(): Item | undefined;
  /** Takes out one of a caller's items, because its turn has come. */
  serve(caller: string, item: Item): void;
  /** What a caller was given, in any unit; less than 0 takes back. */
  charge(caller: string, amount: number): void;
  /** What a caller will have been given once what it is served now has ended; less than 0: it has. */
  expect(caller: string, amount: number): void;
  /** Takes an item out, wherever it is. */
  remove(caller: string, item: Item): void;
  /** Takes out all that a test holds for. */
  removeWhere(test: (item: Item) => boolean): readonly Item[];
  /** The sum of the sizes that wait: of one caller, or of all. */
  waiting(caller?: string): number;
  /** Who has most waiting; undefined: nobody has anything. */
  heaviest(): string | undefined;
  /** The item that was added last; undefined: none of the caller's waits. */
  newest(caller: string): Item | undefined;
}

interface Share<Item> {
  given: number;
  /** Who comes later does not begin behind it, for it may come to less. */
  expected: number;
  waiting: number;
  items: { readonly item: Item; readonly size: number }[];
}

/** Beyond so many callers, those that have nothing waiting are forgotten. */
export const CALLERS_MAX = 4096;

/**
 * Start-time fair queuing (Goyal, Vin, Cheng, "Start-time fair queueing", 1997), with what work has cost in place of
 * lengths of packets: a caller that was away begins where those stand that are served, and saves nothing up.
 */
export function fairQueue<Item>(): FairQueue<Item> {
  const shares = new Map<string, Share<Item>>();
  let waiting = 0;
  /** What the caller had been given that was served last. */
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
    add(caller, item, size) {
      const share = shareOf(caller);
      if (share.items.length === 0) share.given = Math.max(share.given, level);
      share.items.push({ item, size });
      share.waiting += size;
      waiting += size;
    },
    nextCaller,
    next() {
      const caller = nextCaller();
      const first = caller === undefined ? undefined : shares.get(caller)?.items[0];
      if (caller !== undefined && first !== undefined) serve(caller, first.item);
      return first?.item;
    },
    serve,
    charge(caller, amount) {
      shareOf(caller).given += amount;
    },
    expect(caller, amount) {
      shareOf(caller).expected += amount;
    },
    remove(caller, item) {
      const share = shares.get(caller);
      if (share !== undefined) take(share, item);
    },
    removeWhere(test) {
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
    heaviest: () => least(shares, (share) => -share.waiting),
    newest: (caller) => shares.get(caller)?.items.at(-1)?.item,
    waiting: (caller) => (caller === undefined ? waiting : (shares.get(caller)?.waiting ?? 0)),
  };
}

/** Of those that have something waiting; the first of equals. */
function least<Item>(shares: ReadonlyMap<string, Share<Item>>, by: (share: Share<Item>) => number): string | undefined {
  let found: readonly [caller: string, value: number] | undefined;
  for (const [caller, share] of shares) {
    const value = share.items.length === 0 ? Infinity : by(share);
    if (value < (found?.[1] ?? Infinity)) found = [caller, value];
  }
  return found?.[0];
}
