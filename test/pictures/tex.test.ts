/** TeX in pictures may be a model's: nothing of it reaches a browser but MathML, and little of that. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { framed } from "../../pictures/lib/frame.ts";
import { proseOf, runsOf } from "../../pictures/lib/prose.ts";
import { toXml } from "../../pictures/lib/svg.ts";
import { sizeOf, typeset } from "../../pictures/lib/tex.ts";
import { expectWellFormed } from "./looks.ts";

function xmlOf(tex: string): string | undefined {
  const shape = typeset(tex, false);
  return shape && toXml(shape);
}

/** A picture of a text, as any viewer gets it. */
function pictureOf(text: string): string {
  const paragraph = { label: "answer", className: "", runs: runsOf(text) };
  return framed({ ...proseOf([paragraph], 600), legend: [], notes: [] }, [{ text: "title", tone: "title" }]);
}

test("formulas are MathML", () => {
  expect(xmlOf("\\frac{1}{2} < x^2")).toBe(
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>&lt;</mo><msup><mi>x</mi><mn>2</mn></msup></mrow></math>',
  );
  expect(xmlOf("\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}")?.match(/<mtd/g)).toHaveLength(4);
  expect(xmlOf("\\text{if } x \\ne 3")).toMatch(/<mtext>if\s<\/mtext>/);
});

const HOSTILE: readonly (readonly [name: string, tex: string])[] = [
  ["a link", "\\href{javascript:alert(1)}{x}"],
  ["an address", "\\url{http://example.org}"],
  ["an image", "\\includegraphics{http://example.org/a.png}"],
  ["a style", "\\style{background:url(http://example.org)}{x}"],
  ["a class", "\\class{gd-paper}{x}"],
  ["a colour", "\\textcolor{url(http://example.org)}{x}"],
  ["a reference", "\\label{a}x\\ref{a}"],
  ["tags in text", "\\text{<script>alert(1)</script><img src=x onerror=alert(1)>}"],
  ["tags in verbatim", "\\verb|</math></div><script>|"],
  ["a macro without end", "\\def\\a{\\a\\a}\\a"],
  ["a macro that doubles", "\\gdef\\a#1{#1#1#1#1}\\a{\\a{\\a{\\a{\\a{\\a{\\a{\\a{x}}}}}}}}"],
  ["deep braces", `${"{".repeat(900)}x${"}".repeat(900)}`],
  ["deep roots", `${"\\sqrt{".repeat(140)}x${"}".repeat(140)}`],
  ["deep roots without braces", `${"\\sqrt".repeat(380)} x`],
  ["towers", `${"x^".repeat(600)}x`],
  ["deep fences", `${"\\left(".repeat(160)}x${"\\right)".repeat(160)}`],
  ["huge spaces", "\\kern{99999em}\\rule{99999em}{99999em}\\raisebox{9999em}{x}\\\\[9999em]"],
  ["many cells", `\\begin{matrix}${"&".repeat(1900)}\\end{matrix}`],
  ["many primes", `x${"'".repeat(1900)}`],
  ["controls", "\u0000\u0007\u202e\ud800\uffff"],
  ["nothing", ""],
  ["much", "1+".repeat(100_000)],
];

describe.each(HOSTILE)("%s", (_, tex) => {
  test("leaves no tag but MathML's, no address and a picture of bounded size", () => {
    for (const text of [`$${tex}$`, `$$${tex}$$`, `\\(${tex}\\)`, tex, `$${tex}`]) {
      const svg = pictureOf(text);
      expectWellFormed(svg);
      expect(svg.length).toBeLessThan(60_000);
      expect(svg).not.toMatch(/<(?:script|img|image|a|iframe|use|style [^>]*|link)\b/i);
      expect(svg).not.toMatch(/ (?:href|src|on[a-z]+|xlink:href)="/i);
      // Addresses of namespaces and of the feature alone; in text they are words.
      const attributes = [...svg.matchAll(/[\w:-]+="([^"]*)"/g)].map(([, value = ""]) => value);
      const addresses = attributes.filter((value) => /url\(|https?:|javascript/i.test(value));
      expect(addresses.filter((value) => !value.startsWith("http://www.w3.org/"))).toEqual([]);
      expect(Number(/ height="([\d.]+)"/.exec(svg)?.[1])).toBeLessThan(20_000);
    }
  });
});

test("what is no TeX is shown as it is", () => {
  expect(typeset("\\frac{1}{", false)).toBeUndefined();
  expect(pictureOf("take $\\foo{x}$ away")).toContain('<code class="gd-code">\\foo{x}</code>');
});

test("a formula's macros are gone after it", () => {
  expect(xmlOf("\\gdef\\sin{q}\\sin x")).toContain("<mi>q</mi>");
  expect(xmlOf("\\sin x")).toContain("<mi>sin</mi>");
});

test("any text makes a picture", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "$",
      "$$",
      "\\(",
      "\\)",
      "\\[",
      "\\]",
      "\\frac",
      "{",
      "}",
      "\\left(",
      "\\right",
      "&",
      "\\\\",
      "^",
      "_",
      "<",
      "\n",
    ),
    fc.string({ unit: "binary", maxLength: 5 }),
  );
  const property = fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
    const svg = pictureOf(pieces.join(""));
    expectWellFormed(svg);
    expect(svg.length).toBeLessThan(60_000);
  });
  fc.assert(property, { numRuns: 200 });
});

describe("a text is parted", () => {
  test.each([
    ["words alone", ["words alone"]],
    ["let $x$ be", ["let ", "<x>", " be"]],
    ["so\n\n$$x + 1$$\n\nholds", ["so", "<<x + 1>>", "holds"]],
    ["\\(a\\) or \\[b\\]", ["<a>", " or", "<<b>>"]],
    ["5 \\$ and $x$", ["5 \\$ and ", "<x>"]],
    ["costs $5", ["costs $5"]],
  ])("%j", (text, expected) => {
    const shown = runsOf(text).map((run) => {
      if (run.kind === "words") return run.text;
      return run.display ? `<<${run.tex}>>` : `<${run.tex}>`;
    });
    expect(shown).toEqual(expected);
  });
});

test("wide letters take as much room as they have", () => {
  const heightOf = (text: string): number =>
    proseOf([{ label: "problem", className: "", runs: runsOf(text) }], 680).height;
  // 596 pixels beside the label hold 37 letters of 16 pixels, in lines of 24.
  expect(heightOf("求".repeat(37 * 5))).toBeGreaterThanOrEqual(5 * 24);
  expect(heightOf("求".repeat(37 * 5))).toBeLessThanOrEqual(6 * 24);
  // A viewer that knows no HTML gets the same text in lines of its own.
  const svg = pictureOf("🌧".repeat(200));
  expectWellFormed(svg);
  expect(svg).not.toContain("\ufffd");
});

test("more takes more room", () => {
  const size = (tex: string) => sizeOf(typeset(tex, true)!);
  expect(size("\\frac{1}{2}").height).toBeGreaterThan(size("1").height);
  expect(size("1 + 2 + 3").width).toBeGreaterThan(size("1").width);
  const matrix = "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}";
  expect(size(matrix).height).toBeGreaterThan(size("\\frac12").height);
  const heights = [10, 100, 1000].map(
    (words) => proseOf([{ label: "", className: "", runs: runsOf("word ".repeat(words)) }], 400).height,
  );
  expect(heights).toEqual(heights.toSorted((a, b) => a - b));
  expect(heights[2]).toBeGreaterThan(5 * (heights[1] ?? 0));
});
