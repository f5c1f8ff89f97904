/**
 * The servers of one store, which exchange their state through a row for each. Every 2 s a server writes its identity,
 * its failed resources, and the identities that it replaces. From the rows each server knows the store's time, and
 * which resources no server can use.
 */
import type { Clock } from "../base/clock.ts";
import type { Meeting, ReplicaStore, StoredReplica } from "../stores/replica-store.ts";
import { storeClock } from "./store-clock.ts";
import { differences, type Identity, nameOf } from "./identity.ts";
import { keyTrouble } from "./compare-keys.ts";

/** Interval at which each server writes its row, in milliseconds. */
const BEAT_MS = 2_000;
/** A server with an older row does not count: it was killed, or has not reached the store for several intervals. */
const ALIVE_MS = 10_000;
/** Age at which a row is deleted, in milliseconds. */
const FORGET_MS = 60_000;

/** The body of a row. */
interface ReplicaReport {
  readonly identity: Identity;
  /** Reasons why resources cannot be used, by resource. */
  readonly down: Readonly<Record<string, string>>;
  /** The names of the identities that it replaces. */
  readonly replaces: readonly string[];
  /** Whether the server takes no more calls. */
  readonly isReplaced: boolean;
}

interface OtherReplica extends ReplicaReport, Omit<StoredReplica, "body"> {}

export interface FleetOptions {
  readonly store: ReplicaStore;
  /** Unique among all processes; operators see it. */
  readonly id: string;
  readonly identity: () => Identity;
  /** Whether servers that are here already and differ must drain; if not, this server is refused. */
  readonly drainOthers: boolean;
  /** This machine's clock. */
  readonly clock: Clock;
  /** Waits, and keeps the process alive meanwhile. */
  readonly pause: (ms: number) => Promise<void>;
  /**
   * Called with the reason why this server may have to wait: the conflicting server may have been killed a moment ago.
   */
  readonly onWait?: (reason: string) => void;
}

export interface FleetListener {
  /** Called with each resource that no replica can use, and the reason; undefined: one can again. */
  readonly onDown: (resource: string, reason: string | undefined) => void;
  /** Called with a resource that is down here but not on another server; undefined: there is none any more. */
  readonly onLack: (resource: string | undefined) => void;
  /** Called with how this server's keys differ from the others'; undefined: they no longer differ. */
  readonly onKeys: (trouble: string | undefined) => void;
  /** Called once, with the server that replaces this one and how the two differ. */
  readonly onReplaced: (by: string) => void;
  /** Called with the error that prevents writing the row; undefined: writing works again. */
  readonly onProblem: (error: unknown) => void;
}

export interface Member {
  readonly id: string;
  readonly ageMs: number;
}

export interface Fleet {
  /** The store's time. */
  readonly clock: Clock;
  /** Begins to write this server's row and to read the others'. */
  start(listener: FleetListener): void;
  /** Reports that a resource of this server is down, and why; undefined: it is in use again. */
  tell(resource: string, down: string | undefined): void;
  /** Returns this server and the others, by id, with the age of each one's last row. */
  members(): readonly Member[];
  /**
   * Checks the others again when everything is mounted, and returns why this server may not serve beside them;
   * undefined: it may.
   */
  differs(): Promise<string | undefined>;
  /** Removes this server's row, and closes the store of replicas. */
  leave(): Promise<void>;
}

export type Joined =
  | { readonly kind: "joined"; readonly fleet: Fleet }
  /** This server may not serve beside the others; the message says why. */
  | { readonly kind: "refused"; readonly message: string };

function othersIn({ nowMs, replicas }: Meeting, ownId: string): readonly OtherReplica[] {
  // If the store's clock was set back, running servers have written their rows again since, so a row far in the future
  // is dead.
  const alive = ({ id, seenAtMs }: StoredReplica): boolean => id !== ownId && Math.abs(nowMs - seenAtMs) <= ALIVE_MS;
  return replicas.filter(alive).map(({ body, ...row }) => ({ ...(JSON.parse(body) as ReplicaReport), ...row }));
}

/** Why this server may not serve beside the servers that came before it, and which one is in conflict. */
interface Refusal {
  readonly by: OtherReplica;
  readonly message: string;
}

function refusal(identity: Identity, earlier: readonly OtherReplica[], drainOthers: boolean): Refusal | undefined {
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

/** Returns the resources that no serving server can use, with the reasons. */
function downEverywhere(all: readonly Pick<ReplicaReport, "down" | "isReplaced">[]): ReadonlyMap<string, string> {
  const serving = all.filter(({ isReplaced }) => !isReplaced);
  const [first] = serving;
  const names = Object.entries(first?.down ?? {});
  return new Map(names.filter(([name]) => serving.every(({ down }) => name in down)));
}

/**
 * Returns a resource that is down here but not on a server that has all other resources of this one: calls are better
 * sent there. At least one server always finds no better one.
 */
function lackOf(down: ReadonlyMap<string, string>, others: readonly ReplicaReport[]): string | undefined {
  const serving = others.filter(({ isReplaced }) => !isReplaced);
  const better = serving.find((other) => {
    const theirs = Object.keys(other.down);
    return theirs.length < down.size && theirs.every((name) => down.has(name));
  });
  return better && [...down.keys()].find((name) => !(name in better.down));
}

interface ReplicaMeeting {
  /** Time at which this server joined, by the store's clock. */
  readonly sinceMs: number;
  readonly others: readonly OtherReplica[];
  /** Servers that joined before this one. Those that joined later have checked for themselves. */
  readonly earlier: readonly OtherReplica[];
  /** Whether the store's clock was set back since the last time: the others' rows may be from before that. */
  readonly isSetBack: boolean;
}

/** Keeps the state that this server reports, and reacts to the state of the others. */
function member({ id, identity, drainOthers }: Pick<FleetOptions, "id" | "identity" | "drainOthers">) {
  const down = new Map<string, string>();
  let masked: ReadonlyMap<string, string> = new Map();
  let [lacks, keys]: (string | undefined)[] = [];
  let replaces: readonly string[] = [];
  let isReplaced = false;
  const report = (): ReplicaReport => ({ identity: identity(), down: Object.fromEntries(down), replaces, isReplaced });
  return {
    down,
    report,
    replacesAny: () => replaces.length > 0,
    look: (
      { others, earlier, sinceMs }: ReplicaMeeting,
      { onDown, onLack, onKeys, onReplaced }: FleetListener,
    ): void => {
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
      const now = downEverywhere([report(), ...others]);
      const before = masked;
      masked = now;
      for (const resource of new Set([...before.keys(), ...now.keys()]))
        if (before.has(resource) !== now.has(resource)) onDown(resource, now.get(resource));
    },
  };
}

/** Runs `beat` at intervals, and at once on request; one at a time. */
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

/**
 * Reads the other servers, and returns why this server may not serve beside them. Waits to see whether a conflicting
 * server still runs or has left only its row.
 */
async function firstLook(
  { identity, drainOthers, pause, onWait }: FleetOptions,
  meet: () => Promise<ReplicaMeeting>,
): Promise<{ readonly first: ReplicaMeeting; readonly refused: Refusal | undefined }> {
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

/**
 * Writes this server's row and reads the others', before this server takes calls. Rejects if the store cannot be used.
 */
export async function joinFleet(options: FleetOptions): Promise<Joined> {
  const { store, id, clock } = options;
  const time = storeClock(clock);
  const own = member(options);
  let lastMs = -Infinity;
  const meet = async (): Promise<ReplicaMeeting> => {
    const sentAtMs = clock.now();
    const meeting = await store.meet(id, JSON.stringify(own.report()), FORGET_MS);
    const isSetBack = meeting.nowMs < lastMs;
    lastMs = meeting.nowMs;
    time.heard(meeting.nowMs, sentAtMs, clock.now());
    const others = othersIn(meeting, id);
    const sinceMs = meeting.replicas.find((replica) => replica.id === id)?.sinceMs ?? 0;
    const isEarlier = (other: OtherReplica): boolean =>
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
      // After an outage all rows are old, so the others are judged only at the next interval, when they have written
      // theirs.
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
      // Replaced servers learn of it from the row that names them, so that row is written at once.
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
      // Includes servers that joined later: they compared themselves with this one before its environments were
      // complete.
      const meetAll = async (): Promise<ReplicaMeeting> => {
        const now = await meet();
        return { ...now, earlier: now.others };
      };
      return (await firstLook(options, meetAll)).refused?.message;
    },
    leave: async () => {
      await beating.end();
      // If the store cannot be reached, the row expires.
      await store.leave(id).catch((error: unknown) => listener?.onProblem(error));
      await store.close();
    },
  };
  return { kind: "joined", fleet };
}
