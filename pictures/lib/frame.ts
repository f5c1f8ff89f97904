/**
 * Frames a picture with its title above, and its legend and notes below, as an SVG document. Also fits text into lines
 * and draws amounts end to end, e.g. the weights of a knapsack.
 */
import type { LegendEntry, Picture, Shape } from "../../envs/picture.ts";
import {
  circle,
  hatching,
  LABEL_SIZE,
  path,
  rect,
  segment,
  shape,
  STYLE_SHEET,
  text,
  TINY_SIZE,
  toXml,
} from "./svg.ts";

export interface Headline {
  readonly text: string;
  /** Style of the line: a title, plain text, good news or bad news. */
  readonly tone: "title" | "plain" | "good" | "bad";
}

const MARGIN = 20;
const LINE = 18;
const WIDTH_MIN = 520;
/** Mean width of a letter, as a share of the font size. Chosen large enough that no line becomes too wide. */
const LETTER = 0.58;

const TONES: Readonly<Record<Headline["tone"], string>> = {
  title: "gd-title",
  plain: "gd-text",
  good: "gd-text gd-good",
  bad: "gd-text gd-bad",
};

/** Returns an estimate of a text's width, in pixels, which is rarely exceeded. */
function textWidth(content: string, size = 12): number {
  return content.length * size * LETTER;
}

/** Returns the picture, with the headlines above it, as an SVG document. */
export function framed(picture: Picture, headlines: readonly Headline[]): string {
  const width = Math.max(WIDTH_MIN, picture.width) + 2 * MARGIN;
  const inner = width - 2 * MARGIN;
  const above = headlines.flatMap(({ text: line, tone }) =>
    wrapped(line, inner, tone === "title" ? 15 : 12).map((part) => ({ part, className: TONES[tone] })),
  );
  const top = MARGIN + above.length * LINE + 8;
  const below = top + picture.height + LINE;
  const legend = legendShapes(picture.legend, below, inner);
  const notes = picture.notes.flatMap((note) => wrapped(note, inner, 12));
  const notesTop = below + legend.height;
  const height = notesTop + notes.length * LINE + MARGIN - LINE / 2;
  const left = (width - picture.width) / 2;
  return toXml(
    shape(
      "svg",
      {
        xmlns: "http://www.w3.org/2000/svg",
        class: "gd",
        role: "img",
        width,
        height,
        viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
      },
      [
        shape("title", {}, headlines[0]?.text ?? ""),
        shape("desc", {}, [...headlines.slice(1).map((line) => line.text), ...picture.notes].join("; ")),
        shape("style", {}, STYLE_SHEET),
        rect(0, 0, width, height, "gd-paper"),
        ...above.map(({ part, className }, i) => text(MARGIN, MARGIN + (i + 0.7) * LINE, className, part)),
        shape("g", { transform: `translate(${Math.round(left)} ${top})` }, picture.shapes),
        ...legend.shapes,
        ...notes.map((line, i) => text(MARGIN, notesTop + (i + 0.7) * LINE, "gd-soft", line)),
      ],
    ),
  );
}

/** Draws the entries of a legend from left to right, in as many lines as needed. */
function legendShapes(entries: readonly LegendEntry[], top: number, width: number) {
  const shapes: Shape[] = [];
  let [x, line] = [0, 0];
  for (const entry of entries) {
    const step = textWidth(entry.text) + 52;
    if (x > 0 && x + step > width) [x, line] = [0, line + 1];
    const y = top + (line + 0.5) * LINE;
    shapes.push(...swatch(entry, MARGIN + x, y), text(MARGIN + x + 28, y + 4, "gd-text", entry.text));
    x += step;
  }
  return { shapes, height: entries.length === 0 ? 0 : (line + 1) * LINE + 4 };
}

/** Draws the mark of a legend entry. (x, y) is the middle of the mark's left edge. */
function swatch({ mark, className }: LegendEntry, x: number, y: number): readonly Shape[] {
  if (mark === "dot") return [circle(x + 10, y, 6, className)];
  if (mark === "box") return [rect(x, y - 6, 20, 12, className)];
  if (mark === "line") return [path([segment(x, y, x + 20, y)], className)];
  return [path(hatching(x, y - 6, 20, 12), className)];
}

/** Breaks a text into lines of at most this width in pixels, at spaces if possible. `size` is the font size. */
export function wrapped(content: string, width: number, size: number): readonly string[] {
  const longest = Math.floor(width / (size * LETTER));
  const lines: string[] = [];
  for (let rest = content; ;) {
    const fit = fitting(rest, longest);
    if (fit === rest.length) return [...lines, rest];
    const space = rest.lastIndexOf(" ", fit);
    const end = space > 0 ? space : fit;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
}

/** Returns the text, cut to the width of `letters` letters with an ellipsis if it is wider. */
export function cutTo(content: string, letters: number): string {
  return fitting(content, letters) === content.length ? content : `${content.slice(0, fitting(content, letters - 1))}…`;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/**
 * Returns whether a letter is as wide as the font size: Chinese, Japanese and Korean, their punctuation, full-width
 * forms, and pictograms.
 */
export function isWide(letter: string): boolean {
  return letter >= "\u1100" && WIDE.test(letter);
}

/**
 * Returns how many UTF-16 units of a text fit into the width of `letters` letters. Counts whole characters, and at
 * least one.
 */
function fitting(content: string, letters: number): number {
  let [at, left] = [0, letters];
  for (const letter of content) {
    left -= isWide(letter) ? 1 / LETTER : 1;
    if (left < 0 && at > 0) break;
    at += letter.length;
  }
  return at;
}

/** Minimum space between labels, as a share of their font size. With less, two numbers read as one. */
const BLANK = 0.5;

/**
 * Draws a label around a point, in the largest size that fits the width. Draws nothing if it would overlap its
 * neighbours.
 */
export function labelShapes(words: string, x: number, y: number, width: number, className = ""): readonly Shape[] {
  const classes = className === "" ? "gd-label" : `gd-label ${className}`;
  if (width > textWidth(words, LABEL_SIZE) + LABEL_SIZE * BLANK) return [text(x, y, classes, words)];
  return width > textWidth(words, TINY_SIZE) + TINY_SIZE * BLANK ? [text(x, y, `${classes} gd-tiny`, words)] : [];
}

// Types and functions for drawing stacks. A stack draws amounts, e.g. weights of items, end to end beside a limit that
// their sum must reach or must not exceed.

export interface Piece {
  readonly amount: number;
  readonly label: string;
  readonly className: string;
  /** CSS class of the label, which makes it readable on the amount's colour. */
  readonly onClass: string;
  /** True if the amount must not count at all, e.g. because its index was listed before. */
  readonly wrong: boolean;
}

/**
 * Returns the amounts at the chosen indices, in the order listed. Leaves out indices that do not exist. Labels are the
 * amounts or their indices.
 */
export function piecesOf(
  chosen: readonly number[],
  amounts: ArrayLike<number>,
  label: "amount" | "index",
  className: string,
): readonly Piece[] {
  const seen = new Set<number>();
  return chosen.flatMap((index) => {
    const amount = amounts[index];
    if (amount === undefined) return [];
    const wrong = seen.has(index);
    seen.add(index);
    const onClass = className === "gd-f0" ? "gd-on-dark" : "gd-on-light";
    return [{ amount, label: `${label === "amount" ? amount : index}`, className, onClass, wrong }];
  });
}

export const STACK = 34;
const ROW = STACK + 26;

interface Stacks {
  /** Caption above each stack, and its amounts. */
  readonly rows: readonly (readonly [words: string, pieces: readonly Piece[]])[];
  readonly left: number;
  readonly top: number;
  /** Width of one unit of an amount, in pixels. */
  readonly scale: number;
  readonly limit: number;
  /** Name of the limit, e.g. "capacity". The drawing appends the limit's value. */
  readonly words: string;
  /** Width of the picture. The limit's label stays within it. */
  readonly width: number;
}

/**
 * Draws stacks of amounts one below the other, with the line of one limit through all of them. `bottom` is the y
 * coordinate where the stacks end.
 */
export function stacks({ rows, left, top, scale, limit, words, width }: Stacks): {
  readonly shapes: readonly Shape[];
  /** Line and label of the limit, to be drawn last. */
  readonly line: readonly Shape[];
  readonly bottom: number;
} {
  const shapes = rows.flatMap(([above, pieces], i) => [
    text(left, top + i * ROW - 6, "gd-text", above),
    ...stackShapes(pieces, left, top + i * ROW, scale, limit),
  ]);
  const x = left + limit * scale;
  // Interrupt the limit's line at the captions above the rows.
  const segments = rows.map((_, i) => segment(x, top - 4 + i * ROW, x, top + STACK + 4 + i * ROW));
  const said = `${words} ${limit}`;
  const half = textWidth(said) / 2;
  const middle = text(Math.min(Math.max(x, half), width - half), top - 35, "gd-mid", said);
  return { shapes, line: [path(segments, "gd-limit"), middle], bottom: top + rows.length * ROW };
}

/** Maximum number of amounts drawn separately. The rest is drawn as one, because more cannot be told apart. */
const PIECES_MAX = 128;

function drawable(pieces: readonly Piece[]): readonly Piece[] {
  const rest = pieces.slice(PIECES_MAX);
  const [last] = rest;
  if (last === undefined) return pieces;
  return [...pieces.slice(0, PIECES_MAX), { ...last, amount: sumOfPieces(rest), label: "", wrong: true }];
}

/**
 * Draws the amounts of a stack from left to right, in a frame as wide as the limit. Hatches every amount that is wrong
 * or beyond the limit.
 */
function stackShapes(
  pieces: readonly Piece[],
  left: number,
  top: number,
  scale: number,
  limit: number,
): readonly Shape[] {
  let sum = 0;
  const shapes = drawable(pieces).flatMap(({ amount, label, className, onClass, wrong }) => {
    const [start, end] = [sum, sum + amount];
    sum = end;
    const [x, width] = [left + start * scale, amount * scale];
    const from = wrong ? start : Math.max(start, limit);
    const beyond = Math.max(0, end - from) * scale;
    return [
      rect(x, top, Math.max(0.5, width - 1), STACK, className),
      ...(beyond > 0 ? [path(hatching(left + from * scale, top, beyond, STACK), "gd-hatch")] : []),
      ...(width > 9 + 6 * label.length ? [text(x + width / 2, top + STACK / 2, onClass, label)] : []),
    ];
  });
  return [rect(left, top, limit * scale, STACK, "gd-plain"), ...shapes];
}

export function sumOfPieces(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { amount }) => sum + amount, 0);
}
