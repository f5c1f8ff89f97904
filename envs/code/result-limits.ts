/** Finds tests that no program can pass, because their expected result exceeds what the sandbox accepts. */
import { type PyValue, ROOM } from "../ports.ts";
import type { CodeTest } from "./instance.ts";
import { isList, membersOf, sequenceOf, tagged } from "./value.ts";

export interface Fitting {
  readonly tests: readonly CodeTest[];
  /** One reason for each test that was left out. */
  readonly reasons: readonly string[];
}

/** Returns the tests whose expected results fit the sandbox's limits (ROOM), both singly and in total. */
export function fitting(all: readonly CodeTest[]): Fitting {
  const tests: CodeTest[] = [];
  const reasons: string[] = [];
  const total = { parts: 0, bytes: 0 };
  for (const test of all) {
    const size = sizeOf(test);
    const fits = total.parts + size.parts <= ROOM.jobPartsMax && total.bytes + size.bytes <= ROOM.jobBytesMax;
    const reason =
      excess(test, size) ?? (fits ? undefined : "all tests together expect more output than a program may return");
    if (reason !== undefined) reasons.push(reason);
    else {
      tests.push(test);
      total.parts += size.parts;
      total.bytes += size.bytes;
    }
  }
  return { tests, reasons };
}

interface Size {
  parts: number;
  characters: number;
  /** Size of the result as the sandbox sends it, in bytes of UTF-8. */
  bytes: number;
  depth: number;
}

function excess(test: CodeTest, { parts, characters, bytes, depth }: Size): string | undefined {
  if (test.kind === "script")
    return bytes > ROOM.outputBytesMax
      ? `an output of ${bytes} bytes, and a program may print ${ROOM.outputBytesMax}`
      : undefined;
  if (parts > ROOM.partsMax) return `a result of ${parts} parts, and a program may return ${ROOM.partsMax}`;
  if (characters > ROOM.charactersMax)
    return `a result of ${characters} characters, and a program may return ${ROOM.charactersMax}`;
  if (bytes > ROOM.replyBytesMax) return `a result of ${bytes} bytes, and a program may return ${ROOM.replyBytesMax}`;
  return depth > ROOM.depthMax ? `a result nested more than ${ROOM.depthMax} deep` : undefined;
}

/**
 * Returns the size of a test's expected result as the sandbox sends it (server/outside/sandbox/python/runner.py), or
 * slightly more.
 */
function sizeOf(test: CodeTest): Size {
  if (test.kind === "script") return { ...NOTHING, bytes: Buffer.byteLength(test.stdout.trimEnd()) + 1 };
  const { expected } = test;
  if (expected.kind === "equal") return measured(expected.value);
  if (expected.kind !== "in") return NOTHING;
  // Take the smallest of the accepted values, because a program may return that one.
  return expected.values.map(measured).reduce((one, other) => (other.bytes < one.bytes ? other : one));
}

const NOTHING: Size = Object.freeze({ parts: 0, characters: 0, bytes: 0, depth: 0 });
/** Maximum number of digits of an int that is sent as a number. Longer ints are sent as text. */
const DIGITS_MAX = 15;
/**
 * Number of bytes that the sandbox's JSON adds to a value: a comma and brackets, and for some types also the type's
 * name.
 */
const [PLAIN_BYTES, TAGGED_BYTES] = [3, 9] as const;

function measured(value: PyValue): Size {
  const size = { ...NOTHING };
  measure(value, 0, size);
  return size;
}

function measure(value: PyValue, depth: number, size: Size): void {
  size.parts++;
  size.depth = Math.max(size.depth, depth);
  const int = tagged(value, "int")?.int;
  const text = typeof value === "string" ? value : tagged(value, "bytes")?.bytes;
  const isPlain =
    typeof value !== "object" || value === null || isList(value) || (int?.length ?? Infinity) <= DIGITS_MAX;
  size.bytes += isPlain ? PLAIN_BYTES : TAGGED_BYTES;
  size.bytes += text === undefined ? (int ?? tagged(value, "float")?.float ?? "None").length : jsonBytes(text);
  size.characters += text?.length ?? (int !== undefined && !isPlain ? int.length : 0);
  const parts = sequenceOf(value) ?? membersOf(value) ?? tagged(value, "dict")?.dict.flat() ?? [];
  for (const part of parts) measure(part, depth + 1, size);
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
