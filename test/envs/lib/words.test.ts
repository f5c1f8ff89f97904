/** Tests of foreign text: terminal controls and characters that change the writing direction are shown escaped. */
import { expect, test } from "vitest";
import { escaped, onOneLine } from "../../../envs/lib/escape.ts";

test.each([
  ["colours of a terminal", "\u001b[31mred\u001b[0m", "\\u{1b}[31mred\\u{1b}[0m"],
  ["its one-byte form", "\u009b31m", "\\u{9b}31m"],
  ["a title, a bell", "\u001b]0;owned\u0007", "\\u{1b}]0;owned\\u{7}"],
  ["lines", "a\nb\r\nc\td", "a\\nb\\r\\nc\\td"],
  ["ends of lines that are none in ASCII", "a\u2028b\u2029c\u0085d", "a\\u{2028}b\\u{2029}c\\u{85}d"],
  ["a backspace, a zero", "ab\b\u0000", "ab\\u{8}\\u{0}"],
  ["an override of direction", "\u202e7 si ti\u202c", "\\u{202e}7 si ti\\u{202c}"],
  ["isolates and marks", "\u2066a\u2069\u200e\u200f\u061c", "\\u{2066}a\\u{2069}\\u{200e}\\u{200f}\\u{61c}"],
  ["tags, in which text hides", "a\u{e0041}", "a\\u{e0041}"],
  ["half of a pair", "a\ud800b", "a\\u{d800}b"],
  ["what scripts and emoji are made of", "नमस्‍ते 👩‍🚀 שלום 日本", "नमस्‍ते 👩‍🚀 שלום 日本"],
])("%s", (_name, words, shown) => {
  expect(escaped(words)).toBe(shown);
  expect(escaped(shown)).toBe(shown);
});

test("on one line white space is one blank", () => {
  expect(onOneLine("  a\n\n b\t\u001b[2J ")).toBe("a b \\u{1b}[2J");
});
