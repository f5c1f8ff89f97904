/**
 * A provider of environments on this machine. It keeps a Python host process running and sends queued requests (items)
 * to the host's workers. A worker that takes too long is ended, and its remaining items go to another worker.
 */
import type { DescribeResponse, ProviderFrame } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { FrameContent } from "./provider-frames.ts";
import {
  type Held,
  type Host,
  type HostOptions,
  type StartedHost,
  startHost,
  type Worker,
  type WorkerEnd,
} from "./host.ts";
import { changeBetween } from "./read-description.ts";
import { advanceItem, drawItem, generateItem, verifyItem } from "./item-frames.ts";
import { type Failure, failure, type Provider } from "./provider.ts";
import { createQueue, type Item } from "./item-queue.ts";
import { createAbortableItems, UNWANTED } from "./abort-items.ts";

export interface LocalOptions extends HostOptions {
  /**
   * Called with the reason when the host process ended, when it could not be restarted, or when a worker sent an answer
   * that nobody requested.
   */
  readonly onFault: (why: string) => void;
  /**
   * Called for each worker process that ended, with the reason in one word, e.g. "late" or "memory". `onHostEnd` is
   * called for each host process that ended.
   */
  readonly onWorkerEnd?: (why: string) => void;
  readonly onHostEnd?: () => void;
}

export interface LocalProvider extends Provider {
  readonly locked: string;
  /** Returns the process id of the running host, for programs that supervise processes. Undefined: no host runs. */
  readonly hostPid: () => number | undefined;
}

export type OpenedLocal =
  { readonly kind: "opened"; readonly provider: LocalProvider } | { readonly kind: "failed"; readonly why: string };

/**
 * Maximum number of requests (items) in one message to a worker. Many items share the cost of sending, but the last one
 * must not wait long.
 */
const FRAME_ITEMS_MAX = 64;
/**
 * Elapsed time that a worker may take for a request, as a multiple of the request's processor time limit. The worker
 * may have to wait for a processor.
 */
const LATE_FACTOR = 3;
/** Milliseconds that a worker may take for a request in addition to LATE_FACTOR times the processor time limit. */
const LATE_MS = 3000;
/**
 * Time in milliseconds after which a silent worker is told to send the results that it has collected, so that the
 * callers that wait for these results get them.
 */
const QUIET_MS = 250;
/**
 * Number of host processes that may end while they work on a request (item), or be killed while they start. At this
 * number the request or the start fails.
 */
const LOST_MAX = 3;
const RESTART_MS_MIN = 200;
const RESTART_MS_MAX = 30_000;

/** Returns whether the worker is fresh enough for an item that needs a fresh one. */
function suits({ environments }: Hand, { fresh, environment }: Item): boolean {
  return fresh === true ? environments.size === 0 : !environments.has(environment.id);
}

/** Returns how long a worker process may take for a request (item), in milliseconds of elapsed time. */
const lateMs = ({ limitMs }: Item): number => limitMs * LATE_FACTOR + LATE_MS;

export async function openLocal(options: LocalOptions): Promise<OpenedLocal> {
  const local = new Local(options);
  const why = await local.start();
  if (why !== undefined) return { kind: "failed", why };
  return { kind: "opened", provider: local.provider() };
}

/** A worker process and the batch of requests (items) that was sent to it. */
interface Hand {
  readonly worker: Worker;
  batch: readonly Item[];
  /** When the batch was sent, by performance.now(), in milliseconds. */
  beganMs: number;
  /** Index in `batch` of the first item without an answer. A worker answers items in order. */
  next: number;
  call: number;
  hasServed: boolean;
  /** Ids of the environments whose items were sent to the worker. */
  readonly environments: Set<string>;
  /**
   * Why the worker is being ended. "late": an item took too long. "stale": an item needs a fresh worker, or a slow item
   * delays other callers. "lying": the worker sent an answer that nobody requested.
   */
  killed: "late" | "stale" | "lying" | undefined;
  late: NodeJS.Timeout;
  quiet: NodeJS.Timeout;
  /**
   * Results that the worker collected but did not send, as its host process reports them. They are kept until all
   * earlier answers of the batch have arrived or the worker has ended.
   */
  held: Held | undefined;
  /**
   * Number of the last call for which the host process reported all results in the worker's place. If the worker was
   * only slow, it sends these results again, and they are ignored. 0: there is no such call.
   */
  heard: number;
}

class Local {
  readonly #options: LocalOptions;
  readonly #queue = createQueue();
  readonly #wanted = createAbortableItems();
  readonly #hands = new Map<Worker, Hand>();
  #host: Host | undefined;
  #described: DescribeResponse | undefined;
  #locked = "";
  /** Why no host process runs and none could be started. Undefined: one runs or is starting. */
  #down: string | undefined;
  #calls = 0;
  #restartMs = RESTART_MS_MIN;
  #restart: NodeJS.Timeout | undefined;
  /** Resolves when the most recent restart of the host has ended. Undefined: the host was never restarted. */
  #restarting: Promise<void> | undefined;
  readonly #closing = new AbortController();
  #isClosed = false;
  #isDue = false;

  constructor(options: LocalOptions) {
    this.#options = options;
  }

  /** Starts the host. Returns why it could not start. Undefined: it started. */
  async start(): Promise<string | undefined> {
    // False if the new host serves other environments than the old one. Such a host is closed, and its end is not
    // reported.
    let isTaken = true;
    const { signal = this.#closing.signal } = this.#options;
    const options = { ...this.#options, signal: AbortSignal.any([signal, this.#closing.signal]) };
    const begin = (): Promise<StartedHost> =>
      startHost(options, {
        onWorker: (worker) => this.#welcome(worker),
        onFrame: (worker, frame) => this.#heed(worker, frame),
        onHeld: (worker, held) => this.#hear(worker, held),
        onWorkerEnd: (worker, end) => this.#part(worker, end),
        onEnd: (why) => {
          if (isTaken) this.#lose(why);
        },
      });
    let started = await begin();
    for (let lost = 1; started.kind === "failed" && started.isKilled && lost < LOST_MAX; lost++) {
      this.#options.onFault(`${started.why} while it started; starting it again`);
      started = await begin();
    }
    if (started.kind === "failed") return started.why;
    const { host } = started;
    if (this.#isClosed) {
      await host.close();
      return undefined;
    }
    const { described } = host;
    const changed = this.#described && changeBetween(this.#described, described);
    if (changed !== undefined) {
      isTaken = false;
      await host.close();
      return changed;
    }
    this.#host = host;
    this.#described = described;
    this.#locked = host.locked;
    this.#down = undefined;
    this.#dispatchSoon();
    return undefined;
  }

  provider(): LocalProvider {
    const ask = <Answer>(make: (settle: (answer: Answer | Failure) => void) => Item): Promise<Answer | Failure> =>
      new Promise((resolve) => {
        const item = make((answer) => {
          this.#wanted.leave(item);
          resolve(answer);
        });
        this.#add(item);
      });
    return {
      described: this.#described as DescribeResponse,
      locked: this.#locked,
      hostPid: () => this.#host?.pid,
      generate: (environment, asked, options) =>
        Promise.all(asked.seeds.map((seed) => ask(generateItem(environment, asked, seed, options)))),
      verify: (environment, asked, options) => ask(verifyItem(environment, asked, options)),
      advance: (environment, asked, options) => ask(advanceItem(environment, asked, options)),
      draw: (environment, asked, options) => ask(drawItem(environment, asked, options)),
      probe: async () => this.#down,
      close: () => this.#close(),
    };
  }

  #add(item: Item): void {
    if (this.#down !== undefined || this.#isClosed)
      return item.settle(failure("unavailable", this.#down ?? "the host was closed"));
    // A signal that is already aborted sends no event, so the item is settled here.
    if (item.signal.aborted) return item.settle(UNWANTED);
    this.#wanted.enter(item);
    this.#queue.add(item);
    this.#dispatchSoon();
  }

  /** Schedules a microtask that sends items to idle workers, so that items requested at the same time share a frame. */
  #dispatchSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      for (const hand of this.#hands.values()) this.#give(hand);
    });
  }

  #give(hand: Hand): void {
    if (hand.batch.length > 0 || hand.killed !== undefined) return;
    const mustEnd = (): boolean => hand.hasServed && this.#queue.wantsFresh((item) => this.#isFreshOneComing(item));
    // The host starts a fresh worker in place of an ended one. Only one worker is replaced, so that the others keep
    // working.
    if (mustEnd()) return this.#kill(hand, "stale");
    const batch = this.#queue.take(FRAME_ITEMS_MAX, (item) => suits(hand, item), lateMs);
    const [first] = batch;
    if (first === undefined) return mustEnd() ? this.#kill(hand, "stale") : undefined;
    hand.batch = batch;
    hand.environments.add(first.environment.id);
    hand.beganMs = performance.now();
    hand.next = 0;
    hand.call = this.#calls = (this.#calls % (2 ** 32 - 1)) + 1;
    if (!hand.worker.send(hand.call, first.frameOf(batch))) {
      hand.batch = [];
      for (const item of batch) item.settle(failure("raised", "the request is too large to be sent to a worker"));
      return this.#dispatchSoon();
    }
    hand.late = setTimeout(() => this.#kill(hand, "late"), lateMs(first)).unref();
    hand.quiet = setTimeout(() => hand.worker.tellHeld(), QUIET_MS).unref();
  }

  /** Returns whether a worker that is fresh enough for the item is about to start, or is there already. */
  #isFreshOneComing(item: Item): boolean {
    if (this.#hands.size < this.#options.workers) return true;
    return this.#hands.values().some((hand) => hand.killed !== undefined || suits(hand, item));
  }

  #kill(hand: Hand, why: Hand["killed"]): void {
    if (hand.killed !== undefined) return;
    hand.killed = why;
    hand.worker.kill();
  }

  #welcome(worker: Worker): void {
    const [late, quiet] = [setTimeout(() => undefined, 0), setTimeout(() => undefined, 0)];
    const idle = {
      batch: [],
      beganMs: 0,
      next: 0,
      call: 0,
      hasServed: false,
      killed: undefined,
      held: undefined,
      heard: 0,
    };
    this.#hands.set(worker, { ...idle, environments: new Set(), worker, late, quiet });
    this.#restartMs = RESTART_MS_MIN;
    this.#dispatchSoon();
  }

  /**
   * Handles a frame with results from a worker. Returns how many more frames of the worker's batch are expected soon.
   */
  #heed(worker: Worker, { call, content }: ProviderFrame): number {
    const hand = this.#hands.get(worker);
    // Ignores the output of a worker that is being ended, and results that its host has reported.
    if (hand === undefined || hand.killed !== undefined) return 0;
    if (call === hand.heard && content.case === "verifiedTogether") return 0;
    if (call !== hand.call || !this.#settle(hand, content)) {
      this.#options.onFault("a worker sent an answer that nobody requested, and is stopped");
      this.#kill(hand, "lying");
      return 0;
    }
    return content.case === "verifiedTogether" ? 0 : hand.batch.length - hand.next;
  }

  /**
   * Takes results that a worker had collected but not sent, as the host process reports them. If the worker stays
   * alive, it sends the same results itself later.
   */
  #hear(worker: Worker, held: Held): void {
    const hand = this.#hands.get(worker);
    if (hand === undefined || held.call !== hand.call || hand.killed === "lying") return;
    if (held.verified.index > hand.next) {
      hand.held = held;
      return;
    }
    this.#settle(hand, { case: "verifiedTogether", value: held.verified });
    if (hand.batch.length === 0 || hand.call !== held.call) hand.heard = held.call;
  }

  /**
   * Passes the results in a frame to the items of the batch. Returns false if the frame holds a result for an item that
   * the batch does not have.
   */
  #settle(hand: Hand, content: FrameContent): boolean {
    const { batch, next } = hand;
    const isTogether = content.case === "verifiedTogether";
    const until = isTogether ? content.value.index + content.value.places.length : next + 1;
    if (until > batch.length) return false;
    // Collected results that the host reports may repeat results that the worker has sent in the meantime. The loop
    // skips these.
    while (hand.next < until) {
      const item = batch[hand.next];
      const answer = item?.read(content, hand.next);
      if (item === undefined || answer === undefined) return false;
      hand.next++;
      hand.hasServed = true;
      item.settle(answer);
    }
    if (hand.next === batch.length) this.#finish(hand);
    else if (hand.next > next) {
      // If a slow item delays other callers, the worker is ended, and the rest of its batch goes back to the queue.
      const isSlow = performance.now() - hand.beganMs > QUIET_MS;
      if (isSlow && batch[0] !== undefined && this.#queue.hasOthers(batch[0])) this.#kill(hand, "stale");
      hand.late.refresh();
      hand.quiet.refresh();
    }
    return true;
  }

  /** Corrects the time that is charged to the batch's caller: replaces the estimate by the measured time. */
  #settleTime({ batch: [first], beganMs, late, quiet }: Hand): void {
    clearTimeout(late);
    clearTimeout(quiet);
    if (first !== undefined) this.#queue.charge(first, lateMs(first), performance.now() - beganMs);
  }

  #finish(hand: Hand): void {
    this.#settleTime(hand);
    hand.batch = [];
    hand.next = 0;
    hand.held = undefined;
    // Results that a worker had collected before it ended may complete its batch. An ended worker gets no further
    // items.
    if (this.#hands.has(hand.worker)) this.#give(hand);
  }

  #part(worker: Worker, end: WorkerEnd): void {
    const hand = this.#hands.get(worker);
    if (hand === undefined) return;
    this.#hands.delete(worker);
    if (!this.#isClosed) this.#options.onWorkerEnd?.(hand.killed ?? end.kind);
    if (hand.held !== undefined) this.#settle(hand, { case: "verifiedTogether", value: hand.held.verified });
    this.#settleTime(hand);
    const left = hand.batch.slice(hand.next);
    const [current] = left;
    this.#queue.putBack(hand.killed === "stale" ? left : left.slice(1));
    if (current !== undefined && hand.killed !== "stale") this.#blame(current, hand, end);
    this.#dispatchSoon();
  }

  /**
   * Handles the item that a worker was working on when it ended: settles the item with a failure, or puts it back into
   * the queue for another try.
   */
  #blame(item: Item, { killed, hasServed }: Hand, { kind, how }: WorkerEnd): void {
    if (killed === "late") item.settle(failure("timeout", `no answer within ${lateMs(item)} ms`));
    else if (killed === "lying") item.settle(failure("unavailable", "the worker sent an answer that nobody requested"));
    else if (kind === "memory" && hasServed) {
      // Earlier items may have used up the worker's memory, so the item is tried again in a fresh worker.
      item.fresh = true;
      this.#queue.putBack([item]);
    } else if (kind !== "host") item.settle(failure(kind, `the worker ended: ${how}`));
    else if (++item.lost < LOST_MAX) this.#queue.putBack([item]);
    else item.settle(failure("crashed", `${LOST_MAX} host processes ended while they worked on the request: ${how}`));
  }

  /** Reports that the host has ended, and schedules the start of another. */
  #lose(why: string): void {
    this.#host = undefined;
    if (this.#isClosed) return;
    this.#options.onHostEnd?.();
    this.#options.onFault(`${why}; starting it again`);
    this.#startAgain();
  }

  #startAgain(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#restart);
    const delayMs = this.#restartMs;
    this.#restartMs = Math.min(RESTART_MS_MAX, 2 * delayMs);
    this.#restart = setTimeout(() => {
      this.#restarting = this.#tryAgain();
    }, delayMs);
  }

  async #tryAgain(): Promise<void> {
    const why = await this.start();
    if (why === undefined) return;
    // Items in the queue fail now, so that their callers can use another server or try again later.
    this.#down = why;
    this.#options.onFault(`it cannot be started again: ${why}`);
    for (const item of this.#queue.drain()) item.settle(failure("unavailable", why));
    this.#startAgain();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    this.#closing.abort();
    await Promise.all([this.#host?.close(), this.#restarting]);
    for (const item of this.#queue.drain()) item.settle(failure("unavailable", "the server stops"));
  }
}
