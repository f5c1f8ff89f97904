/**
 * What the servers of one store tell each other, each by a row of its own that it writes every so often: what it is made of,
 * which of its resources are down, and whom it replaces. From the same rows each knows the store's time, and which
 * resources nobody can ask.
 */
import type { Clock } from "../base/clock.ts";
import type { Meeting, ReplicaStore, StoredReplica } from "../stores/replica-store.ts";
import { storeClock } from "./clock.ts";
import { differences, type Identity, nameOf } from "./identity.ts";
import { keyTrouble } from "./keys.ts";

/** How often each writes its row. */
const BEAT_MS = 2_000;
/** One whose row is older does not count: it was killed, or has not reached the store for some beats. */
const ALIVE_MS = 10_000;
/** Its row is deleted. */
const FORGET_MS = 60_000;

/** A row's body. */
interface Told {
  readonly identity: Identity;
  /** Why a resource cannot be asked, by its name. */
  readonly down: Readonly<Record<string, string>>;
  /** The names of the identities that it replaces. */
  readonly replaces: readonly string[];
  /** It takes no more calls. */
  readonly isReplaced: boolean;
}

interface Other extends Told, Omit<StoredReplica, "body"> {}

export interface FleetOptions {
  readonly store: ReplicaStore;
  /** Never used by another process; it is shown to operators. */
  readonly id: string;
  readonly identity: () => Identity;
  /** Those that are here already and differ are to make way; else this server is refused. */
  readonly drainOthers: boolean;
  /** This machine's. */
  readonly clock: Clock;
  /** Waits, with what keeps the process alive. */
  readonly pause: (ms: number) => Promise<void>;
  /** Told why this server may have to wait: who is in its way may have been killed a moment ago. */
  readonly onWait?: (reason: string) => void;
}

export interface FleetListener {
  /** Told of each resource that no replica can ask, and why; undefined: one can again. */
  readonly onDown: (resource: string, reason: string | undefined) => void;
  /** Told which resource of this server is down that another can ask, and undefined when there is none any more. */
  readonly onLack: (resource: string | undefined) => void;
  /** Told how this server's keys came to differ from those of the others, and undefined when they no longer do. */
  readonly onKeys: (trouble: string | undefined) => void;
  /** Told once, with whom it is that this server makes way for. */
  readonly onReplaced: (by: string) => void;
  /** Told why no row could be written, and undefined when it can be again. */
  readonly onProblem: (error: unknown) => void;
}

export interface Member {
  readonly id: string;
  readonly ageMs: number;
}

export interface Fleet {
  /** The store's time. */
  readonly clock: Clock;
  /** Goes on telling the others that this server is there, and hears of them. */
  start(listener: FleetListener): void;
  /** Says that a resource of this server is down, and why; undefined: it is asked again. */
  tell(resource: string, down: string | undefined): void;
  /** This server and the others, by id, and how long ago each was last heard of. */
  members(): readonly Member[];
  /** Looks at the others again, once all is mounted, and gives why this server may not serve beside them. */
  differs(): Promise<string | undefined>;
  /** No longer one of them; closes the store of replicas. */
  leave(): Promise<void>;
}

export type Joined =
  | { readonly kind: "joined"; readonly fleet: Fleet }
  /** This server may not serve beside those that are there; a sentence each. */
  | { readonly kind: "refused"; readonly message: string };

function othersIn({ nowMs, replicas }: Meeting, ownId: string): readonly Other[] {
  // Where the store's clock was set back, those who are there have written theirs anew since.
  const alive = ({ id, seenAtMs }: StoredReplica): boolean => id !== ownId && Math.abs(nowMs - seenAtMs) <= ALIVE_MS;
  return replicas.filter(alive).map(({ body, ...row }) => ({ ...(JSON.parse(body) as Told), ...row }));
}

/** Why this server may not serve beside those that came before it, and because of whom. */
interface Refusal {
  readonly by: Other;
  readonly message: string;
}

function refusal(identity: Identity, earlier: readonly Other[], drainOthers: boolean): Refusal | undefined {
  const name = nameOf(identity);
  const replacing = earlier.find(({ replaces }) => replaces.includes(name));
  if (replacing !== undefined) {
    const differing = differences(identity, replacing.identity).join("; ");
    return { by: replacing, message: `replica ${replacing.id} is replacing servers like this one: ${differing}` };
  }
  if (drainOthers) return undefined;
  const unlike = earlier
    .filter(({ isReplaced }) => !isReplaced)
    .flatMap((other) => {
      const found = differences(identity, other.identity);
      return found.length === 0 ? [] : [{ by: other, how: found.join("; ") }];
    });
  const [first] = unlike;
  if (first === undefined) return undefined;
  const { by, how } = first;
  const remedy = "mend it, or let this one replace the others by --drain-others";
  return { by, message: `it differs from replica ${by.id}: ${how}. Replicas of one store must be alike: ${remedy}` };
}

/** The resources that nobody can ask who takes calls, and why. */
function downEverywhere(all: readonly Pick<Told, "down" | "isReplaced">[]): ReadonlyMap<string, string> {
  const serving = all.filter(({ isReplaced }) => !isReplaced);
  const [first] = serving;
  const names = Object.entries(first?.down ?? {});
  return new Map(names.filter(([name]) => serving.every(({ down }) => name in down)));
}

/**
 * A resource that this server lacks and one of the others does not lack, of those who have all else that this one has: calls
 * are better sent there. Of all servers there is always one that has no better.
 */
function lackOf(down: ReadonlyMap<string, string>, others: readonly Told[]): string | undefined {
  const serving = others.filter(({ isReplaced }) => !isReplaced);
  const better = serving.find((other) => {
    const theirs = Object.keys(other.down);
    return theirs.length < down.size && theirs.every((name) => down.has(name));
  });
  return better && [...down.keys()].find((name) => !(name in better.down));
}

interface Met {
  /** When this server came, by the store's clock. */
  readonly sinceMs: number;
  readonly others: readonly Other[];
  /** Those that were here before this server. Of those that came after it each looked for itself. */
  readonly earlier: readonly Other[];
  /** The store's clock was set back since the last time: the others' rows may be from before that. */
  readonly isSetBack: boolean;
}

/** What this server tells of itself, and what it makes of what the others tell. */
function member({ id, identity, drainOthers }: Pick<FleetOptions, "id" | "identity" | "drainOthers">) {
  const down = new Map<string, string>();
  let masked: ReadonlyMap<string, string> = new Map();
  let [lacks, keys]: (string | undefined)[] = [];
  let replaces: readonly string[] = [];
  let isReplaced = false;
  const told = (): Told => ({ identity: identity(), down: Object.fromEntries(down), replaces, isReplaced });
  return {
    down,
    told,
    replacesAny: () => replaces.length > 0,
    look: ({ others, earlier, sinceMs }: Met, { onDown, onLack, onKeys, onReplaced }: FleetListener): void => {
      const own = identity();
      const name = nameOf(own);
      const unlike = earlier.filter((other) => differences(own, other.identity).length > 0);
      replaces = drainOthers ? unlike.map((other) => nameOf(other.identity)) : [];
      const by = others.find((each) => each.replaces.includes(name) && !replaces.includes(nameOf(each.identity)));
      if (by !== undefined && !isReplaced) onReplaced(`${by.id}: ${differences(own, by.identity).join("; ")}`);
      isReplaced ||= by !== undefined;
      const serving = others.filter((other) => !other.isReplaced && !replaces.includes(nameOf(other.identity)));
      const trouble = isReplaced ? undefined : keyTrouble({ id, sinceMs, identity: own }, serving);
      if (trouble !== keys) onKeys(trouble);
      keys = trouble;
      const lack = lackOf(down, others);
      if (lack !== lacks) onLack(lack);
      lacks = lack;
      const now = downEverywhere([told(), ...others]);
      const before = masked;
      masked = now;
      for (const resource of new Set([...before.keys(), ...now.keys()]))
        if (before.has(resource) !== now.has(resource)) onDown(resource, now.get(resource));
    },
  };
}

/** Does something every so often, and at once where it is asked to; one at a time. */
function beats(clock: Clock, beat: () => Promise<void>) {
  let cancel = (): void => undefined;
  let beating: Promise<void> | undefined;
  let [again, isOver] = [false, false];
  const wait = (): void => {
    if (!isOver) cancel = clock.setTimer(BEAT_MS, begin);
  };
  const begin = (): void => {
    cancel();
    again = beating !== undefined;
    if (isOver) return;
    beating ??= beat().finally(() => {
      beating = undefined;
      if (again) begin();
      else wait();
    });
  };
  return {
    wait,
    now: begin,
    end: async (): Promise<void> => {
      isOver = true;
      cancel();
      await beating;
    },
  };
}

/** What a server finds, and why it may not serve beside it: by who is there, and not by one whose row is all that is left. */
async function firstLook(
  { identity, drainOthers, pause, onWait }: FleetOptions,
  meet: () => Promise<Met>,
): Promise<{ readonly first: Met; readonly refused: Refusal | undefined }> {
  const seen = new Map<string, number>();
  for (let waitedMs = 0; ; waitedMs += BEAT_MS) {
    const first = await meet();
    const refused = refusal(identity(), first.earlier, drainOthers);
    if (refused === undefined) return { first, refused };
    const { id, seenAtMs } = refused.by;
    const isThere = seenAtMs > (seen.get(id) ?? seenAtMs);
    if (isThere || waitedMs > ALIVE_MS) return { first, refused };
    if (waitedMs === 0) onWait?.(refused.message);
    seen.set(id, seen.get(id) ?? seenAtMs);
    await pause(BEAT_MS);
  }
}

/** Writes this server's row and looks at the others, before it takes calls. Rejects where the store cannot be used. */
export async function joinFleet(options: FleetOptions): Promise<Joined> {
  const { store, id, clock } = options;
  const time = storeClock(clock);
  const own = member(options);
  let lastMs = -Infinity;
  const meet = async (): Promise<Met> => {
    const sentAtMs = clock.now();
    const meeting = await store.meet(id, JSON.stringify(own.told()), FORGET_MS);
    const isSetBack = meeting.nowMs < lastMs;
    lastMs = meeting.nowMs;
    time.heard(meeting.nowMs, sentAtMs, clock.now());
    const others = othersIn(meeting, id);
    const sinceMs = meeting.replicas.find((replica) => replica.id === id)?.sinceMs ?? 0;
    const isEarlier = (other: Other): boolean =>
      other.sinceMs < sinceMs || (other.sinceMs === sinceMs && other.id < id);
    return { sinceMs, others, earlier: others.filter(isEarlier), isSetBack };
  };

  const { first, refused } = await firstLook(options, meet);
  if (refused !== undefined) {
    await store.leave(id);
    return { kind: "refused", message: refused.message };
  }

  let met = first;
  let listener: FleetListener | undefined;
  let failing = false;
  const beating = beats(clock, async () => {
    try {
      met = await meet();
      // After an outage the others' rows are as old as it was long: they are looked at when all have written theirs.
      if (!failing && !met.isSetBack && listener !== undefined) own.look(met, listener);
      if (failing) listener?.onProblem(undefined);
      failing = false;
    } catch (error) {
      if (!failing) listener?.onProblem(error);
      failing = true;
    }
  });
  const fleet: Fleet = {
    clock: time.clock,
    start: (told) => {
      listener = told;
      own.look(first, told);
      // Those that are replaced hear of it with the row that names them.
      if (own.replacesAny()) beating.now();
      else beating.wait();
    },
    tell: (resource, reason) => {
      if (reason === undefined) own.down.delete(resource);
      else own.down.set(resource, reason);
      beating.now();
    },
    members: () => {
      const others = met.others.map((other) => ({ id: other.id, ageMs: time.clock.now() - other.seenAtMs }));
      return [{ id, ageMs: 0 }, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    differs: async () => {
      // Also those that came later: they looked at this server before its environments were all there.
      const meetAll = async (): Promise<Met> => {
        const now = await meet();
        return { ...now, earlier: now.others };
      };
      return (await firstLook(options, meetAll)).refused?.message;
    },
    leave: async () => {
      await beating.end();
      // Where the store is away the row is forgotten after a while.
      await store.leave(id).catch((error: unknown) => listener?.onProblem(error));
      await store.close();
    },
  };
  return { kind: "joined", fleet };
}
