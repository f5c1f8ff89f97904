/**
 * Counts the reasons why rows of a pool hold no task. Similar reasons count as one kind, so that a report stays short.
 */

/** Rows of a pool that have one kind of reason in common, e.g. why they were rejected. */
export interface RowsWithReason {
  /** Number of the first row with this kind of reason. */
  readonly row: number;
  /** Reason of the first row with this kind of reason. */
  readonly reason: string;
  readonly count: number;
}

/**
 * Maximum number of kinds of reasons; further kinds are counted together. A row reader has few kinds, unless its
 * reasons contain values of the row without quotes.
 */
const KINDS_MAX = 32;

/** Maximum length, in characters, of a stored reason, and of the part that decides the kind. */
const REASON_LENGTH_MAX = 400;

const OTHERS = "other reasons";

export interface ReasonCounter {
  add(rows: RowsWithReason): void;
  /** Returns the kinds in the order of their first rows. */
  counted(): readonly RowsWithReason[];
}

export function createReasonCounter(): ReasonCounter {
  const kinds = new Map<string, RowsWithReason>();
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

/**
 * Returns a key that is equal for similar reasons: the reason without the row's own values, i.e. numbers, quoted text
 * and lists.
 */
function kindOf(reason: string): string {
  return (
    reason
      .slice(0, REASON_LENGTH_MAX)
      // Replace quoted text. A value that was cut off has no closing quote.
      .replaceAll(/"[^"]*(?:"|$)/g, "…")
      // Replace text in single quotes, but keep the apostrophe within a word.
      .replaceAll(/(?<!\w)'[^']*'(?!\w)/g, "…")
      // Replace a list or an object, and the rest of one that was cut off.
      .replace(/[[{].*[\]}]/s, "…")
      .replace(/[[{].*$/s, "…")
      .replaceAll(/-?\d+(?:\.\d+)?/g, "…")
  );
}
