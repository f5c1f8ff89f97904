/** Samples page by page: some at first, and further ones when the reader asks for them. */
import { useState } from "preact/hooks";
import type { SampleFilter } from "../../../clients/ts/src/public.ts";
import type { Outcome } from "../../../clients/ts/src/outcomes.ts";
import type { Query } from "../address.ts";
import { type Gradus, noteFailure } from "../session.ts";

export interface Row {
  readonly key: string;
  /** What leads to it, e.g. "12.3". */
  readonly name: string;
  /** What names it in the address, beside how the list is filtered. */
  readonly named: Query;
  /** Its arm, or its part of the suite. */
  readonly kind: string;
  readonly outcome: Outcome;
  /** E.g. when it was scored. */
  readonly note: string;
}

export interface Page {
  readonly rows: readonly Row[];
  /** Where the next one begins; empty: there is none. */
  readonly next: string;
}

export type Load = (
  gradus: Gradus,
  filter: SampleFilter,
  kind: string,
  pageToken: string,
  signal: AbortSignal,
) => Promise<Page>;

/** A filter that leaves out much makes pages with nothing on them: so many are asked for before the reader is asked. */
const PAGES_AT_ONCE = 5;
const ROWS_AT_ONCE = 50;

/** Pages from one on, until they have something to look at. */
export async function loadSome(load: (token: string) => Promise<Page>, token: string): Promise<Page> {
  let page = await load(token);
  const rows = [...page.rows];
  for (let pages = 1; page.next !== "" && rows.length < ROWS_AT_ONCE && pages < PAGES_AT_ONCE; pages++) {
    page = await load(page.next);
    rows.push(...page.rows);
  }
  return { rows, next: page.next };
}

interface Known extends Page {
  /** The first page, which they go on from. */
  readonly behind: Page | undefined;
  readonly waiting: boolean;
  /** Why those that were asked for last are not there. */
  readonly error?: Error;
}

export interface Further extends Omit<Known, "behind"> {
  /** Asks for what comes next, or once more for what could not be had. */
  readonly goOn: () => void;
}

/** What stands behind the first page. Another first page, of another filter or of a later time, has nothing behind it yet. */
export function useFurther(first: Page | undefined, load: (token: string) => Promise<Page>): Further {
  const [known, setKnown] = useState<Known>();
  const begun: Known = { behind: first, rows: [], next: first?.next ?? "", waiting: false };
  const now = known !== undefined && known.behind === first ? known : begun;
  const goOn = async () => {
    const { behind, rows, next } = now;
    setKnown({ behind, rows, next, waiting: true });
    const settle = (settled: Known) => setKnown((latest) => (latest?.behind === behind ? settled : latest));
    try {
      const more = await loadSome(load, next);
      settle({ behind, rows: [...rows, ...more.rows], next: more.next, waiting: false });
    } catch (thrown) {
      settle({ behind, rows, next, waiting: false, error: noteFailure(thrown) });
    }
  };
  return { ...now, goOn: () => void goOn() };
}
