/**
 * Converts TeX to MathML, which browsers typeset without a script or a font from us. The TeX may come from a model.
 * Only listed elements and attributes pass, and no list contains links or images.
 */
import type { Shape } from "../../envs/picture.ts";
import temml from "temml";
import { shape } from "./svg.ts";
import { splitWords } from "../../envs/lib/words.ts";

type Attributes = Shape["attributes"];

/** Maximum length of a formula's TeX, in UTF-16 units. */
const TEX_LENGTH_MAX = 2_000;
/** Maximum length of the markup made of a formula, in UTF-16 units. */
const MARKUP_LENGTH_MAX = 16_000;
const DEPTH_MAX = 64;

/**
 * Returns a formula as MathML, or undefined if the TeX is invalid or exceeds a limit. The caller then shows the TeX as
 * text.
 */
export function typeset(tex: string, display: boolean): Shape | undefined {
  if (tex.length > TEX_LENGTH_MAX || braceDepth(tex) > DEPTH_MAX) return undefined;
  let markup: string;
  try {
    markup = temml.renderToString(tex, {
      xml: true,
      throwOnError: true,
      trust: false,
      strict: false,
      displayMode: display,
      // Allow at most 200 macro expansions (TeX may define macros), and spaces of at most 4 em.
      macros: {},
      maxExpand: 200,
      maxSize: [4, 4],
    });
  } catch {
    return undefined;
  }
  if (markup.length > MARKUP_LENGTH_MAX) return undefined;
  const [root] = readElements({ markup, at: 0 });
  return root?.tag === "math" ? root : undefined;
}

function braceDepth(tex: string): number {
  let [depth, deepest] = [0, 0];
  for (const unit of tex) {
    if (unit === "{") deepest = Math.max(deepest, ++depth);
    else if (unit === "}") depth--;
  }
  return deepest;
}

const PLAIN = splitWords("mrow mi mn mtext mphantom merror msqrt mroot msup msub msubsup munderover mtr mstyle");

/** Allowed elements, with the attributes that each may have in addition to EVERYWHERE. */
const ELEMENTS = new Map<string, readonly string[]>([
  ...PLAIN.map((name) => [name, []] as const),
  ["math", ["xmlns", "display"]],
  ["mo", splitWords("fence form stretchy lspace rspace movablelimits minsize maxsize separator symmetric")],
  ["mfrac", ["linethickness"]],
  ["mspace", ["width", "height", "depth"]],
  ["mover", ["accent"]],
  ["munder", ["accentunder"]],
  ["mtable", ["rowspacing"]],
  ["mtd", ["style", "class"]],
  ["mpadded", ["width", "height", "depth", "lspace", "voffset"]],
  ["menclose", ["notation"]],
]);
const EVERYWHERE: readonly string[] = ["mathvariant", "displaystyle", "scriptlevel"];

/** Alignment classes of a matrix cell within its column. `svg.ts` defines them. */
const CELL_CLASSES: readonly string[] = ["tml-left", "tml-right"];
const CELL_STYLE =
  /^(?:(?:text-align:(?:left|right|center)|padding-(?:left|right):\d{1,2}(?:\.\d{1,4})?(?:em|pt));){1,3}$/;

/** Matches one tag, or the text before the next tag. */
const PIECE = /<(\/?)([a-zA-Z]+)((?:\s+[\w:-]+=(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([\w:-]+)=(?:"([^"]*)"|'([^']*)')/g;

/** Position in the TeX library's output, which is well-formed. */
interface Reader {
  readonly markup: string;
  at: number;
}

/** Pseudo tag of a text node between elements. */
const TEXT = "";

/**
 * Reads elements up to the closing tag of their parent, or up to the end. An element that is not allowed is replaced by
 * its content.
 */
function readElements(reader: Reader): readonly Shape[] {
  const found: Shape[] = [];
  for (;;) {
    PIECE.lastIndex = reader.at;
    const piece = PIECE.exec(reader.markup);
    if (piece === null) return found;
    reader.at = PIECE.lastIndex;
    const [, closing, tag = "", attributes = "", empty, text] = piece;
    if (text !== undefined) found.push(shape(TEXT, {}, unescaped(text)));
    else if (closing === "/") return found;
    else found.push(...elementOf(tag, attributes, empty === "/" ? [] : readElements(reader)));
  }
}

/** Returns an element with its allowed attributes. A MathML element holds either only text or only elements. */
function elementOf(tag: string, attributes: string, content: readonly Shape[]): readonly Shape[] {
  const own = ELEMENTS.get(tag);
  if (own === undefined) return content;
  const elements = content.filter((each) => each.tag !== TEXT);
  const text = content.reduce((all, { content: each }) => (typeof each === "string" ? all + each : all), "");
  return [shape(tag, kept(attributes, own), elements.length > 0 ? elements : text)];
}

function kept(written: string, own: readonly string[]): Attributes {
  const all = Array.from(written.matchAll(ATTRIBUTE), ([, name = "", one, other]) => [
    name,
    unescaped(one ?? other ?? ""),
  ]);
  const fit = all.filter(([name = "", value = ""]) => {
    if (name === "style" && !CELL_STYLE.test(value)) return false;
    if (name === "class" && !CELL_CLASSES.includes(value)) return false;
    return own.includes(name) || EVERYWHERE.includes(name);
  });
  return Object.fromEntries(fit) as Attributes;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

function unescaped(text: string): string {
  return text.replaceAll(/&[a-z#\d]{1,6};/gi, (entity) => ENTITIES[entity] ?? entity);
}

// Functions that estimate the size of a formula, in em. Only a browser knows the exact size, but the picture's height
// must be known before.

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Height of a letter, in em. */
const LEAF_HEIGHT = 1.25;

/** Estimates the size of a formula, in em. Prefers too large over too small. */
export function sizeOf({ tag, attributes, content }: Shape): Size {
  if (typeof content === "string") return leafSize(tag, attributes, content);
  const parts = content.map(sizeOf);
  const row = (): Size => {
    const height = most(parts, "height", LEAF_HEIGHT);
    // Make brackets extend beyond their content.
    const isFenced = content.some(({ attributes: own }) => own["stretchy"] === "true");
    return { width: sum(parts, "width"), height: isFenced ? 1.3 * height + 0.3 : height };
  };
  switch (tag) {
    case "mfrac":
      return { width: most(parts, "width", 0) + 0.3, height: sum(parts, "height") + 0.2 };
    case "msqrt":
    case "mroot":
      return { width: row().width + 0.9, height: row().height + 0.3 };
    case "msup":
    case "msub":
    case "msubsup":
      return scripts(parts);
    case "mover":
    case "munder":
    case "munderover":
      return { width: most(parts, "width", 0), height: 0.3 + 0.85 * sum(parts, "height") };
    case "mtable":
      return { width: most(parts, "width", 0), height: sum(parts, "height") + 0.5 * parts.length };
    case "mtr":
      return { width: sum(parts, "width") + 0.8 * parts.length, height: row().height };
    default:
      return row();
  }
}

function leafSize(tag: string, attributes: Attributes, content: string): Size {
  if (tag === "mspace") return { width: Number.parseFloat(`${attributes["width"] ?? 0}`) || 0, height: 1 };
  const spaced = tag === "mo" && attributes["fence"] === undefined ? 0.5 : 0;
  const large = /[∑∏∫⋃⋂]/u.test(content) ? 1 : 0;
  return { width: 0.58 * Array.from(content).length + spaced + large, height: LEAF_HEIGHT + large };
}

/**
 * Estimates the size of a base with scripts. Adds the heights of both scripts, although two may stand above each other.
 */
function scripts([base = { width: 0, height: LEAF_HEIGHT }, ...others]: readonly Size[]): Size {
  const height = base.height + others.reduce((total, each) => total + 0.7 * each.height, 0);
  return { width: base.width + 0.75 * most(others, "width", 0), height };
}

function sum(sizes: readonly Size[], side: keyof Size): number {
  return sizes.reduce((total, size) => total + size[side], 0);
}

function most(sizes: readonly Size[], side: keyof Size, least: number): number {
  return sizes.reduce((largest, size) => Math.max(largest, size[side]), least);
}
