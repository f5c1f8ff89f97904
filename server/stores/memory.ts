/** A store that forgets everything with the process: for tests and trials. */
import { type Chain, chainOf, KEY_BYTES, START } from "./chain.ts";
import type { EvaluationStore, SamplePlace, StoredEvaluation, StoredSample, StoredTask } from "./evaluation-store.ts";
import {
  type Append,
  type Expired,
  expectVersion,
  LIST_CHARACTERS_MAX,
  type ListedRun,
  type NewRun,
  type Snapshot,
  type Store,
  type StoredRecord,
  type StoredRun,
  type WrittenSummary,
} from "./store.ts";

interface Entry {
  readonly id: string;
  readonly key: number;
  readonly events: Uint8Array[];
  /** Of each event. */
  readonly hashes: Buffer[];
  readonly records: Map<number, string>;
  snapshot: Snapshot | undefined;
  summary: WrittenSummary;
  expiresAtMs: number;
}

function stored({ id, key, events }: Entry): StoredRun {
  return { id, key, version: events.length };
}

function listed(entry: Entry): ListedRun {
  const { head, state } = entry.summary;
  return { ...stored(entry), summary: head === undefined ? undefined : { head, state } };
}

/** How many of the first pieces reach a length; all of them where they do not. */
function reaching<T>(pieces: readonly T[], lengthMax: number, lengthOf: (piece: T) => number): number {
  let length = 0;
  const last = pieces.findIndex((piece) => (length += lengthOf(piece)) >= lengthMax);
  return last < 0 ? pieces.length : last + 1;
}

function write(chain: Chain, entry: Entry, events: readonly Uint8Array[], records: readonly StoredRecord[]): void {
  for (const event of events) {
    const version = entry.events.push(event);
    entry.hashes.push(chain.hash(["event", entry.key, version], entry.hashes.at(-1) ?? START, event));
  }
  for (const { seq, body } of records) entry.records.set(seq, body);
}

function expired(runs: ReadonlyMap<number, Entry>, nowMs: number): Expired {
  const due = [...runs.values()].filter(({ expiresAtMs }) => expiresAtMs < nowMs);
  return { nowMs, runs: due.map(({ id, key, expiresAtMs }) => ({ id, key, expiresAtMs })) };
}

/** `now`: the time, which decides what expires. */
export function memoryStore(now: () => number = Date.now): Store {
  const runs = new Map<number, Entry>();
  // Nobody can change what it keeps.
  const chain = chainOf(Buffer.alloc(KEY_BYTES));
  let nextKey = 1;
  const byId = (id: string): Entry | undefined => runs.values().find((entry) => entry.id === id);

  return {
    create: async ({ id, timeToLiveMs, events, records, summary }: NewRun) => {
      if (byId(id) !== undefined) return "exists";
      const empty = { events: [], hashes: [], records: new Map<number, string>(), snapshot: undefined };
      const entry: Entry = { id, key: nextKey++, ...empty, expiresAtMs: now() + timeToLiveMs, summary };
      write(chain, entry, events, records);
      runs.set(entry.key, entry);
      return "created";
    },
    find: async (id) => {
      const entry = byId(id);
      return entry && stored(entry);
    },
    list: async (afterId, limit) => {
      const after = Buffer.from(afterId);
      const bytes = (entry: Entry): Buffer => Buffer.from(entry.id);
      const rest = [...runs.values()].filter((entry) => Buffer.compare(bytes(entry), after) > 0);
      const sorted = rest.sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
      const size = ({ summary: { head, state } }: Entry): number => (head?.length ?? 0) + state.length;
      const page = sorted.slice(0, Math.min(limit, reaching(sorted, LIST_CHARACTERS_MAX, size)));
      return { runs: page.map(listed), more: page.length < sorted.length };
    },
    append: async (key, { expectedVersion, events, records, summary }: Append) => {
      const entry = runs.get(key);
      if (entry === undefined) return "gone";
      if (entry.events.length !== expectedVersion) return "conflict";
      write(chain, entry, events, records);
      if (summary !== undefined) entry.summary = { head: entry.summary.head, ...summary };
      return "appended";
    },
    read: async (key, fromVersion, bytesMax = Infinity) => {
      const entry = runs.get(key);
      if (entry !== undefined) expectVersion(entry.events.length, fromVersion);
      const events = entry?.events.slice(fromVersion);
      const length = (event: Uint8Array): number => event.length;
      return events?.slice(0, reaching(events, bytesMax, length));
    },
    check: async (_key, _fromVersion, toVersion) => toVersion,
    hash: async (key, version) => runs.get(key)?.hashes[version - 1]?.toString("hex"),
    saveSnapshot: async (key, snapshot) => {
      const entry = runs.get(key);
      if (entry !== undefined && snapshot.version >= (entry.snapshot?.version ?? 0)) entry.snapshot = snapshot;
    },
    snapshot: async (key) => runs.get(key)?.snapshot,
    records: async (key, fromSeq, limit) => {
      const all = [...(runs.get(key)?.records ?? [])].map(([seq, body]) => ({ seq, body }));
      return all
        .filter(({ seq }) => seq >= fromSeq)
        .sort((a, b) => a.seq - b.seq)
        .slice(0, limit);
    },
    touch: async (key, timeToLiveMs) => {
      const entry = runs.get(key);
      if (entry !== undefined) entry.expiresAtMs = Math.max(entry.expiresAtMs, now() + timeToLiveMs);
    },
    remove: async (key) => runs.delete(key),
    expired: async () => expired(runs, now()),
    removeExpired: async (beforeMs) => {
      const { runs: removed } = expired(runs, beforeMs);
      for (const { key } of removed) runs.delete(key);
      return removed;
    },
    close: async () => runs.clear(),
  };
}

// A store that forgets everything with the process: for tests and trials.

const nameOf = ({ ordinal, index }: SamplePlace): string => `${ordinal}/${index}`;
const inOrder = (a: SamplePlace, b: SamplePlace): number => a.ordinal - b.ordinal || a.index - b.index;

export function memoryEvaluationStore(): EvaluationStore {
  const evaluations = new Map<string, StoredEvaluation>();
  let lastKey = 0;
  const samples = new Map<number, Map<string, StoredSample>>();
  const suites = new Map<string, Map<number, StoredTask>>();
  const sorted = (key: number): readonly StoredSample[] => [...(samples.get(key)?.values() ?? [])].sort(inOrder);
  return {
    create: async (id, body) => {
      if (evaluations.has(id)) return "exists";
      const key = ++lastKey;
      evaluations.set(id, { id, key, body });
      samples.set(key, new Map());
      return "created";
    },
    find: async (id) => evaluations.get(id),
    list: async (afterId, limit) => {
      // Ids are ASCII, of which the order of characters is that of bytes.
      const after = [...evaluations.values()].filter(({ id }) => id > afterId);
      return after.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
    },
    remove: async (key) => {
      const found = evaluations.values().find((each) => each.key === key);
      samples.delete(key);
      return found !== undefined && evaluations.delete(found.id);
    },
    saveTasks: async (suite, tasks) => {
      const kept = suites.get(suite) ?? new Map<number, StoredTask>();
      suites.set(suite, kept);
      for (const task of tasks) if (!kept.has(task.ordinal)) kept.set(task.ordinal, task);
    },
    tasks: async (suite, from, to) => {
      const kept = [...(suites.get(suite)?.values() ?? [])];
      return kept.filter(({ ordinal }) => ordinal >= from && ordinal < to).sort((a, b) => a.ordinal - b.ordinal);
    },
    addSample: async (key, sample) => {
      const kept = samples.get(key);
      if (kept === undefined) return { kind: "gone" };
      const first = kept.get(nameOf(sample));
      if (first !== undefined) return { kind: "exists", sample: first };
      kept.set(nameOf(sample), sample);
      return { kind: "added" };
    },
    places: async (key, from, to) =>
      sorted(key)
        .filter(({ ordinal }) => ordinal >= from && ordinal < to)
        .map(({ ordinal, index }) => ({ ordinal, index })),
    count: async (key) => samples.get(key)?.size ?? 0,
    facts: async (key) => sorted(key).map(({ ordinal, index, facts }) => ({ ordinal, index, facts })),
    samples: async (key, after, limit) =>
      sorted(key)
        .filter((sample) => inOrder(sample, after) > 0)
        .slice(0, limit),
    close: async () => undefined,
  };
}
