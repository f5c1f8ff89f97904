/**
 * Keeps the newest completions of runs with their outcomes, for people to look at. They are written after the trainer
 * has its answer, so a trainer never waits for them. If they cannot be written they are lost, because no run depends on
 * them.
 */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SampleResult } from "../tasks/scoring/scorer.ts";
import { mapInSlices } from "../base/time-slices.ts";
import type { NewSample, SampleStore } from "../stores/sample-store.ts";

/** A completion of a run's task, with its outcome. */
export interface RunSample {
  readonly taskId: string;
  readonly groupId: string;
  /** Index of the sample within its group, the `sample_index` of the contract. */
  readonly index: number;
  /** The run's incarnation when its task was given out. */
  readonly incarnation: string;
  /** The arm's index; with `evaluationRound`, its index among the run's evaluation arms. */
  readonly arm: number;
  readonly cursor: number;
  readonly evaluationRound?: number | undefined;
  readonly policyVersion?: number | undefined;
  readonly completion: string;
  readonly result: SampleResult;
}

export interface KeptSample extends RunSample {
  /** Newer samples have larger numbers. */
  readonly number: number;
  readonly atMs: number;
}

export interface SampleQuery {
  /** Returns only samples with smaller numbers; undefined: all. */
  readonly below: number | undefined;
  readonly limit: number;
  readonly test: (sample: KeptSample) => boolean;
}

export interface SamplePage {
  readonly samples: readonly KeptSample[];
  /** The next page begins below this number; undefined: this is the last. */
  readonly next: number | undefined;
}

export interface SamplesOptions {
  readonly store: SampleStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum UTF-8 bytes that each run keeps; 0: none are kept. */
  readonly bytesMax: number;
  /** Maximum age of a sample, in milliseconds. */
  readonly keptMs: number;
}

export type Samples = ReturnType<typeof createSamples>;

/** Time that samples wait for more, to be written together, in milliseconds. */
const GATHER_MS = 500;
/** Maximum UTF-16 units of samples that wait or that the store has not yet taken; further samples are lost. */
const WAITING_MAX = 32 * 1024 ** 2;
/** Share of a run's maximum after which its oldest samples are deleted again. */
const TRIM_SHARE = 1 / 16;
/**
 * Interval of deleting expired samples, in milliseconds, and the number deleted at a time, which takes some tens of
 * milliseconds.
 */
const EXPIRE_MS = 60_000;
const EXPIRE_ROWS = 1024;
/** Maximum UTF-16 units of a page, and of the samples that one call reads for it. */
const PAGE_LENGTH = 1024 ** 2;
const SCAN_LENGTH = 8 * 1024 ** 2;
/** Maximum samples and UTF-16 units that are read from the store at a time. */
const READ_ROWS = 256;
const READ_LENGTH = 1024 ** 2;

export function createSamples({ store, clock, log, bytesMax, keptMs }: SamplesOptions) {
  const writer = createWriter(store, log, bytesMax);
  let cancelGather = (): void => undefined;
  let isGathering = false;
  const gather = (): void => {
    if (isGathering) return;
    isGathering = true;
    cancelGather = clock.setTimer(GATHER_MS, () => {
      isGathering = false;
      void writer.flush();
    });
  };
  const endExpiry = expireOften(store, clock, log, keptMs);
  return {
    bytesMax,
    keptMs,
    /** Queues samples of a run to be written. */
    keep: (run: string, samples: readonly RunSample[]): void => {
      if (bytesMax === 0 || samples.length === 0) return;
      writer.add(run, samples);
      gather();
    },
    /** Returns samples, the newest first. */
    list: async (run: string, query: SampleQuery): Promise<SamplePage> => {
      // Writes waiting samples first, so that a caller that scored a completion here sees it at once.
      await writer.flush();
      return pageOf(store, run, query);
    },
    /** Deletes the samples of all runs that have or had an id. */
    remove: async (run: string): Promise<void> => {
      writer.forget(run);
      await writer.flush();
      await store.removeRun(run);
    },
    /** Writes the waiting samples, and stops. The store's owner closes the store. */
    close: async (): Promise<void> => {
      cancelGather();
      endExpiry();
      await writer.flush();
    },
  };
}

/** Writes waiting samples. Never rejects: samples that cannot be written are logged, and lost. */
function createWriter(store: SampleStore, log: Log, bytesMax: number) {
  let waiting = new Map<string, NewSample[]>();
  let length = 0;
  /** UTF-16 units of `length` that are not yet handed to the store. */
  let gathered = 0;
  let lost = 0;
  let writing = Promise.resolve();
  /** UTF-16 units that were written since the last trim, by run. */
  const untrimmed = new Map<string, number>();

  const write = async (all: ReadonlyMap<string, readonly NewSample[]>): Promise<void> => {
    for (const [run, samples] of all) {
      try {
        await store.add(run, samples);
        const came = samples.reduce((sum, { about, completion }) => sum + about.length + completion.length, 0);
        // The amount that earlier processes wrote is unknown, so a run is trimmed at its first write.
        const total = (untrimmed.get(run) ?? Infinity) + came;
        const isDue = total >= bytesMax * TRIM_SHARE;
        untrimmed.set(run, isDue ? 0 : total);
        if (isDue) await store.trim(run, bytesMax);
      } catch (err) {
        log.warn({ err, run, samples: samples.length }, "completions of a run could not be kept");
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

/** Deletes expired samples at intervals. Returns a function that ends this. */
function expireOften(store: SampleStore, clock: Clock, log: Log, keptMs: number): () => void {
  let cancel = (): void => undefined;
  const schedule = (): void => {
    cancel = clock.setTimer(EXPIRE_MS, () => {
      store
        .expire(keptMs, EXPIRE_ROWS)
        .catch((err: unknown) => log.warn({ err }, "completions that expired could not be deleted"))
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
      length += sample.completion.length;
      if (samples.length === limit || length >= PAGE_LENGTH) return { samples, next: from };
    }
  }
  return { samples, next: from };
}
