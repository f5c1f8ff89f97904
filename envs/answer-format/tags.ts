import type { Marks } from "./marks.ts";

const OPEN = "<answer>";
const CLOSE = "</answer>";

/**
 * "<answer>…</answer>" blocks. A second opening tag starts the block anew, so of nested blocks the inner one counts;
 * a closing tag that closes nothing is passed over.
 */
export function scanTags(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  let open = text.indexOf(OPEN, start);
  let close = open < 0 ? -1 : text.indexOf(CLOSE, open);
  while (inside(open, end) && close >= 0 && close + CLOSE.length <= end) {
    let inner = open + OPEN.length;
    let next = text.indexOf(OPEN, inner);
    for (; next >= 0 && next < close; next = text.indexOf(OPEN, inner)) inner = next + OPEN.length;
    offsets.push(inner, close);
    open = next;
    close = open < 0 ? -1 : text.indexOf(CLOSE, open);
  }
  return { offsets, open: inside(open, end) };
}

function inside(open: number, end: number): boolean {
  return open >= 0 && open + OPEN.length <= end;
}
