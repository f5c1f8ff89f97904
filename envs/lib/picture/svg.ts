/** SVG as a tree of shapes: whatever text goes in, well-formed XML comes out. */

/** Numbers are written to a tenth; what is undefined is left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface Shape {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly content: string | readonly Shape[];
}

export function shape(tag: string, attributes: Attributes, content: string | readonly Shape[] = []): Shape {
  return { tag, attributes, content };
}

/** Classes of text whose point is the middle of its letters, and how far below that their base line is, in pixels. */
const CENTRED: readonly (readonly [className: string, drop: number])[] = [
  ["gd-tiny", 2.5],
  ["gd-label", 3.5],
  ["gd-on-", 3.5],
  ["gd-mid", 4.2],
];

/**
 * A line of text; its class in style.ts says how large and where the point is: on the base line at the start or the end,
 * or in the middle. Renderers differ in what they know of base lines, so that the middle is found here.
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

/** A path of these commands: one shape for many lines keeps a picture small. */
export function path(commands: readonly string[], className: string, width?: number): Shape {
  return shape("path", { class: className, d: commands.join(""), "stroke-width": width });
}

/** The path command of a straight line. */
export function segment(x1: number, y1: number, x2: number, y2: number): string {
  return `M${written(x1)} ${written(y1)}L${written(x2)} ${written(y2)}`;
}

/** The path command of a square by its corner. */
export function square(x: number, y: number, side: number): string {
  return `M${written(x)} ${written(y)}h${written(side)}v${written(side)}h${written(-side)}z`;
}

/** Commands that outline a rectangle and fill it with oblique lines. */
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

/** A number to a tenth: more is not seen, and makes a picture of many lines large. */
function written(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * What XML cannot hold (control characters, halves of surrogate pairs, U+FFFE, U+FFFF) and what would turn the order of
 * the letters around it (bidirectional controls) becomes U+FFFD.
 */
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g;

function escaped(value: string): string {
  return value
    .toWellFormed()
    .replaceAll(UNFIT, "\ufffd")
    .replaceAll(/[&<>"]/g, (mark) => ENTITIES[mark] as string);
}
