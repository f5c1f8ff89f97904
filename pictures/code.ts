/**
 * Draws a program beside the tests that it must pass. The picture does not show which tests fail: only the sandbox
 * knows that, and the score's text says so.
 */
import type { Picture, Shape } from "../envs/picture.ts";
import { cutTo } from "./lib/frame.ts";
import { notesOf } from "./lib/picture.ts";
import { rect, text } from "./lib/svg.ts";
import { expectationWords } from "../envs/code/expect.ts";
import type { CodeInstance, CodeTest } from "../envs/code/instance.ts";
import { clip, quoted } from "../envs/code/value.ts";
import { callWords, inputWords } from "../envs/code/verify.ts";

const LINE = 17;
const COLUMN = 480;
const TOP = 30;
/**
 * Width of a letter, in pixels. The drawing indents a line by this width times its spaces, because SVG drops leading
 * spaces.
 */
const SPACE = 6;
const LINES_MAX = 60;
const LINE_CHARS = 66;
/** Minimum number of letters shown of a line, even if it is deeply indented. */
const SHOWN_MIN = 12;
const TESTS_MAX = 16;
const TEST_CHARS = 66;

export function draw(instance: CodeInstance, program?: string): Picture {
  const tests = testShapes(instance.tests, 0);
  const lines = program === undefined ? [] : program.trimEnd().split("\n");
  const listing = programShapes(lines.slice(0, LINES_MAX), COLUMN + 24);
  const height = Math.max(tests.height, listing.height);
  const left = lines.length - LINES_MAX;
  return {
    width: program === undefined ? COLUMN : 2 * COLUMN + 24,
    height,
    shapes: [...tests.shapes, ...(program === undefined ? [] : listing.shapes)],
    legend: [],
    notes: notesOf(
      instance.tests.length > TESTS_MAX ? `And ${instance.tests.length - TESTS_MAX} more tests.` : undefined,
      left > 0 ? `And ${left} more lines.` : undefined,
    ),
  };
}

function testShapes(tests: readonly CodeTest[], x: number) {
  const shapes = tests.slice(0, TESTS_MAX).flatMap((test, i): readonly Shape[] => {
    const y = TOP + 2.4 * LINE * i;
    const [asked, expected] = wordsOf(test);
    return [
      rect(x, y, COLUMN, 2.2 * LINE, "gd-band"),
      text(x + 8, y + LINE - 3, "gd-text", cutTo(`${i + 1}. ${asked}`, TEST_CHARS)),
      text(x + 24, y + 2 * LINE - 4, "gd-text gd-soft", cutTo(`→ ${expected}`, TEST_CHARS - 2)),
    ];
  });
  const count = Math.min(tests.length, TESTS_MAX);
  return { shapes: [text(x, 16, "gd-text", "tests"), ...shapes], height: TOP + 2.4 * LINE * count };
}

function wordsOf(test: CodeTest): readonly [asked: string, expected: string] {
  if (test.kind === "call") return [callWords(test), expectationWords(test, TEST_CHARS)];
  return [inputWords(test.stdin), quoted(clip(test.stdout.trimEnd(), TEST_CHARS), TEST_CHARS)];
}

function programShapes(lines: readonly string[], x: number) {
  const shapes = lines.map((line, i) => {
    const code = line.replaceAll("\t", "    ").trimEnd();
    // Limit the indentation, so that a part of a deeply indented line fits.
    const indent = Math.min(code.length - code.trimStart().length, LINE_CHARS - SHOWN_MIN);
    const shown = cutTo(code.trimStart(), LINE_CHARS - indent);
    return text(x + 8 + indent * SPACE, TOP + LINE * (i + 1), "gd-text", shown);
  });
  const height = TOP + LINE * (lines.length + 1);
  return {
    shapes: [text(x, 16, "gd-text", "program"), rect(x, TOP, COLUMN, height - TOP, "gd-plain"), ...shapes],
    height,
  };
}
