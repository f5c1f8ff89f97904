/** Loads samples page by page: some at first, and more on request. */
import { useState } from "preact/hooks";
import type { SampleFilter } from "../../../clients/ts/src/public.ts";
import type { Outcome } from "../../../clients/ts/src/outcomes.ts";
import type { Query } from "../address.ts";
import { type Gradus, noteFailure } from "../connection.ts";

export interface Row {
  readonly key: string;
  /** Text of the sample's link, e.g. "12.3". */
  readonly name: string;
  /** Query parameters that identify the sample in the address, beside those of the filter. */
  readonly named: Query;
  /** Arm of the sample, or part of the suite. */
  readonly kind: string;
  readonly outcome: Outcome;
  /** First line of the sample's last marked answer. Empty: no answer is marked. */
  readonly answer: string;
  /** Further information, e.g. when the sample was scored. */
  readonly note: string;
}

export interface Page {
  readonly rows: readonly Row[];
  /** Token of the next page. Empty after the last page. */
  readonly next: string;
}

export type Load = (
  gradus: Gradus,
  filter: SampleFilter,
  kind: string,
  pageToken: string,
  signal: AbortSignal,
) => Promise<Page>;

/** Maximum number of pages loaded before the reader must ask for more. A strict filter gives pages without rows. */
const PAGES_AT_ONCE = 5;
const ROWS_AT_ONCE = 50;

/** Loads pages from `token` on, until there are enough rows to show or too many pages. */
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
  /** First page of the list. The rows of this object are those of the further pages. */
  readonly behind: Page | undefined;
  readonly waiting: boolean;
  /** Error of the last request, if it failed. */
  readonly error?: Error;
}

export interface Further extends Omit<Known, "behind"> {
  /** Loads the next rows, or retries after an error. */
  readonly goOn: () => void;
}

/**
 * Returns the rows after the first page. A different first page (another filter or a later time) starts without further
 * rows.
 */
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
