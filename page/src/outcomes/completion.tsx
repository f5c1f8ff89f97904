/** A completion with its answers marked where they stand: as text, whatever it holds. */
import { useState } from "preact/hooks";
import type { AnswerSpan } from "../../../clients/ts/src/outcomes.ts";
import { counted } from "../words.ts";
import { visible } from "./visible.ts";
import { verdictTone } from "./verdict.ts";

/** Code points that are shown at once: nobody reads more, and a megabyte takes a browser seconds to lay out. */
const SHOWN = 6_000;
/** Of them, before an answer that would else stand behind them all. */
const BEFORE = 200;

interface Piece {
  readonly text: string;
  readonly span: AnswerSpan | undefined;
}

/** Pieces of a window of the text; spans count code points. */
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

export function Completion({ text, spans = [] }: { readonly text: string; readonly spans?: readonly AnswerSpan[] }) {
  const [shown, setShown] = useState(SHOWN);
  const points = Array.from(text);
  const last = spans.at(-1);
  // The answer that counts is looked at first, with some of what leads to it; of a longer one its end.
  const from = last === undefined || last.end <= shown ? 0 : Math.max(0, last.start - BEFORE, last.end - shown);
  const to = Math.min(points.length, from + shown);
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
      {to - from < points.length && shown === SHOWN && (
        <button type="button" class="quiet" onClick={() => setShown(SHOWN * 10)}>
          Show more of it
        </button>
      )}
    </>
  );
}
