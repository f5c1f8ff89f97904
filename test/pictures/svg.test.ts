import { expect, test } from "vitest";
import { framed, wrapped } from "../../pictures/lib/frame.ts";
import { hatching, rect, segment, shape, square, text, toXml } from "../../pictures/lib/svg.ts";
import { expectWellFormed, widthOf } from "./looks.ts";

test("text and attributes are escaped", () => {
  const xml = toXml(shape("text", { class: `"><script>` }, `<&>"'</text>`));
  expect(xml).toBe(`<text class="&quot;&gt;&lt;script&gt;">&lt;&amp;&gt;&quot;'&lt;/text&gt;</text>`);
});

test("what XML cannot hold, and what turns the order of letters, is replaced", () => {
  const words = "a\u0000b\ud800c\u202ed\uffffe\u007ff\u2067g\u061ch";
  expect(toXml(text(0, 0, "", words))).toContain(">a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffdh<");
});

test("numbers are written to a tenth, and what is undefined is left out", () => {
  expect(toXml(shape("path", { a: 1.26, b: -0.01, c: undefined }))).toBe(`<path a="1.3" b="0"/>`);
  expect([segment(0, 1.04, 2.06, 3), square(1, 2, 3)]).toEqual(["M0 1L2.1 3", "M1 2h3v3h-3z"]);
  expect(toXml(rect(0, 0, -5, 1, "gd-band"))).toContain(`width="0"`);
});

test("hatching stays within its rectangle", () => {
  for (const [width, height] of [
    [40, 10],
    [3, 50],
    [0.2, 0.2],
  ] as const) {
    const numbers = hatching(0, 0, width, height)
      .join(" ")
      .split(/[ML ]+/)
      .filter(Boolean)
      .map(Number);
    for (const [i, value] of numbers.entries()) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual((i % 2 === 0 ? width : height) + 0.05);
    }
  }
});

test("a frame wraps long lines, with or without spaces", () => {
  const picture = { width: 10, height: 10, shapes: [], legend: [], notes: ["x".repeat(5000), "word ".repeat(500)] };
  const svg = framed(picture, [{ text: `${"y".repeat(300)} <b>`, tone: "bad" }]);
  expectWellFormed(svg);
  expect(svg.split("<text").length).toBeGreaterThan(70);
  for (const [, line = ""] of svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)) expect(line.length).toBeLessThan(100);
});

test("lines of wide letters are as wide as others, and no letter is broken in two", () => {
  const width = 460;
  for (const words of ["雨が降って、屋根は太鼓になる。".repeat(40), "中文 and words ".repeat(60), "🌧".repeat(300)]) {
    const parts = wrapped(words, width, 12);
    expect(parts.join("").replaceAll(" ", "")).toBe(words.replaceAll(" ", ""));
    for (const part of parts) {
      expect(part.isWellFormed()).toBe(true);
      expect(widthOf(part, 12)).toBeLessThanOrEqual(width);
    }
  }
});

test("the entries of a legend go on in the next line", () => {
  const legend = Array.from({ length: 9 }, (_, i) => ({
    ...({ mark: "line", className: "gd-chosen", text: `entry ${i} of several` } as const),
  }));
  const svg = framed({ width: 100, height: 100, shapes: [], legend, notes: [] }, []);
  const places = [...svg.matchAll(/<text class="gd-text" x="([\d.]+)" y="([\d.]+)">entry/g)];
  expect(new Set(places.map(([, , y]) => y)).size).toBe(5);
  for (const [, x] of places) expect(Number(x)).toBeLessThan(520);
});
