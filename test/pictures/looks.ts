/** Readers of a picture's shapes, used by the tests of pictures. */
import type { Picture, Shape } from "../../envs/picture.ts";
import { expect } from "vitest";

/** Yields every shape, including shapes within groups. */
function* flat(shapes: readonly Shape[]): Generator<Shape> {
  for (const shape of shapes) {
    yield shape;
    if (typeof shape.content !== "string") yield* flat(shape.content);
  }
}

export function marked(picture: Picture, className: string): readonly Shape[] {
  const has = ({ attributes }: Shape): boolean => `${attributes["class"]}`.split(" ").includes(className);
  return [...flat(picture.shapes)].filter(has);
}

/** Returns the number of lines that the paths of a class draw. */
export function lines(picture: Picture, className: string): number {
  return marked(picture, className).reduce(
    (sum, { attributes }) => sum + `${attributes["d"]}`.split("M").length - 1,
    0,
  );
}

/** The labels of the discs of a class: the text that follows each. */
export function labels(picture: Picture, className: string): readonly string[] {
  const all = [...flat(picture.shapes)];
  return all.flatMap(({ tag, attributes }, i) => {
    if (tag !== "circle" || !`${attributes["class"]}`.split(" ").includes(className)) return [];
    const text = all.slice(i).find((shape) => shape.tag === "text");
    return [`${text?.content as string}`];
  });
}

export function legendWords(picture: Picture): readonly string[] {
  return picture.legend.map(({ text }) => text);
}

const TOKEN = /<(\/?)([a-zA-Z]+)((?: [\w:-]+="[^"<]*")*)(\/?)>|([^<]+)/y;

/** Fails unless the text is one well-formed XML element of the tags, entities and numbers that a picture may have. */
export function expectWellFormed(svg: string): void {
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  expect(svg.isWellFormed()).toBe(true);
  // XML cannot hold these.
  expect(svg).not.toMatch(/[\u0000-\u001f\ufffe\uffff\u202a-\u202e]/);
  expect(svg).not.toMatch(/NaN|Infinity|undefined|\[object/);
  expect(svg).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/);
  const open: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < svg.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(svg);
    if (match === null) throw new Error(`not XML at ${at}: ${svg.slice(at, at + 80)}`);
    const [, close, tag = "", , empty] = match;
    if (tag === "" || empty === "/") continue;
    if (close === "/") expect(open.pop()).toBe(tag);
    else open.push(tag);
    if (open.length === 0) expect(TOKEN.lastIndex).toBe(svg.length);
  }
  expect(open).toEqual([]);
}

/** Estimates a text's width. Chinese, Japanese and Korean letters and pictograms are as wide as the font is large. */
export function widthOf(words: string, size: number): number {
  const letters = Array.from(words, (letter) =>
    /[\u1100-\u115f\u2e80-\uffdc]|\p{Emoji_Presentation}/u.test(letter) ? 1 : 0.58,
  );
  return letters.reduce((sum, letter) => sum + letter * size, 0);
}
