/** Draws the answer beside the reference, as the judge compares them. The judge's findings are only in the score. */
import type { Picture, Shape } from "../envs/picture.ts";
import { wrapped } from "./lib/frame.ts";
import { notesOf } from "./lib/picture.ts";
import { rect, text } from "./lib/svg.ts";
import type { Conversation } from "../envs/writing/conversation.ts";

const LINE = 17;
const COLUMN = 460;
const GAP = 20;
const PADDING = 12;
const SIZE = 12;
/** Maximum number of lines shown of a text. A longer text is cut. */
const LINES_MAX = 60;

export function draw({ system, request, reference }: Conversation, candidate?: string): Picture {
  const isAnswered = candidate !== undefined;
  const width = isAnswered ? 2 * COLUMN + GAP : COLUMN;
  const asked = system === undefined ? request : `${system}\n${request}`;
  const above = block(system === undefined ? "the request" : "the instructions and the request", asked, 0, 0, width);
  const top = above.height + GAP;
  const columns = [
    block("the reference", reference, 0, top, COLUMN),
    ...(isAnswered ? [block("the answer", candidate, COLUMN + GAP, top, COLUMN)] : []),
  ];
  const cut = [above, ...columns].reduce((sum, { left }) => sum + left, 0);
  return {
    width,
    height: top + Math.max(...columns.map(({ height }) => height)),
    shapes: [above, ...columns].flatMap(({ shapes }) => shapes),
    legend: [],
    notes: notesOf(cut > 0 ? `${cut} more lines are left out.` : undefined),
  };
}

interface Block {
  readonly shapes: readonly Shape[];
  readonly height: number;
  /** Number of lines of the text that are left out. */
  readonly left: number;
}

function block(title: string, content: string, x: number, y: number, width: number): Block {
  const lines = content.split(/\r?\n/).flatMap((line) => wrapped(line.trim(), width - 2 * PADDING, SIZE));
  const shown = lines.slice(0, LINES_MAX);
  const height = (shown.length + 0.5) * LINE + PADDING;
  return {
    shapes: [
      text(x, y + LINE - 5, "gd-text gd-soft", title),
      rect(x, y + LINE, width, height, "gd-band"),
      ...shown.map((line, i) => text(x + PADDING, y + (i + 2) * LINE, "gd-text", line)),
    ],
    height: LINE + height,
    left: lines.length - shown.length,
  };
}
