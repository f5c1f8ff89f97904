/** Shows a completion as plain text, whatever it contains, with its answers marked. */
import { useMemo, useState } from "preact/hooks";
import type { AnswerSpan } from "../../../clients/ts/src/outcomes.ts";
import { CopyButton } from "../ui/parts.tsx";
import { counted } from "../words.ts";
import { visible } from "./visible.ts";
import { verdictTone } from "./verdict.ts";

/** Number of code points that are shown at first, because browsers need seconds to lay out a megabyte. */
const SHOWN = 6_000;
/** Number of code points to show before the last answer, if the start of the completion is not shown at first. */
const BEFORE = 200;

interface Piece {
  readonly text: string;
  readonly span: AnswerSpan | undefined;
}

/** Splits a part of a completion into pieces, each within one marked answer or outside of all answers. */
function piecesOf(points: readonly string[], spans: readonly AnswerSpan[], from: number, to: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = from;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const start = Math.max(at, span.start);
    const end = Math.min(to, span.end);
    if (end <= start) continue;
    pieces.push({ text: points.slice(at, start).join(""), span: undefined });
    pieces.push({ text: points.slice(start, end).join(""), span });
    at = end;
  }
  pieces.push({ text: points.slice(at, to).join(""), span: undefined });
  return pieces.filter(({ text }) => text !== "");
}

/** Number of characters that the buttons "before" and "more" add to the shown part of a completion. */
const STEP = 60_000;

interface Window {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the part of the text to show at first: the last answer and some text before it, or the end of that answer if
 * it is long.
 */
function firstWindow(length: number, last: AnswerSpan | undefined): Window {
  const from = last === undefined || last.end <= SHOWN ? 0 : Math.max(0, last.start - BEFORE, last.end - SHOWN);
  return { from, to: Math.min(length, from + SHOWN) };
}

export function Completion({ text, spans = [] }: { readonly text: string; readonly spans?: readonly AnswerSpan[] }) {
  const [more, setMore] = useState({ before: 0, after: 0 });
  const points = useMemo(() => Array.from(text), [text]);
  const first = firstWindow(points.length, spans.at(-1));
  const from = Math.max(0, first.from - more.before);
  const to = Math.min(points.length, first.to + more.after);
  return (
    <>
      <pre class="completion" tabIndex={0} aria-label="The completion">
        {from > 0 && <i>{`… ${counted(from, "character")} before …\n`}</i>}
        {piecesOf(points, spans, from, to).map(({ text: part, span }, at) =>
          span === undefined ? (
            <span key={at}>{visible(part)}</span>
          ) : (
            <mark key={at} class={verdictTone(span.verdict, span.solved)} title={`an answer: ${span.verdict}`}>
              {visible(part)}
            </mark>
          ),
        )}
        {text === "" && <i>The completion is empty.</i>}
        {to < points.length && <i>{`\n… ${counted(points.length - to, "character")} more`}</i>}
      </pre>
      <p class="steps">
        {from > 0 && (
          <button type="button" class="quiet" onClick={() => setMore({ ...more, before: more.before + STEP })}>
            Show {counted(Math.min(STEP, from), "character")} before
          </button>
        )}
        {to < points.length && (
          <button type="button" class="quiet" onClick={() => setMore({ ...more, after: more.after + STEP })}>
            Show {counted(Math.min(STEP, points.length - to), "character")} more
          </button>
        )}
        {text !== "" && <CopyButton text={text} what="the completion" />}
      </p>
    </>
  );
}
