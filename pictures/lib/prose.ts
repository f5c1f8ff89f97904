/** Draws texts with formulas, as HTML and MathML within the SVG. The browser breaks the text into lines. */
import type { Shape } from "../../envs/picture.ts";
import { isWide, wrapped } from "./frame.ts";
import { shape, text as line } from "./svg.ts";
import { sizeOf, typeset } from "./tex.ts";

/** Part of a text: words or a formula. */
export type Run =
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "formula"; readonly tex: string; readonly display: boolean };

/** Paragraph with a label before it, e.g. "answer". */
export interface Paragraph {
  readonly label: string;
  /** CSS class of the text, from the style sheet in svg.ts. */
  readonly className: string;
  readonly runs: readonly Run[];
}

export interface Prose {
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

/** Maximum length shown of a paragraph, in UTF-16 units. */
const SHOWN_MAX = 6_000;
/** Maximum number of formulas in a paragraph that are typeset. Further ones are shown as TeX. */
const FORMULAS_MAX = 60;

const FORMULA = /(?<!\\)\$\$([^$]+)\$\$|\\\[(.+?)\\\]|(?<!\\)\$((?:[^$\\]|\\.)+)\$|\\\((.+?)\\\)/gsu;

/** Splits a text into words and formulas. A formula is within dollars or LaTeX brackets, e.g. $x^2$ or \(x^2\). */
export function runsOf(text: string): readonly Run[] {
  const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)} …` : text;
  const runs: Run[] = [];
  let [at, formulas] = [0, 0];
  for (const found of shown.matchAll(FORMULA)) {
    if (formulas++ >= FORMULAS_MAX) break;
    const [whole, dollars, bracket, dollar, parenthesis] = found;
    const display = dollars ?? bracket;
    const before = shown.slice(at, found.index);
    // Drop the line breaks around a display formula, because it stands on lines of its own.
    runs.push({ kind: "words", text: display === undefined ? before : before.trimEnd() });
    const tex = display ?? dollar ?? parenthesis ?? "";
    runs.push({ kind: "formula", tex, display: display !== undefined });
    at = found.index + whole.length;
    if (display !== undefined) at += /^\s*/.exec(shown.slice(at))?.[0].length ?? 0;
  }
  runs.push({ kind: "words", text: shown.slice(at) });
  return runs.filter((run) => run.kind === "formula" || run.text !== "");
}

// Sizes by which the height of the picture is estimated, in pixels. The browser decides the actual layout.

const EM = 16;
const LINE = 1.5 * EM;
const LABEL_WIDTH = 84;
const GAP = 10;
/** Mean width of a letter, in pixels. */
const LETTER = 0.52 * EM;

/** Box to lay out in lines, e.g. a word. A break ends a line, and a display formula has a line for itself. */
interface Box {
  readonly kind: "inline" | "display" | "break";
  readonly width: number;
  readonly height: number;
}

interface SetRun {
  readonly shapes: readonly Shape[];
  readonly boxes: readonly Box[];
}

/** Draws the paragraphs one below the other, with their text beside their labels. */
export function proseOf(paragraphs: readonly Paragraph[], width: number): Prose {
  const inner = width - LABEL_WIDTH;
  let top = 0;
  const shapes = paragraphs.flatMap((paragraph) => {
    const set = paragraph.runs.map(setOf);
    const boxes = set.flatMap((each) => each.boxes);
    const height = heightOf(boxes, inner);
    const html = shape(
      "div",
      { xmlns: "http://www.w3.org/1999/xhtml", class: `gd-prose ${paragraph.className}` },
      set.flatMap((each) => each.shapes),
    );
    const label = line(0, top + 16, "gd-soft", paragraph.label);
    const place = { x: LABEL_WIDTH, y: top, width: inner };
    const shown = shape("foreignObject", { ...place, height, requiredFeatures: EXTENSIBLE, overflow: "visible" }, [
      html,
    ]);
    top += height + GAP;
    return [label, shape("switch", {}, [shown, ...plainLines(paragraph, place.x, place.y, inner, height)])];
  });
  return { width, height: Math.max(0, top - GAP), shapes };
}

/**
 * SVG feature that all browsers report. A renderer that does not report it has no HTML support, and draws the plain
 * lines instead.
 */
const EXTENSIBLE = "http://www.w3.org/TR/SVG11/feature#Extensibility";

function plainLines(
  { runs, className }: Paragraph,
  x: number,
  y: number,
  width: number,
  height: number,
): readonly Shape[] {
  const text = runs.map((run) => (run.kind === "words" ? run.text : run.tex)).join(" ");
  const lines = wrapped(squeezed(text), width, 12)
    .slice(0, Math.floor(height / 18))
    .map((part, i) => line(x, y + 16 + 18 * i, `gd-text ${className}`, part));
  return [shape("g", {}, lines)];
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function setOf(run: Run): SetRun {
  if (run.kind === "words") return words(run.text, "span", "gd-words");
  const formula = typeset(run.tex, run.display);
  if (formula === undefined) return words(run.tex, "code", "gd-code");
  const { width, height } = sizeOf(formula);
  const box: Box = {
    kind: run.display ? "display" : "inline",
    width: width * EM,
    height: Math.max(LINE, height * EM + 6),
  };
  return { shapes: [formula], boxes: [box] };
}

function words(text: string, tag: "span" | "code", className: string): SetRun {
  const lines = text.split(/\n{1,2}/);
  const shapes = lines.flatMap((each, i) => [
    ...(i > 0 ? [shape("br", {})] : []),
    ...(each === "" ? [] : [shape(tag, { class: className }, squeezed(each))]),
  ]);
  const boxes = lines.flatMap((each, i): readonly Box[] => [
    ...(i > 0 ? [{ kind: "break", width: 0, height: LINE } as const] : []),
    ...each
      .split(/\s+/)
      .filter((word) => word !== "")
      .map((word) => ({ kind: "inline", width: widthOf(word) + LETTER, height: LINE }) as const),
  ]);
  return { shapes, boxes };
}

function widthOf(word: string): number {
  let width = 0;
  for (const letter of word) width += isWide(letter) ? EM : LETTER;
  return width;
}

/** Returns an estimate of the height of boxes that are laid out in lines of this width. */
function heightOf(boxes: readonly Box[], width: number): number {
  let [total, x, tallest] = [0, 0, LINE];
  const end = (): void => {
    total += tallest;
    [x, tallest] = [0, LINE];
  };
  for (const box of boxes) {
    if (box.kind === "break" || (x > 0 && (box.kind === "display" || x + box.width > width))) end();
    x += box.width;
    // Count several lines for a word that is longer than a line, because the browser breaks it.
    const lines = box.height > LINE ? 1 : Math.max(1, Math.ceil(box.width / width));
    tallest = Math.max(tallest, box.height * lines);
    if (box.kind === "display") end();
  }
  return Math.ceil(total + (x > 0 ? tallest : 0));
}
