/** Steps from a sample to the next, by buttons and by the arrow keys, in the order of the list that led to it. */
import { useEffect } from "preact/hooks";
import { address, type Query, refine } from "../address.ts";

/** Query parameters that name samples, from the first to the last of a list. */
type Places = readonly Query[];

/** List of samples that was shown last, and the address where it was shown. */
let listed: { readonly at: string; readonly places: Places } | undefined;

/** Names the list in the address: its path and its filters. */
function listIn({ path, query }: typeof address.value): string {
  const { group: _group, sample: _sample, instance: _instance, of: _of, ...filters } = query;
  return JSON.stringify([path, Object.entries(filters).sort()]);
}

/** Remembers the order of a list that is shown, for the samples that the reader opens from it. */
export function useListed(places: Places): void {
  useEffect(() => {
    listed = { at: listIn(address.value), places };
  });
}

function indexIn(places: Places, query: Query): number {
  return places.findIndex((place) => Object.entries(place).every(([name, value]) => query[name] === value));
}

/** Elements in which arrow keys have a meaning of their own: they move a cursor, choose or scroll. */
const USES_ARROWS = "input, textarea, select, pre, dialog, [role=region]";

interface StepsProps {
  /** Samples on the page, which are stepped through if the reader did not come from a list. */
  readonly beside: Places;
  /** Name of the things that are stepped through. Defaults to "Samples". */
  readonly what?: string;
}

/** Buttons that lead to the sample before and after. */
export function Steps({ beside, what = "Samples" }: StepsProps) {
  const { query } = address.value;
  const known = listed?.at === listIn(address.value) && indexIn(listed.places, query) >= 0 ? listed.places : beside;
  const at = indexIn(known, query);
  const [before, after] = [known[at - 1], known[at + 1]];
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
      if (target instanceof Element && target.closest(USES_ARROWS) !== null) return;
      const to = key === "ArrowLeft" ? before : key === "ArrowRight" ? after : undefined;
      if (to === undefined) return;
      event.preventDefault();
      refine(to);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [before, after]);
  const button = (words: string, key: string, to: Query | undefined) => (
    <button type="button" aria-keyshortcuts={key} disabled={to === undefined} onClick={() => to && refine(to)}>
      {words}
    </button>
  );
  return (
    <div class="actions steps-to" role="group" aria-label={`${what} before and after`}>
      {button("← Previous", "ArrowLeft", before)}
      <span class="note" role="status">
        {at < 0 ? `${known.length} ${what.toLowerCase()}` : `${at + 1} of ${known.length}`}
      </span>
      {button("Next →", "ArrowRight", after)}
    </div>
  );
}
