/**
 * The oracle of the simulation: it records what clients were told, and what must therefore be true. It sees requests
 * and replies only; verdict.ts compares it with the journals at the end.
 */
import type { FeedbackItem, FeedbackStatus, GroupRef, ReportedAdvantages } from "../../server/curriculum/feedback.ts";
import { readHead } from "./reader-state.ts";
import { alike, type Asked, checkAdvantages, type KnownResult, type Selection, type ToldGroup } from "./told.ts";

/** A sample as a client sends it; without a result if the server scores it. */
export type SentSample = Omit<FeedbackItem, "result"> & { readonly result?: KnownResult };

/** A sample that a client was told is recorded. */
export interface Acknowledged {
  readonly runId: string;
  readonly incarnation: string;
  readonly cursor: number;
  readonly sample: number;
  readonly digest: string;
  readonly result: KnownResult | undefined;
  /** Position among all acknowledgements. */
  readonly order: number;
}

/** A group whose advantages a client was told are recorded. */
export interface AcknowledgedReport extends ReportedAdvantages {
  readonly runId: string;
  readonly order: number;
}

/** The state of knowledge when a request was sent. */
export interface Sent<Item> {
  readonly item: Item;
  readonly runId: string;
  readonly acknowledged: Acknowledged | undefined;
  readonly superseded: boolean;
}

export interface Task {
  readonly incarnation: string;
  readonly cursor: number;
  readonly key: { readonly hash: string };
}

export type Model = ReturnType<typeof createModel>;

function nameOf({ incarnation, cursor, sample }: Pick<SentSample, "incarnation" | "cursor" | "sample">): string {
  return `${incarnation}/${cursor}/${sample}`;
}

/** Imports of a run under another id are called "run.copy". */
function originOf(runId: string): string {
  return runId.split(".")[0] ?? "";
}

export function createModel() {
  const violations: string[] = [];
  const acknowledged = new Map<string, Acknowledged>();
  /** Digests that were sent, and how often, by cursor and sample: imports may carry them on. */
  const sent = new Map<string, Map<string, number>>();
  /** Results that a journal may hold, by incarnation, cursor, sample and digest. */
  const offered = new Map<string, KnownResult | undefined>();
  const reports = new Map<string, AcknowledgedReport>();
  const closes: GroupRef[] = [];
  const superseded = new Set<string>();
  /** Incarnations that clients have seen in force, by run, each with the time of the first sight. */
  const seen = new Map<string, Map<string, number>>();
  /** Runs that a client asked to delete, or to replace by an import. */
  const replaced = new Set<string>();
  /** Runs, with their copies, whose groups may be closed before they are complete. */
  const closable = new Set<string>();
  const tasks = new Map<string, Task>();
  const freshlyGiven = new Set<string>();
  /** Number of acknowledgements that an export holds, by incarnation and version. */
  const exports = new Map<string, number>();
  const imports = new Map<string, boolean>();
  /** The group that clients were last told of, and when, by incarnation and cursor. */
  const told = new Map<string, { readonly group: ToldGroup; readonly at: number }>();
  const selections: Selection[] = [];
  /** Update batches, by incarnation, in which a client asked to reopen groups; and the groups, by cursor. */
  const opened = new Set<string>();
  const reopens: GroupRef[] = [];
  let order = 0;
  let moments = 0;

  const violate = (message: string): void => void violations.push(message);
  const fail = ({ item, runId }: Sent<SentSample>, what: string): void =>
    violate(`run ${runId}, sample ${nameOf(item)} "${item.digest}": ${what}`);

  const checkAnswer = (request: Sent<SentSample>, status: FeedbackStatus): void => {
    const { item, runId, acknowledged: before } = request;
    const digests = sent.get(`${item.cursor}/${item.sample}`);
    switch (status.kind) {
      case "recorded":
        if (before !== undefined || acknowledged.has(nameOf(item))) fail(request, "recorded a second time");
        if (request.superseded) fail(request, "recorded although a later incarnation was in force");
        return;
      case "duplicate":
        if ((digests?.get(item.digest) ?? 0) < 2) fail(request, "a duplicate although it was never sent before");
        if (before !== undefined && before.digest !== item.digest) fail(request, "a duplicate of another completion");
        return;
      case "conflicting_completion":
        if ((digests?.size ?? 0) < 2) fail(request, "in conflict with a completion that was never sent");
        if (before?.digest === item.digest) fail(request, "in conflict with itself");
        return;
      case "stale_epoch":
        if (!replaced.has(runId)) fail(request, "stale although its run was never replaced");
        return;
      case "not_recorded":
        if (before !== undefined && !status.detail.includes("long ago")) fail(request, `lost: ${status.detail}`);
        if (!status.detail.includes("closed")) fail(request, `refused: ${status.detail}`);
        if (!closable.has(originOf(runId)) && before === undefined)
          fail(request, `its group was closed: ${status.detail}`);
        return;
    }
  };

  /**
   * Checks that an answer holds all that was acknowledged before the question, unchanged, and that a closed group stays
   * closed.
   */
  const checkTold = (group: ToldGroup, { askedAt, known }: Asked): void => {
    const { incarnation, cursor, batch } = group;
    const name = `${incarnation}/${cursor}`;
    const wrong = (what: string): void => violate(`group ${name} was told ${what}`);
    const samples = new Map(group.samples.map((sample) => [sample.index, sample]));
    for (const sample of group.missing) {
      const before = acknowledged.get(`${name}/${sample}`);
      if (before !== undefined && before.order < known) wrong(`without sample ${sample}, which was acknowledged`);
    }
    for (const { index, result } of group.samples) {
      const before = acknowledged.get(`${name}/${index}`)?.result;
      if (before !== undefined && !alike(before, result)) wrong(`with another result of sample ${index}`);
    }
    if (group.closed) checkAdvantages(group, wrong);
    const last = told.get(name);
    if (last === undefined || last.at >= askedAt) return;
    for (const { index, result } of last.group.samples) {
      const now = samples.get(index)?.result;
      if (now === undefined || !alike(now, result))
        wrong(`without sample ${index}, or with another result, after it was`);
    }
    if (opened.has(`${incarnation}/${batch}`)) return;
    if (last.group.closed && !group.closed) wrong("to be open after it was closed");
    if (last.group.selected && !group.selected) wrong("to be none to train on after it was one");
  };

  return {
    violations,
    violate,
    acknowledged: (): readonly Acknowledged[] => [...acknowledged.values()],
    /** Returns the result of a sent sample; undefined: no such sample was ever sent to this incarnation. */
    offered(incarnation: string, cursor: number, sample: number, digest: string) {
      const name = `${incarnation}/${cursor}/${sample}/${digest}`;
      return offered.has(name) ? { result: offered.get(name) } : undefined;
    },
    tasks: (): readonly Task[] => [...tasks.values()],

    sending(runId: string, item: SentSample): Sent<SentSample> {
      const sample = `${nameOf(item)}/${item.digest}`;
      if (!offered.has(sample)) offered.set(sample, item.result);
      const name = nameOf(item);
      return { item, runId, acknowledged: acknowledged.get(name), superseded: superseded.has(item.incarnation) };
    },
    /** Counts a request that reached a server, perhaps more than once. */
    arrived({ cursor, sample, digest }: SentSample): void {
      const digests = sent.get(`${cursor}/${sample}`) ?? new Map<string, number>();
      sent.set(`${cursor}/${sample}`, digests);
      digests.set(digest, (digests.get(digest) ?? 0) + 1);
    },
    answered(request: Sent<SentSample>, status: FeedbackStatus, result = request.item.result): void {
      checkAnswer(request, status);
      if (status.kind !== "recorded") return;
      const { incarnation, cursor, sample, digest } = request.item;
      const known = { runId: request.runId, incarnation, cursor, sample, digest, result, order: order++ };
      if (!acknowledged.has(nameOf(known))) acknowledged.set(nameOf(known), known);
    },

    reporting(runId: string, item: ReportedAdvantages): Sent<ReportedAdvantages> {
      return { item, runId, acknowledged: undefined, superseded: superseded.has(item.incarnation) };
    },
    reported({ item, runId, superseded: late }: Sent<ReportedAdvantages>, status: FeedbackStatus): void {
      const name = `${item.incarnation}/${item.cursor}`;
      if (status.kind === "not_recorded") violate(`run ${runId}: advantages of ${name} are refused: ${status.detail}`);
      if (status.kind !== "recorded") return;
      if (reports.has(name)) violate(`run ${runId}: advantages of ${name} are recorded a second time`);
      if (late) violate(`run ${runId}: advantages of ${name} are recorded although a later incarnation was in force`);
      reports.set(name, { ...item, runId, order: order++ });
    },
    reports: (): readonly AcknowledgedReport[] => [...reports.values()],
    closed(group: GroupRef, status: FeedbackStatus): void {
      if (status.kind === "recorded") closes.push(group);
    },
    closes: (): readonly GroupRef[] => closes,

    /** Records that a client asks to reopen a group. */
    reopening({ incarnation, cursor }: GroupRef, batch: number): void {
      opened.add(`${incarnation}/${batch}`);
      told.delete(`${incarnation}/${cursor}`);
    },
    reopened(group: GroupRef, status: FeedbackStatus): void {
      if (status.kind === "recorded") reopens.push(group);
    },
    reopens: (): readonly GroupRef[] => reopens,

    /** Returns the model's state at a request, which the client must remember. */
    asking: (): Asked => ({ askedAt: moments++, known: order }),
    /** Groups that a client was told of. */
    toldOf(groups: readonly ToldGroup[], asked: Asked): void {
      for (const group of groups) {
        checkTold(group, asked);
        told.set(`${group.incarnation}/${group.cursor}`, { group, at: moments++ });
      }
    },
    selected: (selection: Selection): void => void selections.push(selection),
    selections: (): readonly Selection[] => selections,

    /** Records issued tasks. `fresh`: the caller asked for tasks that were never issued. */
    given(given: readonly Task[], fresh: boolean): void {
      for (const task of given) {
        const name = `${task.incarnation}/${task.cursor}`;
        const first = tasks.get(name);
        if (first !== undefined && first.key.hash !== task.key.hash) violate(`task ${name} is another one now`);
        tasks.set(name, task);
        if (fresh && freshlyGiven.has(name)) violate(`task ${name} was given out as new twice`);
        if (fresh) freshlyGiven.add(name);
      }
    },

    /** Records that a client asks to delete a run, or to put a state in its place. */
    replacing: (runId: string): void => void replaced.add(runId),
    closing: (runId: string): void => void closable.add(originOf(runId)),
    /** Returns a point in time, to order later questions by. */
    moment: (): number => moments++,
    /**
     * Records the incarnation in a reply. Any other one that was seen before the question was asked must never come
     * back.
     */
    observed(runId: string, incarnation: string, askedAt: number): void {
      const known = seen.get(runId) ?? new Map<string, number>();
      seen.set(runId, known);
      for (const [other, at] of known) if (other !== incarnation && at < askedAt) superseded.add(other);
      if (!known.has(incarnation)) known.set(incarnation, moments++);
    },
    /** Records an acknowledged import. `restores`: it asked for the export's control. */
    imported: (incarnation: string, restores: boolean): void => void imports.set(incarnation, restores),
    imports: (): ReadonlyMap<string, boolean> => imports,
    /** Records that a run was deleted. */
    ended(runId: string, askedAt: number): void {
      for (const [incarnation, at] of seen.get(runId) ?? []) if (at < askedAt) superseded.add(incarnation);
    },

    /** Returns the number of acknowledgements. An export that is requested now contains all of them. */
    acknowledgements: (): number => order,
    exported(saved: Uint8Array, acknowledgements: number): void {
      const { incarnation, version } = readHead(saved);
      const name = `${incarnation}@${version}`;
      exports.set(name, Math.max(exports.get(name) ?? 0, acknowledgements));
    },
    /** Returns the number of acknowledgements in an exported state; undefined: no client has that export. */
    exportedAt: ({ incarnation, version }: { readonly incarnation: string; readonly version: number }) =>
      exports.get(`${incarnation}@${version}`),
  };
}
