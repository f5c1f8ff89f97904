/**
 * An independent reader of a run's state as text. It is written from the format's description at the head of
 * server/curriculum/state-text.ts and codec.ts, and shares no code with them.
 */

// What is read is only compared and counted: no shape is checked beyond what that needs.
export type Data = null | boolean | number | string | readonly Data[] | { readonly [name: string]: Data };
export type Row = readonly Data[];

/** What a group's rewards came to. */
export interface Sums {
  readonly count: number;
  readonly sum: number;
  readonly solved: number | null;
}

export interface ReadGroup {
  readonly arm: number;
  readonly ordinal: number;
  readonly key: Data;
  readonly repeat: boolean;
  handedOutAtMs: number | null;
  /** By sample_index. */
  readonly digests: (string | null)[];
  /** By sample_index, as in the journal: a reward, [reward] of a solved sample, a reason. Undefined: known no more. */
  results: (Data | null)[] | undefined;
  /** Undefined: open. */
  closed: Sums | undefined;
  folded: boolean;
}

export interface ReadBatch {
  readonly index: number;
  readonly cursor: number;
  seq: number;
  readonly epoch: number;
  readonly drawnAtMs: number;
  readonly probabilities: Data;
  readonly groups: readonly ReadGroup[];
}

export interface ReadArm {
  issued: number;
  repeats: number;
  nextOrdinal: number;
  groups: number;
  recent: readonly Sums[];
  folded: Sums & { readonly groups: number };
}

export interface ReadRun {
  runId: string;
  version: number;
  /** As it is written. */
  config: { readonly [name: string]: Data };
  createdAtMs: number;
  policy: Data;
  policyState: Data;
  weights: Data;
  masks: readonly (string | null)[];
  paused: boolean;
  incarnations: readonly string[];
  epoch: number;
  rolledBack: readonly (readonly [number, number])[];
  cursor: number;
  handedOut: number;
  batchesDrawn: number;
  batchesClosed: number;
  batchesFolded: number;
  samplesRecorded: number;
  probabilities: Data;
  arms: ReadArm[];
  batches: ReadBatch[];
  /** Hashes of the instances that were issued. */
  issued: Set<string>;
  nextSeq: number;
}

export function sizeOf({ config }: Pick<ReadRun, "config">) {
  return { generations: Number(config["numGenerations"]), prompts: Number(config["promptsPerUpdate"]) };
}

/** The rewards of results in order of sample_index. */
export function sumsOf(results: Row): Sums {
  let [count, sum, solved] = [0, 0, 0];
  for (const result of results) {
    if (result === null || typeof result === "string") continue;
    count++;
    if (Array.isArray(result)) solved++;
    sum += Number(Array.isArray(result) ? result[0] : result);
  }
  return { count, sum, solved };
}

export function taskOf(row: Data): Pick<ReadGroup, "arm" | "ordinal" | "key" | "repeat"> {
  const [arm, ordinal, key = null, repeat] = row as Row;
  return { arm: Number(arm), ordinal: Number(ordinal), key, repeat: repeat === 1 };
}

/** Where each sample of a group stands, in the three columns that events and states write it in. */
export function samplesOf([places = null, digests = null, results = null]: Row) {
  const [texts, values] = typeof digests === "string" ? [[digests], [results]] : [digests as Row, results as Row];
  return texts.map((digest, i) => ({
    sample: Array.isArray(places) ? Number(places[i]) : Number(places) + i,
    digest: digest as string,
    result: values[i] as Data,
  }));
}

function sums(row: Row): Sums {
  return { count: Number(row[0]), sum: Number(row[1]), solved: row[2] as number | null };
}

function readGroup(row: Row, generations: number): ReadGroup {
  const [task = null, handedOutAtMs, ...rest] = row;
  const base = { ...taskOf(task), handedOutAtMs: handedOutAtMs as number | null };
  if (rest.length === 2) {
    const [digests, outcome] = rest as [Row, Row];
    const folded = outcome[5] === true;
    return { ...base, digests: [...(digests as readonly string[])], results: undefined, closed: sums(outcome), folded };
  }
  const digests = new Array<string | null>(generations).fill(null);
  const results = new Array<Data | null>(generations).fill(null);
  for (const { sample, digest, result } of samplesOf(rest)) [digests[sample], results[sample]] = [digest, result];
  return { ...base, digests, results, closed: undefined, folded: false };
}

function readArm(row: Row): ReadArm {
  const [issued, repeats, nextOrdinal, groups, recent, folded] = row;
  const [foldedGroups, ...foldedSums] = folded as Row;
  return {
    ...{ issued: Number(issued), repeats: Number(repeats), nextOrdinal: Number(nextOrdinal), groups: Number(groups) },
    recent: (recent as readonly Row[]).map(sums),
    folded: { groups: Number(foldedGroups), ...sums(foldedSums) },
  };
}

/** What a state says of itself in its first line. */
export function readHead(text: string): { readonly incarnation: string; readonly version: number } {
  const head = JSON.parse(text.split("\n", 1)[0] ?? "") as Pick<ReadRun, "incarnations" | "version">;
  return { incarnation: head.incarnations.at(-1) ?? "", version: head.version };
}

/** Reads a state. Lines of the history, which an export has behind it, are left out. */
export function readState(text: string): ReadRun {
  const [first = "", ...lines] = text.split("\n");
  const { arms, batches: _count, issued: _counts, format, ...plain } = JSON.parse(first) as Record<string, Data>;
  if (format !== 3) throw new Error(`a state of format ${JSON.stringify(format)}`);
  const head = plain as unknown as Omit<ReadRun, "arms" | "batches" | "issued">;
  const { generations } = sizeOf(head);
  const batches: (ReadBatch & { readonly groups: ReadGroup[] })[] = [];
  const issued = new Set<string>();
  for (const line of lines) {
    const [kind, ...rest] = line === "" ? ["history"] : (JSON.parse(line) as Row);
    if (kind === "batch") {
      const [index, cursor, seq, epoch, drawnAtMs] = rest.map(Number);
      const places = { index, cursor, seq, epoch, drawnAtMs } as Pick<ReadBatch, "index" | "cursor" | "epoch">;
      batches.push({ ...(places as ReadBatch), probabilities: rest[5] ?? null, groups: [] });
    } else if (kind === "groups") {
      for (const row of rest) batches.at(-1)?.groups.push(readGroup(row as Row, generations));
    } else if (kind === "issued") {
      for (const hash of (rest[1] as string).split(" ")) issued.add(hash);
    }
  }
  return { ...head, arms: (arms as readonly Row[]).map(readArm), batches, issued };
}
