/**
 * Coordinates the servers (replicas) that share one store. Every 2 s each server writes a row: its identity, the
 * resources that are down on it, and the identities that it replaces.
 *
 * From all rows each server learns the store's time, and which resources no server can use.
 */
import type { Clock } from "../base/clock.ts";
import type { Meeting, ReplicaStore, StoredReplica } from "../stores/replica-store.ts";
import { storeClock } from "./store-clock.ts";
import { differences, type Identity, nameOf } from "./identity.ts";
import { keyTrouble } from "./compare-keys.ts";

/** Interval at which each server writes its row, in milliseconds. */
const BEAT_MS = 2_000;
/**
 * A server counts as gone if its row is older than this, in milliseconds. It was killed, or could not reach the store
 * several times.
 */
const ALIVE_MS = 10_000;
/** Age at which a server's row is deleted, in milliseconds. */
const FORGET_MS = 60_000;

/** Information about a server, as its row contains it. */
interface ReplicaReport {
  readonly identity: Identity;
  /** Reasons why resources (e.g. the sandbox) cannot be used, by the resource's name. */
  readonly down: Readonly<Record<string, string>>;
  /** Names (hashes, see nameOf) of the identities of servers that this server replaces. */
  readonly replaces: readonly string[];
  /** Set if another server replaces this one. This server then takes no more calls. */
  readonly isReplaced: boolean;
}

interface OtherReplica extends ReplicaReport, Omit<StoredReplica, "body"> {}

export interface FleetOptions {
  readonly store: ReplicaStore;
  /** Unique id of this server process, as operators see it in logs. */
  readonly id: string;
  readonly identity: () => Identity;
  /** Whether this server replaces running servers that differ from it. If not, it is refused when one differs. */
  readonly drainOthers: boolean;
  /** This machine's clock. */
  readonly clock: Clock;
  /** Resolves after a time in milliseconds. Keeps the process alive until then. */
  readonly pause: (ms: number) => Promise<void>;
  /**
   * Called with the conflict if this server waits before it joins. It waits because the conflicting server may just
   * have been killed: its row in the table of replicas then expires.
   */
  readonly onWait?: (reason: string) => void;
}

export interface FleetListener {
  /**
   * Called with a resource that no server of the store can use, and why. If the reason is undefined, some server can
   * use it again.
   */
  readonly onDown: (resource: string, reason: string | undefined) => void;
  /**
   * Called with a resource that is down on this server but works on another, so that clients are sent there. Undefined:
   * there is no such resource any more.
   */
  readonly onLack: (resource: string | undefined) => void;
  /**
   * Called when this server's signing keys conflict with those of other servers, with the difference. Undefined: the
   * conflict is over.
   */
  readonly onKeys: (trouble: string | undefined) => void;
  /** Called once, when another server replaces this one, with that server's id and the difference between the two. */
  readonly onReplaced: (by: string) => void;
  /** Called with the error if this server's row cannot be written. Undefined: it can be written again. */
  readonly onProblem: (error: unknown) => void;
}

export interface Member {
  readonly id: string;
  readonly ageMs: number;
}

export interface Fleet {
  /** Clock that follows the store's clock, so that all servers agree on the time. */
  readonly clock: Clock;
  /** Starts to write this server's row and to read the rows of other servers, every 2 s. */
  start(listener: FleetListener): void;
  /** Reports that a resource of this server is down, and why. Undefined: the resource can be used again. */
  tell(resource: string, down: string | undefined): void;
  /** Returns this server and the others, ordered by id, each with the age of its last row. */
  members(): readonly Member[];
  /**
   * Compares this server with the others again, after all its environments are mounted. Returns why it may not serve
   * beside them; undefined if it may.
   */
  differs(): Promise<string | undefined>;
  /** Removes this server's row, and closes the connection to the store. */
  leave(): Promise<void>;
}

export type Joined =
  | { readonly kind: "joined"; readonly fleet: Fleet }
  /** This server may not serve beside the others. `message` says why. */
  | { readonly kind: "refused"; readonly message: string };

function othersIn({ nowMs, replicas }: Meeting, ownId: string): readonly OtherReplica[] {
  // A row from the far future does not count. It was written before the store's clock was set back, and its server is
  // gone, because running servers have written newer rows.
  const alive = ({ id, seenAtMs }: StoredReplica): boolean => id !== ownId && Math.abs(nowMs - seenAtMs) <= ALIVE_MS;
  return replicas.filter(alive).map(({ body, ...row }) => ({ ...(JSON.parse(body) as ReplicaReport), ...row }));
}

/** Conflict because of which this server may not serve together with a server that joined before it. */
interface Refusal {
  readonly by: OtherReplica;
  readonly message: string;
}

function refusal(identity: Identity, earlier: readonly OtherReplica[], drainOthers: boolean): Refusal | undefined {
  const name = nameOf(identity);
  const replacing = earlier.find(({ replaces }) => replaces.includes(name));
  if (replacing !== undefined) {
    const differing = differences(identity, replacing.identity).join("; ");
    return {
      by: replacing,
      message: `replica ${replacing.id} is replacing servers like this one. Start this server like that replica: ${differing}`,
    };
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
  const remedy = "remove the difference, or start this server with --drain-others to replace the others";
  return {
    by,
    message: `this server differs from replica ${by.id}: ${how}. Replicas of one store must be alike: ${remedy}`,
  };
}

/** Returns the resources that are down on every server that takes calls, with the reasons. */
function downEverywhere(all: readonly Pick<ReplicaReport, "down" | "isReplaced">[]): ReadonlyMap<string, string> {
  const serving = all.filter(({ isReplaced }) => !isReplaced);
  const [first] = serving;
  const names = Object.entries(first?.down ?? {});
  return new Map(names.filter(([name]) => serving.every(({ down }) => name in down)));
}

/**
 * Returns a resource that is down on this server but works on a better server, which should get the calls. On a better
 * server fewer resources are down, and all of them are down here too. So at least one server has no better one.
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
  /** Time at which this server joined, by the store's clock, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  readonly others: readonly OtherReplica[];
  /**
   * Servers that joined before this one. This server compares itself only with them; later ones compare themselves with
   * it.
   */
  readonly earlier: readonly OtherReplica[];
  /**
   * Whether the store's clock was set back since the last reading. The rows of others may then have later times than
   * they should.
   */
  readonly isSetBack: boolean;
}

/**
 * Returns functions that hold this server's report about itself, compare it with the rows of other servers, and tell
 * the listener what follows, e.g. that this server is replaced.
 */
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

/**
 * Returns functions that run `beat` after BEAT_MS (`wait`) or at once (`now`), then every BEAT_MS, and that stop the
 * repetition (`end`). `beat` never runs twice at the same time.
 */
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
 * Reads the rows of other servers before this one joins. Returns why it may not serve beside them. If there is a
 * conflict, waits first, to see whether the conflicting server is still alive.
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
      // After an outage of the store all rows are old. The other servers are compared only at the next interval, when
      // they have written new rows.
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
      // This server's row tells other servers that they are replaced, so it is written at once.
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
      // Servers that joined later are compared here too, because this server's environments were incomplete when they
      // compared themselves with it.
      const meetAll = async (): Promise<ReplicaMeeting> => {
        const now = await meet();
        return { ...now, earlier: now.others };
      };
      return (await firstLook(options, meetAll)).refused?.message;
    },
    leave: async () => {
      await beating.end();
      // If the store cannot be reached, the row stays there and expires by itself.
      await store.leave(id).catch((error: unknown) => listener?.onProblem(error));
      await store.close();
    },
  };
  return { kind: "joined", fleet };
}
