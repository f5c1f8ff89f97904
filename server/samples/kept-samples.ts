/**
 * Stores the most recent completions of runs with their scores, for people to read. They are written after the trainer
 * got its response, so trainers do not wait for them.
 *
 * Completions that cannot be written are lost, which affects no run. Counts of the samples are stored beside them.
 */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SampleResult } from "../tasks/scoring/results.ts";
import { mapInSlices } from "../base/time-slices.ts";
import type { NewSample, SampleStore } from "../stores/sample-store.ts";
import { type Conversation, lengthOf } from "./conversation.ts";
import { createRunCounter, type RunCounter } from "./counted-runs.ts";
import type { RunCounts } from "./sample-counts.ts";

/** A completion of a run's task, with its score. */
export interface RunSample {
  readonly taskId: string;
  readonly groupId: string;
  /** Position of the sample in its group, as in `sample_index` of the contract. */
  readonly index: number;
  /** Name of the run's incarnation (which an import replaces) at the time when the task was issued. */
  readonly incarnation: string;
  /** Index of the run's arm. If `evaluationRound` is set, it is the index of an evaluation arm instead. */
  readonly arm: number;
  readonly cursor: number;
  readonly evaluationRound?: number | undefined;
  readonly policyVersion?: number | undefined;
  /** Number of the completion's tokens, as the trainer reported it. */
  readonly tokens?: number | undefined;
  readonly completion: string;
  /** Set if the trainer said that the completion was cut off at its maximum length. */
  readonly isCut?: true;
  /**
   * Transcript of the episode that the completion ends, and the completion's tool calls. Undefined: the episode has
   * nothing but the completion, or an older server version stored the sample.
   */
  readonly conversation?: Conversation;
  readonly result: SampleResult;
}

export interface KeptSample extends RunSample {
  /** Number of the sample. Newer samples have larger numbers. */
  readonly number: number;
  readonly atMs: number;
}

export interface SampleQuery {
  /** Only samples with smaller numbers, i.e. older ones, are returned. Undefined: all are. */
  readonly below: number | undefined;
  readonly limit: number;
  readonly test: (sample: KeptSample) => boolean;
}

export interface SamplePage {
  readonly samples: readonly KeptSample[];
  /** Value of `below` for the next page. Undefined: this is the last page. */
  readonly next: number | undefined;
}

export interface SamplesOptions {
  readonly store: SampleStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum bytes of completions (UTF-8) that are kept per run. 0: none are kept. */
  readonly bytesMax: number;
  /** Maximum age of a sample, in milliseconds. Older ones are deleted. */
  readonly keptMs: number;
  /** Counts the samples. Defaults to a counter that keeps its counts in the store. */
  readonly counter?: RunCounter;
  /** Called with each run whose new counts were written. */
  readonly onCounted?: (run: string) => void;
}

export type Samples = ReturnType<typeof createSamples>;

/** Milliseconds for which new samples are collected, so that many are written together. */
const GATHER_MS = 500;
/** Milliseconds for which samples are counted before their counts are written. */
const GATHER_COUNTS_MS = 1_000;
/** Maximum UTF-16 units of samples that wait to be written. If there are more, the further ones are lost. */
const WAITING_MAX = 32 * 1024 ** 2;
/**
 * Fraction of `bytesMax` after which a run's samples are trimmed: whenever about that much was written to the run, its
 * oldest samples are deleted until at most `bytesMax` remain.
 */
const TRIM_SHARE = 1 / 16;
/** Milliseconds between deletions of expired samples. */
const EXPIRE_MS = 60_000;
/** Maximum number of expired samples that are deleted at a time, which takes some tens of milliseconds. */
const EXPIRE_ROWS = 1024;
/** Number of UTF-16 units of samples at which a page is full. */
const PAGE_LENGTH = 1024 ** 2;
/** Number of UTF-16 units read from the store at which the search for a page's samples stops. */
const SCAN_LENGTH = 8 * 1024 ** 2;
/** Maximum number of samples that are read from the store at a time. */
const READ_ROWS = 256;
/** Maximum UTF-16 units of the samples that are read from the store at a time. */
const READ_LENGTH = 1024 ** 2;

export function createSamples({ store, clock, log, bytesMax, keptMs, ...options }: SamplesOptions) {
  const writer = createWriter(store, log, bytesMax);
  const { counter = createRunCounter(store, log, options.onCounted) } = options;
  const writing = gathering(clock, GATHER_MS, writer.flush);
  const counting = gathering(clock, GATHER_COUNTS_MS, () => {
    // Waiting samples are committed together with the counts, because a separate commit costs 0.2 ms more.
    writing.cancel();
    return counter.flush(writer.flush);
  });
  const endExpiry = expireOften(store, clock, log, keptMs);
  return {
    bytesMax,
    keptMs,
    /** Counts samples of a run, and queues them to be written soon. */
    keep: (run: string, samples: readonly RunSample[]): void => {
      if (bytesMax === 0 || samples.length === 0) return;
      writer.add(run, samples);
      counter.add(run, samples);
      writing.begin();
      counting.begin();
    },
    /** Returns a page of a run's samples that match a query, the newest first. */
    list: async (run: string, query: SampleQuery): Promise<SamplePage> => {
      // Waiting samples are written first, so that a client sees the completion that it has just scored.
      await writer.flush();
      return pageOf(store, run, query);
    },
    /** Returns the counts of a run's samples whose tasks were issued in these incarnations of the run. */
    counts: (run: string, incarnations: readonly string[]): Promise<RunCounts> => counter.of(run, incarnations),
    /** Deletes the samples and counts of the run with this id, and of deleted runs that had the same id. */
    remove: async (run: string): Promise<void> => {
      writer.forget(run);
      counter.forget(run);
      await Promise.all([writer.flush(), counter.flush()]);
      await store.removeRun(run);
    },
    /** Writes the samples that wait, and stops. The store stays open, to be closed by the code that opened it. */
    close: async (): Promise<void> => {
      writing.cancel();
      counting.cancel();
      endExpiry();
      await Promise.all([writer.flush(), counter.flush()]);
    },
  };
}

/** Returns a timer: `begin` calls `flush` after `delayMs`, unless the timer runs already; `cancel` stops it. */
function gathering(clock: Clock, delayMs: number, flush: () => Promise<void>) {
  let cancel: (() => void) | undefined;
  return {
    begin: (): void => {
      cancel ??= clock.setTimer(delayMs, () => {
        cancel = undefined;
        void flush();
      });
    },
    cancel: (): void => {
      cancel?.();
      cancel = undefined;
    },
  };
}

/**
 * Writes waiting samples to the store. Never rejects: samples that cannot be written are lost, and an error is logged.
 */
function createWriter(store: SampleStore, log: Log, bytesMax: number) {
  let waiting = new Map<string, NewSample[]>();
  let length = 0;
  /** Number of UTF-16 units of the samples that wait for the next write. Samples being written are not included. */
  let gathered = 0;
  let lost = 0;
  let writing = Promise.resolve();
  /** Number of UTF-16 units written to each run since its oldest samples were last deleted, by run id. */
  const untrimmed = new Map<string, number>();

  const write = async (all: ReadonlyMap<string, readonly NewSample[]>): Promise<void> => {
    for (const [run, samples] of all) {
      try {
        await store.add(run, samples);
        const came = samples.reduce((sum, { about, completion }) => sum + about.length + completion.length, 0);
        // How much was written before this server started is not known, so the oldest samples are deleted after the
        // first write to each run.
        const total = (untrimmed.get(run) ?? Infinity) + came;
        const isDue = total >= bytesMax * TRIM_SHARE;
        untrimmed.set(run, isDue ? 0 : total);
        if (isDue) await store.trim(run, bytesMax);
      } catch (err) {
        log.warn({ err, run, samples: samples.length }, "completions of a run could not be stored and are lost");
      }
    }
  };
  return {
    add: (run: string, samples: readonly RunSample[]): void => {
      const here = waiting.get(run) ?? [];
      for (const { completion, ...about } of samples) {
        if (length > WAITING_MAX) {
          lost++;
          continue;
        }
        const sample = { about: JSON.stringify(about), completion };
        const units = sample.about.length + completion.length;
        length += units;
        gathered += units;
        here.push(sample);
      }
      waiting.set(run, here);
    },
    flush: (): Promise<void> => {
      const [all, units] = [waiting, gathered];
      if (lost > 0) log.warn({ samples: lost }, "completions of runs were dropped because the store writes too slowly");
      waiting = new Map();
      gathered = 0;
      lost = 0;
      return (writing = writing.then(async () => {
        await write(all);
        length -= units;
      }));
    },
    forget: (run: string): void => {
      waiting.delete(run);
      untrimmed.delete(run);
    },
  };
}

/** Deletes expired samples every EXPIRE_MS. Returns a function that stops this. */
function expireOften(store: SampleStore, clock: Clock, log: Log, keptMs: number): () => void {
  let cancel = (): void => undefined;
  const schedule = (): void => {
    cancel = clock.setTimer(EXPIRE_MS, () => {
      store
        .expire(keptMs, EXPIRE_ROWS)
        .catch((err: unknown) => log.warn({ err }, "expired completions could not be deleted: trying again"))
        .finally(schedule);
    });
  };
  schedule();
  return () => cancel();
}

async function pageOf(store: SampleStore, run: string, { below, limit, test }: SampleQuery): Promise<SamplePage> {
  const samples: KeptSample[] = [];
  let [from, length, scanned] = [below, 0, 0];
  while (scanned < SCAN_LENGTH) {
    const part = await store.newest(run, from, READ_ROWS, READ_LENGTH);
    if (part.length === 0) return { samples, next: undefined };
    const read = await mapInSlices(part, ({ about, completion, number, atMs }): KeptSample => {
      return { ...(JSON.parse(about) as Omit<RunSample, "completion">), completion, number, atMs };
    });
    for (const [at, sample] of read.entries()) {
      scanned += (part[at]?.about.length ?? 0) + sample.completion.length;
      from = sample.number;
      if (!test(sample)) continue;
      samples.push(sample);
      length += sample.completion.length + lengthOf(sample.conversation);
      if (samples.length === limit || length >= PAGE_LENGTH) return { samples, next: from };
    }
  }
  return { samples, next: from };
}
