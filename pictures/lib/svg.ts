/** Builds SVG as a tree of shapes, and writes it as XML, which is well-formed for any text in it. */
import type { Shape } from "../../envs/picture.ts";

export function shape(tag: string, attributes: Shape["attributes"], content: string | readonly Shape[] = []): Shape {
  return { tag, attributes, content };
}

/**
 * CSS classes of text that is centred vertically at its point. `drop` is the distance of the base line below that
 * point, in pixels.
 */
const CENTRED: readonly (readonly [className: string, drop: number])[] = [
  ["gd-tiny", 2.5],
  ["gd-label", 3.5],
  ["gd-on-", 3.5],
  ["gd-mid", 4.2],
];

/**
 * Draws a line of text. The class decides the size and what the point (x, y) is: the start or the end of the base line,
 * or the text's middle. The base line of centred text is computed here, because renderers differ in their support of
 * base lines.
 */
export function text(x: number, y: number, className: string, content: string): Shape {
  const [, drop = 0] = CENTRED.find(([part]) => className.includes(part)) ?? [];
  return shape("text", { class: className, x, y: y + drop }, content);
}

export function rect(x: number, y: number, width: number, height: number, className: string): Shape {
  return shape("rect", { class: className, x, y, width: Math.max(0, width), height: Math.max(0, height) });
}

export function circle(x: number, y: number, radius: number, className: string): Shape {
  return shape("circle", { class: className, cx: x, cy: y, r: radius });
}

/** Draws one path from SVG path commands. Drawing many lines as one path keeps a picture small. */
export function path(commands: readonly string[], className: string, width?: number): Shape {
  return shape("path", { class: className, d: commands.join(""), "stroke-width": width });
}

/** Returns the path command of a straight line. */
export function segment(x1: number, y1: number, x2: number, y2: number): string {
  return `M${written(x1)} ${written(y1)}L${written(x2)} ${written(y2)}`;
}

/** Returns the path command of a square, given its upper left corner. */
export function square(x: number, y: number, side: number): string {
  return `M${written(x)} ${written(y)}h${written(side)}v${written(side)}h${written(-side)}z`;
}

/** Returns path commands that outline a rectangle and hatch it with oblique lines. */
export function hatching(x: number, y: number, width: number, height: number): readonly string[] {
  const gap = 6;
  const [right, bottom] = [x + width, y + height];
  const commands = [
    ...[segment(x, y, right, y), segment(right, y, right, bottom)],
    ...[segment(right, bottom, x, bottom), segment(x, bottom, x, y)],
  ];
  for (let along = gap; along < width + height; along += gap) {
    const start = along <= width ? [x + along, y] : [right, y + along - width];
    const end = along <= height ? [x, y + along] : [x + along - height, bottom];
    commands.push(segment(start[0] as number, start[1] as number, end[0] as number, end[1] as number));
  }
  return commands;
}

export function toXml({ tag, attributes, content }: Shape): string {
  let start = `<${tag}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    start += ` ${name}="${typeof value === "number" ? written(value) : escaped(value)}"`;
  }
  if (content.length === 0) return `${start}/>`;
  return `${start}>${typeof content === "string" ? escaped(content) : content.map(toXml).join("")}</${tag}>`;
}

/** Rounds a number to a tenth. More digits are invisible, and would enlarge a picture of many lines. */
function written(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * Characters that become U+FFFD. XML cannot hold control characters, halves of surrogate pairs, U+FFFE and U+FFFF.
 * Bidirectional controls would reorder the letters around them.
 */
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g;

function escaped(value: string): string {
  return value
    .toWellFormed()
    .replaceAll(UNFIT, "\ufffd")
    .replaceAll(/[&<>"]/g, (mark) => ENTITIES[mark] as string);
}

// The style sheet below gives each class its appearance, on light and dark backgrounds and for colour-blind people.

/**
 * Number of different fills for groups, e.g. colours of vertices. Further groups repeat the fills with another outline.
 */
export const FILLS = 7;

/**
 * Returns the CSS class that fills the shapes of a group, by the group's number from 0. `onFill` returns the class for
 * text on the fill.
 */
export function fillClass(group: number): string {
  return `gd-f${group % FILLS}${group >= FILLS ? " gd-again" : ""}`;
}

/** Returns the CSS class of a label on a group's fill: dark or light text, whichever is readable. */
export function onFill(group: number): string {
  return group % FILLS === 0 ? "gd-on-dark" : "gd-on-light";
}

/**
 * Fill colours: the set of Okabe and Ito ("Color universal design", 2008) without vermilion and black. Red is reserved
 * for errors. Errors are always dashed, hatched or ringed too, so that nobody has to see the red.
 */
const FILL_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442", "#9aa3ad"];

/** Each colour on a light and on a dark background. */
const COLOURS = {
  paper: ["#ffffff", "#15181d"],
  ink: ["#1b1f24", "#e8eaed"],
  soft: ["#5c6570", "#a3abb6"],
  faint: ["#d3d8de", "#39414b"],
  band: ["#eef1f4", "#22272e"],
  wrong: ["#c81e1e", "#ff6b6b"],
  good: ["#00744f", "#35c796"],
  pick: ["#0072b2", "#4da8e0"],
  cut: ["#b87700", "#e8a317"],
} as const;

type Theme = Readonly<Record<keyof typeof COLOURS, string>>;

const themeOf = (background: 0 | 1): Theme =>
  Object.fromEntries(Object.entries(COLOURS).map(([name, both]) => [name, both[background]])) as Theme;

/** Returns CSS rules with the colours written out, because some SVG renderers do not support custom properties. */
function themed({ paper, ink, soft, faint, band, wrong, good, pick, cut }: Theme): string {
  return [
    `.gd-paper{fill:${paper}}`,
    `.gd-title,.gd-text,.gd-label,.gd-end,.gd-mid{fill:${ink}}`,
    `.gd-soft{fill:${soft}}`,
    `.gd-good{fill:${good}}`,
    `.gd-bad{fill:${wrong}}`,
    `.gd-plain{fill:${paper};stroke:${soft}}`,
    `.gd text.gd-halo{stroke:${paper}}`,
    `.gd-band{fill:${band}}`,
    `.gd-cell{fill:${faint}}`,
    `.gd-edge,.gd-grid{stroke:${faint}}`,
    `.gd-axis{stroke:${soft}}`,
    `.gd-link{stroke:${soft}}`,
    `.gd-chosen{stroke:${pick}}`,
    `.gd-cut,.gd-other{stroke:${cut}}`,
    `.gd-best{stroke:${soft}}`,
    `.gd-hint{stroke:${good}}`,
    `.gd-limit{stroke:${ink}}`,
    `.gd-wrong,.gd-missing,.gd-ring,.gd-hatch{stroke:${wrong}}`,
    `.gd-again{stroke:${ink}}`,
    `.gd-prose{color:${ink}}.gd-prose.gd-soft{color:${soft}}.gd-code{background:${band}}`,
  ].join("");
}

/** Font size of the class gd-label, in pixels. */
export const LABEL_SIZE = 10;
/** Font size of the class gd-tiny, in pixels. */
export const TINY_SIZE = 7;

const FORMS = [
  ".gd text{font-family:ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;font-size:12px}",
  ".gd text.gd-title{font-size:15px;font-weight:600}",
  ".gd text.gd-label,.gd text.gd-mid,.gd text.gd-on-dark,.gd text.gd-on-light{text-anchor:middle}",
  `.gd text.gd-label,.gd text.gd-on-dark,.gd text.gd-on-light{font-size:${LABEL_SIZE}px}`,
  ".gd text.gd-end{text-anchor:end}",
  `.gd text.gd-tiny{font-size:${TINY_SIZE}px}`,
  ".gd text.gd-halo{stroke-width:3px;paint-order:stroke;font-weight:600}",
  ".gd-on-dark{fill:#ffffff}.gd-on-light{fill:#101418}",
  ".gd-edge,.gd-grid,.gd-axis,.gd-link,.gd-chosen,.gd-cut,.gd-other,.gd-best,.gd-hint,.gd-limit,.gd-wrong,.gd-missing,.gd-ring,.gd-hatch{fill:none}",
  ".gd-edge{stroke-width:1}.gd-link{stroke-width:1.2}.gd-chosen,.gd-other{stroke-width:2.5}.gd-limit{stroke-width:2}",
  ".gd-best{stroke-width:1.8;stroke-dasharray:2 3}.gd-hint{stroke-width:1.8;stroke-dasharray:1 3;stroke-linecap:round}",
  ".gd-wrong{stroke-width:3}.gd-missing{stroke-width:2.5;stroke-dasharray:6 4}.gd-ring{stroke-width:2.5}",
  ".gd-hatch{stroke-width:1.5}.gd-again{stroke-width:1.5}",
  ".gd-prose{font:16px/1.5 ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}",
  // Align cells of MathML by the vendor-prefixed values that the TeX library, Temml, uses in its own style sheets.
  ".gd-prose math{font-size:17px;line-height:1.15;font-family:'STIX Two Math','Latin Modern Math','Cambria Math',math}.gd-prose math[display=block]{margin:0;width:fit-content}.gd-prose .tml-left{text-align:-webkit-left}.gd-prose .tml-right{text-align:-webkit-right}.gd-code{font-family:ui-monospace,monospace}",
  ...FILL_COLOURS.map((colour, i) => `.gd-f${i}{fill:${colour}}`),
];

/** Style sheet of every picture. All classes begin with gd-, so that they do not affect a page that holds a picture. */
export const STYLE_SHEET = `${FORMS.join("")}${themed(themeOf(0))}@media (prefers-color-scheme:dark){${themed(themeOf(1))}}`;
