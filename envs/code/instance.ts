/** What a programming task is, and its bounds. */
import type { PyValue, View } from "../ports.ts";
import type { Tolerance } from "./compare.ts";

export interface CodeInstance {
  /** What is asked, as its author wrote it. */
  readonly prompt: string;
  /** The code that an answer starts from, such as the head of a function; empty: none. */
  readonly starter: string;
  /** Python that is put before every program, such as imports that the author takes for granted; empty: none. */
  readonly prefix: string;
  readonly tests: readonly CodeTest[];
  /** Why tests of the row are left out: they could not be read, or nothing could pass them. A reason for each. */
  readonly unread: readonly string[];
  /** Right programs, as the row says; it is enough that one passes. */
  readonly references: readonly string[];
  readonly level: CodeLevel;
}

export type CodeLevel = "easy" | "medium" | "hard" | "unrated";

/** Either what a script prints for an input, or what a call returns. */
export type CodeTest = ScriptTest | CallTest;

export interface ScriptTest {
  readonly kind: "script";
  readonly stdin: string;
  readonly stdout: string;
}

export interface ProgramCall {
  /** "add", or "Solution.add" for a method of an instance that is made without arguments. */
  readonly name: string;
  readonly args: readonly PyValue[];
  /** Left out: none. */
  readonly kwargs?: readonly (readonly [name: string, value: PyValue])[];
}

export interface CallTest extends ProgramCall {
  readonly kind: "call";
  /** What is made of the result before it is compared, first to last: in the sandbox, by Python. */
  readonly views: readonly View[];
  readonly expected: Expectation;
}

export type Expectation =
  /** Python's ==, with the differences of compare.ts. */
  | { readonly kind: "equal"; readonly value: PyValue; readonly tolerance?: Tolerance; readonly json?: true }
  | { readonly kind: "unequal"; readonly value: PyValue }
  /** None, True or False itself. */
  | { readonly kind: "is"; readonly value: null | boolean }
  /** One of several. */
  | { readonly kind: "in"; readonly values: readonly PyValue[]; readonly json?: true }
  /** A number on this side of another. */
  | { readonly kind: "<" | "<=" | ">" | ">="; readonly value: number }
  /** An instance of one of these builtin types; its view is "bases". */
  | { readonly kind: "instance"; readonly names: readonly string[] }
  /** One of these exceptions, or of their kind. */
  | { readonly kind: "raises"; readonly names: readonly string[] };

export const LIMITS = {
  promptCharsMax: 65_536,
  starterCharsMax: 16_384,
  programCharsMax: 65_536,
  /** Of more tests the first so many count. */
  testsMax: 64,
  /** Characters of all tests of a row, as they are in the row. */
  testCharsMax: 2_000_000,
  /** Characters of tests that are written as Python: they are read again whenever the row is. */
  pythonCharsMax: 200_000,
  /** A row whose tests cannot all be read is a task if it has so many that can, and at least as many as cannot. */
  testsReadMin: 5,
  referencesMax: 3,
  /** Processor time that a test may take, milliseconds. */
  cpuMsMax: 4000,
} as const;
