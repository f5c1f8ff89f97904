/** A queue that is shared by callers: who has been given least is served first, however much each has waiting. */

export interface FairQueue<Item> {
  /** Adds an item behind the caller's others. `size`: how much it counts while it waits. */
  add(caller: string, item: Item, size: number): void;
  /** Takes out the first item of the caller that was given least; undefined: none waits. */
  next(): Item | undefined;
  /** What a caller was given, in any unit; less than 0 takes back. */
  charge(caller: string, amount: number): void;
  /** Takes an item out, wherever it is. */
  remove(caller: string, item: Item): void;
  /** Takes out all that a test holds for. */
  removeWhere(test: (item: Item) => boolean): readonly Item[];
  /** The sum of the sizes that wait: of one caller, or of all. */
  waiting(caller?: string): number;
}

interface Share<Item> {
  given: number;
  waiting: number;
  items: { readonly item: Item; readonly size: number }[];
}

/** Beyond so many callers, those that have nothing waiting are forgotten. */
const CALLERS_MAX = 4096;

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
    if (shares.size >= CALLERS_MAX) for (const [name, { items }] of shares) if (items.length === 0) shares.delete(name);
    const share = { given: level, waiting: 0, items: [] };
    shares.set(caller, share);
    return share;
  };
  const drop = (share: Share<Item>, at: number): Item | undefined => {
    const [dropped] = share.items.splice(at, 1);
    if (dropped === undefined) return undefined;
    share.waiting -= dropped.size;
    waiting -= dropped.size;
    return dropped.item;
  };

  return {
    add(caller, item, size) {
      const share = shareOf(caller);
      if (share.items.length === 0) share.given = Math.max(share.given, level);
      share.items.push({ item, size });
      share.waiting += size;
      waiting += size;
    },
    next() {
      let least: Share<Item> | undefined;
      for (const share of shares.values())
        if (share.items.length > 0 && (least === undefined || share.given < least.given)) least = share;
      if (least === undefined) return undefined;
      level = Math.max(level, least.given);
      return drop(least, 0);
    },
    charge(caller, amount) {
      shareOf(caller).given += amount;
    },
    remove(caller, item) {
      const share = shares.get(caller);
      const at = share?.items.findIndex((each) => each.item === item) ?? -1;
      if (share !== undefined && at >= 0) drop(share, at);
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
    waiting: (caller) => (caller === undefined ? waiting : (shares.get(caller)?.waiting ?? 0)),
  };
}
