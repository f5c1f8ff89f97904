/**
 * Keeps counts of runs' samples in the store, beside the samples. Each write adds rows with the counts since the
 * previous write. A process merges all rows of a run into few after its first write, and then after every MERGE_ROWS
 * rows that it wrote.
 *
 * Counts that cannot be written are lost, which affects no run.
 */
import type { Log } from "../base/log.ts";
import { mapInSlices } from "../base/time-slices.ts";
import type { SampleStore, StoredRunCounts } from "../stores/sample-store.ts";
import {
  type ArmCounts,
  countSample,
  type CountedSample,
  emptyCounts,
  type FlatArm,
  flatten,
  made,
  mergeArm,
  mergeFlat,
  type RunCounts,
  trimArm,
} from "./sample-counts.ts";

/**
 * Sample of a run. `incarnation` is the run's name since its creation or last import, when the task was issued. If
 * `evaluationRound` is set, the sample belongs to an evaluation arm, and is not counted.
 */
interface IssuedSample extends CountedSample {
  readonly incarnation: string;
  readonly evaluationRound?: number | undefined;
}

/** Row in the store, as JSON: counts of some arms of one incarnation of a run. */
interface StoredCounts extends Pick<RunCounts, "width"> {
  readonly incarnation: string;
  /** Names of the series, e.g. "violation …", to which `arms` refer by index. Unset in rows of older servers. */
  readonly names?: readonly string[];
  readonly arms: readonly FlatArm[];
}

/**
 * Maximum number of arms, over all runs, whose counts wait to be written. Samples of further arms are not counted. An
 * arm's counts take at most about 64 KiB, and rarely 4 KiB.
 */
const ARMS_WAITING_MAX = 1024;
/** Number of rows that a process writes for a run before it merges all rows of the run. */
const MERGE_ROWS = 64;
/** Number of a run's newest incarnations whose counts are kept. Each import of the run begins a new incarnation. */
const INCARNATIONS_MAX = 32;
/** Length of a row, in UTF-16 units, above which the next arm begins a new row. */
const ROW_LENGTH = 64 * 1024;

type ByIncarnation = ReadonlyMap<string, RunCounts>;

export type RunCounter = ReturnType<typeof createRunCounter>;

/** Creates a counter of runs' samples. `onWritten` is called with the id of each run whose new counts were written. */
export function createRunCounter(store: SampleStore, log: Log, onWritten?: (run: string) => void) {
  let waiting = new Map<string, Map<string, RunCounts>>();
  let armsWaiting = 0;
  let lost = 0;
  let writing = Promise.resolve();
  /** Number of rows written to each run since this process last merged its rows, by run id. */
  const unmerged = new Map<string, number>();

  const writeRows = async (run: string, rows: readonly string[]): Promise<void> => {
    try {
      await Promise.all(rows.map((row) => store.addCounts(run, row)));
      // Earlier processes may have left rows, so a process merges after its first write to a run.
      const total = (unmerged.get(run) ?? Infinity) + rows.length;
      const isDue = total >= MERGE_ROWS;
      unmerged.set(run, isDue ? 0 : total);
      if (isDue) await mergeRows(store, run);
    } catch (err) {
      log.warn({ err, run }, "counts of a run's samples could not be stored and are lost");
    }
  };
  const write = async (beside: () => Promise<unknown>): Promise<void> => {
    const all = waiting;
    if (lost > 0) log.warn({ samples: lost }, "samples of runs were not counted because the store writes too slowly");
    waiting = new Map();
    [armsWaiting, lost] = [0, 0];
    const rows: (readonly [run: string, rows: readonly string[]])[] = [];
    for (const [run, counts] of all) rows.push([run, await rowsOf(counts)]);
    await Promise.all([beside(), ...rows.map((each) => writeRows(...each))]);
    for (const [run] of rows) onWritten?.(run);
  };
  const flush = (beside = async (): Promise<unknown> => undefined): Promise<void> =>
    (writing = writing.then(() => write(beside)));
  return {
    /** Counts samples of a run. */
    add: (run: string, samples: readonly IssuedSample[]): void => {
      for (const sample of samples) {
        if (sample.evaluationRound !== undefined) continue;
        const counts = made(made(waiting, run, newMap), sample.incarnation, emptyCounts);
        const isNew = !counts.arms.has(sample.arm);
        if (isNew && armsWaiting >= ARMS_WAITING_MAX) {
          lost++;
          continue;
        }
        if (isNew) armsWaiting++;
        countSample(counts, sample);
      }
    },
    /** Writes the new counts to the store. Writes that `beside` begins are committed together with the counts. */
    flush,
    /** Writes new counts, then returns the counts of the samples whose tasks the run issued in these incarnations. */
    of: async (run: string, incarnations: readonly string[]): Promise<RunCounts> => {
      await flush();
      const wanted = new Set(incarnations);
      const merged = await readRows(await store.counts(run), (incarnation) => wanted.has(incarnation));
      const all = merged.get(true) ?? emptyCounts();
      await mapInSlices([...all.arms.values()], trimArm);
      return all;
    },
    forget: (run: string): void => {
      waiting.delete(run);
      unmerged.delete(run);
    },
  };
}

const newMap = (): Map<string, RunCounts> => new Map();

/** Returns the counts of all arms together. */
export async function totalOf({ arms }: RunCounts) {
  const total: ArmCounts = new Map();
  await mapInSlices([...arms.values()], (arm) => mergeArm(total, arm));
  trimArm(total);
  return total;
}

/** Replaces a run's rows by as few as possible. Does nothing if another process has replaced any of them meanwhile. */
async function mergeRows(store: SampleStore, run: string): Promise<void> {
  const rows = await store.counts(run);
  const read = await readRows(rows, (incarnation) => incarnation);
  const newest = new Map([...read].slice(-INCARNATIONS_MAX));
  const merged = await rowsOf(newest);
  const numbers = rows.map(({ number }) => number);
  await store.replaceCounts(run, numbers, merged);
}

/** Parses stored rows, and adds up the counts of all rows for which `keyOf` returns the same key. */
async function readRows<Key>(
  rows: readonly StoredRunCounts[],
  keyOf: (incarnation: string) => Key,
): Promise<ReadonlyMap<Key, RunCounts>> {
  const read = new Map<Key, RunCounts>();
  await mapInSlices(rows, ({ body }) => {
    const { incarnation, width, names = [], arms } = JSON.parse(body) as StoredCounts;
    mergeFlat(made(read, keyOf(incarnation), emptyCounts), width, arms, names);
  });
  return read;
}

/** Returns counts as JSON rows for the store, each about ROW_LENGTH long or shorter. */
async function rowsOf(all: ByIncarnation): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const [incarnation, { width, arms }] of all) {
    let names = new Map<string, number>();
    let namesLength = 0;
    let row = "";
    const indexOf = (name: string): number =>
      made(names, name, () => {
        namesLength += name.length;
        return names.size;
      });
    const endRow = (): void => {
      const head = JSON.stringify({ incarnation, width, names: [...names.keys()] });
      rows.push(`${head.slice(0, -1)},"arms":[${row}]}`);
      names = new Map();
      namesLength = 0;
      row = "";
    };
    await mapInSlices([...arms], ([index, arm]) => {
      trimArm(arm);
      if (namesLength + row.length > ROW_LENGTH) endRow();
      const text = JSON.stringify(flatten(index, arm, indexOf));
      row += row === "" ? text : `,${text}`;
    });
    if (row !== "") endRow();
  }
  return rows;
}
