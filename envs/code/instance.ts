/** Defines a programming task and its limits. */
import type { PyValue, View } from "../ports.ts";
import type { Tolerance } from "./compare.ts";

export interface CodeInstance {
  /** The problem as its author wrote it. */
  readonly prompt: string;
  /** The code that an answer starts from, such as the head of a function. Empty if there is none. */
  readonly starter: string;
  /**
   * Python code that is put before every program, such as imports that the author takes for granted. Empty if there is
   * none.
   */
  readonly prefix: string;
  readonly tests: readonly CodeTest[];
  /** A reason for each test of the row that is left out, because it cannot be read, or no program could pass it. */
  readonly unread: readonly string[];
  /** Correct programs, according to the row. At least one of them must pass. */
  readonly references: readonly string[];
  readonly level: CodeLevel;
}

export type CodeLevel = "easy" | "medium" | "hard" | "unrated";

/** A test checks either what a script prints for an input, or what a call returns. */
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
  /** Unset means: none. */
  readonly kwargs?: readonly (readonly [name: string, value: PyValue])[];
}

export interface CallTest extends ProgramCall {
  readonly kind: "call";
  /** Conversions of the result before it is compared, applied in order by Python in the sandbox. */
  readonly views: readonly View[];
  readonly expected: Expectation;
}

export type Expectation =
  /** Equal by Python's ==, with the differences that compare.ts lists. */
  | { readonly kind: "equal"; readonly value: PyValue; readonly tolerance?: Tolerance; readonly json?: true }
  | { readonly kind: "unequal"; readonly value: PyValue }
  /** None, True or False itself. */
  | { readonly kind: "is"; readonly value: null | boolean }
  /** Equal to one of several values. */
  | { readonly kind: "in"; readonly values: readonly PyValue[]; readonly json?: true }
  /** A number on this side of the value. */
  | { readonly kind: "<" | "<=" | ">" | ">="; readonly value: number }
  /** An instance of one of these builtin types. The view is "bases". */
  | { readonly kind: "instance"; readonly names: readonly string[] }
  /** Raises one of these exceptions, or a subclass. */
  | { readonly kind: "raises"; readonly names: readonly string[] };

export const LIMITS = {
  promptCharsMax: 65_536,
  starterCharsMax: 16_384,
  programCharsMax: 65_536,
  /** Maximum number of tests of a row. Further tests are ignored. */
  testsMax: 64,
  /** Maximum number of characters of all tests of a row, as stored. */
  testCharsMax: 2_000_000,
  /** Maximum number of characters of tests written as Python, because they are parsed each time the row is read. */
  pythonCharsMax: 200_000,
  /** A row with unreadable tests is accepted if this many can be read, and at least as many as cannot. */
  testsReadMin: 5,
  referencesMax: 3,
  /** Processor time of a test, in milliseconds. */
  cpuMsMax: 4000,
} as const;
