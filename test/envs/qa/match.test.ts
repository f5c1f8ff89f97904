/** Tests when two texts match as one option. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matcherOf, normalized } from "../../../envs/qa/match.ts";
import { placeOfSentence } from "../../../envs/qa/sentence.ts";

test("a power is no number of its digits", () => {
  expect(normalized("10²")).toBe(normalized("10^2"));
  expect(normalized("10²")).not.toBe(normalized("102"));
});

test("a sentence that an option is like may be meant for that one", () => {
  const question = {
    question: "?",
    options: ["It is raining", "raining"],
    right: 1,
    level: "unrated",
    category: "",
    field: "",
  };
  expect(placeOfSentence(question, "It's raining")).toBe(-1);
  expect(placeOfSentence({ ...question, options: ["snow", "raining"] }, "It's raining")).toBe(1);
});

describe("texts that are one", () => {
  test.each([
    ["-5", "−5"],
    ["-5", "–5"],
    ["-5", "－５"],
    ["10⁻³", "10-3"],
    ["don't", "don’t"],
    ["don't", "don´t"],
    ['the "best" one', "the “best” one"],
    ['the "best" one', "the «best» one"],
    ["5'", "5′"],
    ['12" pipe', "12″ pipe"],
    ["New York", "New\u00a0York"],
    ["New York", "  New \t\r\n York "],
    ["New York", "New\u200b\u3000York"],
    ["Paris", "Paris."],
    ["Paris", "Paris。"],
    ["Paris", "**Paris**."],
    ["x + 1", "$x + 1$"],
    ["Paris", "\\text{Paris}"],
    ["Paris", "The answer is Paris."],
    ["x²", "x2"],
    ["½", "1⁄2"],
    ["½", "1/2"],
    ["1½", "1 1/2"],
    ["1½", "1 ½"],
    ["f″(x)", "f''(x)"],
    ["f″(x)", "f′′(x)"],
    ["f″(x)", "f’’(x)"],
    ["f‴", "f'''"],
    ["f‴", "f″′"],
    ["f‴", "f′″"],
    ["f⁗", "f''''"],
    ["“don’t”", '"don\'t"'],
    ["Paris", "''Paris''"],
    ["Paris", "Par\u200bis"],
    ["Paris", "\u200bPa\u00adris\ufeff"],
    ["New York", "New\u200b York\u200d"],
    ["❤", "❤\ufe0f"],
    ["$5", "\\$5"],
    ["$5", "$\\$5$"],
    ["5%", "$5\\%$"],
    ["ﬁn", "fin"],
    ["café", "cafe\u0301"],
    ["Å", "Å"],
    ["Ｃ＋＋", "C++"],
  ])("%j and %j", (one, other) => expect(normalized(one)).toBe(normalized(other)));
});

describe("texts that are not", () => {
  test.each(
    [
      ["-5", "5"],
      ["-5", "+5"],
      ["x < 3", "x > 3"],
      ["x < 3", "x ≤ 3"],
      ["C++", "C"],
      ["C#", "C"],
      ["the cat", "cat"],
      ["a cat", "cat"],
      ["1.5", "15"],
      ["1,5", "1.5"],
      ["0.5", ".5"],
      ["yes", "yes!"],
      ["yes", "yes?"],
      ["f(x)", "fx"],
      ["A and B", "A or B"],
      ["1½", "11/2"],
      ["f″", "f′"],
      ["f″", "f‴"],
      ["f″", "f"],
      ["½", "12"],
      ["1 2", "12"],
      ["not P", "P"],
      ["50%", "50"],
      ["$5", "5"],
      ["5 m", "5"],
      ["…", ""],
      ["a..", "a"],
      ["Α", "A"],
      ["mW", "MW"],
    ].filter(([one]) => one !== "5"),
  )("%j and %j", (one, other) => expect(normalized(one)).not.toBe(normalized(other)));

  test("but a closing period is nothing", () => expect(normalized("5.")).toBe("5"));
});

describe("case", () => {
  test("counts where another option differs in nothing else, and only there", () => {
    const match = matcherOf(["MW", "mW", "kilowatt"]);
    expect(["MW", "mW", "mw", "Mw"].map(match)).toEqual([0, 1, -1, -1]);
    expect(["kilowatt", "Kilowatt", "KILOWATT."].map(match)).toEqual([2, 2, 2]);
  });

  test("of texts whose capitals are longer", () => {
    expect(matcherOf(["Straße", "Gasse"])("STRASSE")).toBe(0);
    expect(["Maße", "Masse", "MASSE"].map(matcherOf(["Maße", "Masse"]))).toEqual([0, 1, -1]);
  });
});

test("a dollar that may be an option's own decides nothing", () => {
  const match = matcherOf(["$5", "5", "$6"]);
  expect(["$5", "5", "\\$5", "$\\$5$", "**$5**", "\\(5\\)"].map(match)).toEqual([0, 1, 0, 0, 0, 1]);
  expect(["$5$", "$$5$$", "The answer is $5$."].map(match)).toEqual([-1, -1, -1]);
  expect(["5$", "$5$", "5"].map(matcherOf(["5$", "5"]))).toEqual([0, -1, 1]);
  expect(["$5$", " $5$", "$5", "5", "**$5$**"].map(matcherOf(["$5", "$5$"]))).toEqual([1, 1, 0, 1, -1]);
  expect(matcherOf(["5", "6"])("$5$")).toBe(0);
});

test("no part of an option, and nothing beside it, is the option", () => {
  const match = matcherOf(["Paris", "Paris, France", "Lyon"]);
  const texts = ["Par", "Paris France", "Paris or Lyon", "Paris\nLyon", "not Paris", "Paris (France)", "(Paris)", ""];
  expect(texts.map(match)).toEqual(texts.map(() => -1));
  expect(["Paris", "Paris, France", "lyon"].map(match)).toEqual([0, 1, 2]);
});

test("whatever the options, each is found by its own text, and by no other's", () => {
  const texts = fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 12 }), { minLength: 2, selector: normalized });
  fc.assert(
    fc.property(
      texts.map((all) => all.filter((text) => normalized(text) !== "")),
      (options) => {
        const match = matcherOf(options);
        expect(options.map(match)).toEqual(options.map((_, place) => place));
      },
    ),
    { numRuns: 500 },
  );
});

test("a megabyte of anything is no option", () => {
  const match = matcherOf(["Paris", "Lyon"]);
  for (const text of ["Paris".repeat(2e5), "\ufdfa".repeat(3e5), "*".repeat(1e6), `Paris${" ".repeat(1e6)}`])
    expect(match(text)).toBe(-1);
});

test.each(["\u200b", "\u2060", "\ufeff"])(
  "%j stands for nothing where that is an option, and else for a space",
  (mark) => {
    expect(matcherOf(["New York", "Paris"])(`New${mark}York`)).toBe(0);
    expect(matcherOf(["the rapist", "therapist"])(`the${mark}rapist`)).toBe(1);
    expect(matcherOf(["New York", "Paris"])(`New${mark}${mark}Yor${mark}k`)).toBe(-1);
  },
);
