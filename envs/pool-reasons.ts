/** Why rows of a pool hold no task: counted by kind, so that a report is short however many rows there are. */

/** Rows that were rejected for one kind of reason. */
export interface RejectedRows {
  /** The first of them. */
  readonly row: number;
  /** What is wrong with that one. */
  readonly reason: string;
  readonly count: number;
}

/** Kinds that are told apart; the rest are counted together. A reader has few, unless it names the row's values unquoted. */
const KINDS_MAX = 32;

/** What a kind is told by, and what is kept of a reason. */
const REASON_LENGTH_MAX = 400;

const OTHERS = "other reasons";

export interface ReasonCounter {
  add(rows: RejectedRows): void;
  /** In the order of their first rows. */
  counted(): readonly RejectedRows[];
}

export function createReasonCounter(): ReasonCounter {
  const kinds = new Map<string, RejectedRows>();
  return {
    add({ row, reason, count }) {
      const own = kindOf(reason);
      const kind = kinds.has(own) || kinds.size < KINDS_MAX ? own : OTHERS;
      const before = kinds.get(kind);
      const first = { row, reason: kind === OTHERS ? OTHERS : reason.slice(0, REASON_LENGTH_MAX) };
      kinds.set(kind, { ...(before ?? first), count: (before?.count ?? 0) + count });
    },
    counted: () => [...kinds.values()].toSorted((a, b) => a.row - b.row),
  };
}

/** What the row's own values leave of a reason: two that differ only in numbers, quoted text or lists are of one kind. */
function kindOf(reason: string): string {
  return (
    reason
      .slice(0, REASON_LENGTH_MAX)
      // A value that was cut has no closing quote.
      .replaceAll(/"[^"]*(?:"|$)/g, "…")
      // Not the apostrophe of a word.
      .replaceAll(/(?<!\w)'[^']*'(?!\w)/g, "…")
      // A list or an object, and what is left of one that was cut.
      .replace(/[[{].*[\]}]/s, "…")
      .replace(/[[{].*$/s, "…")
      .replaceAll(/-?\d+(?:\.\d+)?/g, "…")
  );
}
