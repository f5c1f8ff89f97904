import type { Marks } from "./marks.ts";

const OPEN = "\\boxed{";
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** "\boxed{…}" with balanced braces, "\{" and "\}" being no braces. Of nested boxes the inner one counts. */
export function scanBoxes(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  let at = text.indexOf(OPEN, start);
  while (at >= 0 && at + OPEN.length <= end) {
    const after = scanBox(text, at, end, offsets);
    if (after < 0) return { offsets, open: true };
    at = text.indexOf(OPEN, after);
  }
  return { offsets, open: false };
}

/**
 * Adds the box that opens at an offset, or the closed ones within it, and gives the offset past its end; -1 if it is
 * never closed. One pass, for a box that is not closed may hold a million others: a stack holds those that are open.
 */
function scanBox(text: string, open: number, end: number, offsets: number[]): number {
  const boxes: { readonly depth: number; readonly inner: number }[] = [];
  let depth = 0;
  let innermost = -1;
  for (let at = open; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH && text.startsWith(OPEN, at)) {
      at += OPEN.length - 1;
      boxes.push({ depth: depth++, inner: at + 1 });
    } else if (unit === BACKSLASH) at++;
    else if (unit === OPEN_BRACE) depth++;
    else if (unit === CLOSE_BRACE && --depth === boxes.at(-1)?.depth) {
      const inner = boxes.pop()?.inner as number;
      if (inner > innermost) offsets.push(inner, at);
      innermost = Math.max(innermost, inner);
      if (boxes.length === 0) return at + 1;
    }
  }
  return -1;
}
