/**
 * A world in which nothing happens but by its seed: a virtual clock, one stream of chance, and a queue of events. Every
 * asynchronous step of what runs in it is such an event, at a time that chance has chosen; so a schedule is a function of
 * its seed, and can be played again.
 */
import { createHash, type Hash } from "node:crypto";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";

interface Event {
  readonly atMs: number;
  /** Order in which the event was planned. It decides between events at the same time. */
  readonly order: number;
  readonly label: string;
  readonly action: () => void;
  cancelled: boolean;
}

export interface World {
  readonly rng: Rng;
  /** Milliseconds, with fractions. */
  nowMs(): number;
  /** True as often as the share says. Without faults (see calmDown) such a chance is not taken. */
  chance(share: number): boolean;
  /** A fault that happens with a probability, and is counted by its name. */
  fault(kind: string, probability: number): boolean;
  /** About as long as given, and now and then many times as long. */
  delayMs(typicalMs: number): number;
  /** Plans an event. Returns a function that cancels it. */
  after(delayMs: number, label: string, action: () => void): () => void;
  /** Resolves after a time. */
  sleep(delayMs: number, label: string): Promise<void>;
  /** A line of the trace. */
  note(line: string): void;
  count(kind: string): void;
  /** Ends all faults. */
  calmDown(): void;
  /** Plays events until the work is done. Throws if no event is left, or when the limit is passed. */
  play<T>(work: Promise<T>, limitMs: number): Promise<T>;
  readonly faults: ReadonlyMap<string, number>;
  /** Events played so far. */
  events(): number;
  /** Returns the digest of all that happened. It is equal for two runs of one seed. */
  digest(): string;
}

/** A queue of events in order of their time: a binary heap. */
function eventQueue() {
  const heap: Event[] = [];
  const before = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  const swap = (i: number, j: number): void => {
    [heap[i], heap[j]] = [heap[j] as Event, heap[i] as Event];
  };
  return {
    add(event: Event): void {
      let i = heap.push(event) - 1;
      for (let parent = (i - 1) >> 1; i > 0 && before(event, heap[parent] as Event); parent = (i - 1) >> 1) {
        swap(i, parent);
        i = parent;
      }
    },
    take(): Event | undefined {
      const first = heap[0];
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return first;
      heap[0] = last;
      for (let i = 0; ;) {
        const left = 2 * i + 1;
        const right = left + 1;
        const least = [left, right].reduce(
          (best, at) => (at < heap.length && before(heap[at] as Event, heap[best] as Event) ? at : best),
          i,
        );
        if (least === i) return first;
        swap(i, least);
        i = least;
      }
    },
  };
}

/** Everything that can run without the world has run: promises' callbacks come before the event loop's next turn. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export interface WorldOptions {
  readonly seed: number;
  /** Told each line of the trace. */
  readonly trace?: ((line: string) => void) | undefined;
}

export function createWorld({ seed, trace }: WorldOptions): World {
  const rng = rngFor("simulation", seed);
  const queue = eventQueue();
  const faults = new Map<string, number>();
  const hash: Hash = createHash("sha256");
  let nowMs = 1_000_000;
  let order = 0;
  let played = 0;
  let calm = false;

  const note = (line: string): void => {
    const entry = `${nowMs.toFixed(3)} ${line}`;
    hash.update(`${entry}\n`);
    trace?.(entry);
  };
  const count = (kind: string): void => void faults.set(kind, (faults.get(kind) ?? 0) + 1);
  const chance = (share: number): boolean => rng.float() < share && !calm;
  const after = (delayMs: number, label: string, action: () => void): (() => void) => {
    const event: Event = { atMs: nowMs + delayMs, order: order++, label, action, cancelled: false };
    queue.add(event);
    return () => {
      event.cancelled = true;
    };
  };
  const step = async (endMs: number): Promise<void> => {
    const event = queue.take();
    if (event === undefined) throw new Error("nothing is left to happen, and the work is not done");
    if (event.cancelled) return;
    if (event.atMs > endMs) throw new Error("the work is not done in time");
    nowMs = event.atMs;
    played++;
    note(event.label);
    event.action();
    await settled();
  };

  return {
    rng,
    note,
    count,
    chance,
    after,
    faults,
    nowMs: () => nowMs,
    events: () => played,
    fault: (kind, probability) => {
      const happens = chance(probability);
      if (happens) count(kind);
      return happens;
    },
    delayMs: (typicalMs) => {
      const usual = -Math.log(1 - rng.float()) * typicalMs;
      return rng.float() < 0.02 ? usual * 30 : usual;
    },
    sleep: (delayMs, label) => new Promise((resolve) => void after(delayMs, label, resolve)),
    calmDown: () => {
      calm = true;
    },
    async play<T>(work: Promise<T>, limitMs: number): Promise<T> {
      const endMs = nowMs + limitMs;
      const end: { outcome?: { readonly value: T } | { readonly error: unknown } } = {};
      work.then(
        (value) => (end.outcome = { value }),
        (error: unknown) => (end.outcome = { error }),
      );
      await settled();
      while (end.outcome === undefined) await step(endMs);
      if ("error" in end.outcome) throw end.outcome.error;
      return end.outcome.value;
    },
    digest: () => hash.copy().digest("hex"),
  };
}
