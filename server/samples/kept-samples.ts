/**
 * Completions that runs keep for people to look at: the newest ones, with what they came to. They are written behind the
 * answers of a trainer, which never waits for them, and where they cannot be written they are lost, for no run depends on
 * them.
 */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SampleResult } from "../tasks/scoring/scorer.ts";
import { inStretches } from "../base/stretches.ts";
import type { NewSample, SampleStore } from "../stores/sample-store.ts";

/** A completion of a run's task, and what it came to. */
export interface RunSample {
  readonly taskId: string;
  readonly groupId: string;
  /** sample_index. */
  readonly index: number;
  /** The run's, when its task was given out. */
  readonly incarnation: string;
  /** The arm's index, among the run's evaluation arms where it has a round. */
  readonly arm: number;
  readonly cursor: number;
  readonly evaluationRound?: number | undefined;
  readonly policyVersion?: number | undefined;
  readonly completion: string;
  readonly result: SampleResult;
}

export interface KeptSample extends RunSample {
  /** Newer ones have larger numbers. */
  readonly number: number;
  readonly atMs: number;
}

export interface SampleQuery {
  /** Only those with smaller numbers; undefined: all. */
  readonly below: number | undefined;
  readonly limit: number;
  readonly test: (sample: KeptSample) => boolean;
}

export interface SamplePage {
  readonly samples: readonly KeptSample[];
  /** Below which number the next page begins; undefined: this is the last. */
  readonly next: number | undefined;
}

export interface SamplesOptions {
  readonly store: SampleStore;
  readonly clock: Clock;
  readonly log: Log;
  /** UTF-8 bytes that each run keeps; 0: none are kept. */
  readonly bytesMax: number;
  /** Milliseconds that they are kept at most. */
  readonly keptMs: number;
}

export type Samples = ReturnType<typeof createSamples>;

/** How long samples wait for more before they are written together. */
const GATHER_MS = 500;
/** UTF-16 units that may wait, those included that the store has not yet taken; what comes beyond is lost. */
const WAITING_MAX = 32 * 1024 ** 2;
/** The oldest are deleted when so large a part of what a run may keep has come since the last time. */
const TRIM_SHARE = 1 / 16;
/** Samples that expire are looked for this often, and deleted so many at a time: some tens of milliseconds. */
const EXPIRE_MS = 60_000;
const EXPIRE_ROWS = 1024;
/** UTF-16 units that a page holds, and that one call looks through for it. */
const PAGE_LENGTH = 1024 ** 2;
const SCAN_LENGTH = 8 * 1024 ** 2;
/** Read from the store at a time. */
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
    /** Puts samples of a run down to be kept. */
    keep: (run: string, samples: readonly RunSample[]): void => {
      if (bytesMax === 0 || samples.length === 0) return;
      writer.add(run, samples);
      gather();
    },
    /** The newest first. */
    list: async (run: string, query: SampleQuery): Promise<SamplePage> => {
      // Whoever scored a completion here sees it at once.
      await writer.flush();
      return pageOf(store, run, query);
    },
    /** Deletes those of all runs that have or had an id. */
    remove: async (run: string): Promise<void> => {
      writer.forget(run);
      await writer.flush();
      await store.removeRun(run);
    },
    /** Writes what waits, and stops. The store is its owner's to close. */
    close: async (): Promise<void> => {
      cancelGather();
      endExpiry();
      await writer.flush();
    },
  };
}

/** What waits to be written. Never rejects: what cannot be written is told, and lost. */
function createWriter(store: SampleStore, log: Log, bytesMax: number) {
  let waiting = new Map<string, NewSample[]>();
  let length = 0;
  /** Of it, what is gathered and not yet handed to the store. */
  let gathered = 0;
  let lost = 0;
  let writing = Promise.resolve();
  /** Of each run that something came for: UTF-16 units since it was trimmed. */
  const untrimmed = new Map<string, number>();

  const write = async (all: ReadonlyMap<string, readonly NewSample[]>): Promise<void> => {
    for (const [run, samples] of all) {
      try {
        await store.add(run, samples);
        const came = samples.reduce((sum, { about, completion }) => sum + about.length + completion.length, 0);
        // What came before this process is not known: the first time it is trimmed at once.
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
      if (lost > 0)
        log.warn({ samples: lost }, "completions of runs were not kept, for the store takes them too slowly");
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

/** Deletes what is kept for too long. What it returns ends that. */
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
    const read = await inStretches(part, ({ about, completion, number, atMs }): KeptSample => {
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
