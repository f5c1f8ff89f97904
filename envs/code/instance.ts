/** Defines a programming task and its limits. */
import type { PyValue, View } from "../ports.ts";
import type { Tolerance } from "./compare.ts";

export interface CodeInstance {
  /** The problem as its author wrote it. */
  readonly prompt: string;
  /** The code that an answer starts from, such as the head of a function. Empty if there is none. */
  readonly starter: string;
  /** Python code that is put before every program, such as imports that the author assumes. Empty if there is none. */
  readonly prefix: string;
  readonly tests: readonly CodeTest[];
  /**
   * Indices of the tests that the row marks as public. Replies within an episode may show them to the policy. Unset:
   * none is public.
   */
  readonly publicTests?: readonly number[];
  /** One reason for each test of the row that was left out, because it cannot be read or no program could pass it. */
  readonly unread: readonly string[];
  /** Programs that the row claims are correct. At least one of them must pass the tests. */
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
  /** Name to call, e.g. "add", or "Solution.add" for a method of an instance that is created without arguments. */
  readonly name: string;
  readonly args: readonly PyValue[];
  /** Keyword arguments. Unset if there are none. */
  readonly kwargs?: readonly (readonly [name: string, value: PyValue])[];
}

export interface CallTest extends ProgramCall {
  readonly kind: "call";
  /** Conversions of the result before the comparison, such as sorted(). Python in the sandbox applies them in order. */
  readonly views: readonly View[];
  readonly expected: Expectation;
}

export type Expectation =
  /** The result equals the value by Python's ==, except for the differences that compare.ts lists. */
  | { readonly kind: "equal"; readonly value: PyValue; readonly tolerance?: Tolerance; readonly json?: true }
  | { readonly kind: "unequal"; readonly value: PyValue }
  /** The result is `value` itself, as by Python's `is`. */
  | { readonly kind: "is"; readonly value: null | boolean }
  /** The result equals one of several values. */
  | { readonly kind: "in"; readonly values: readonly PyValue[]; readonly json?: true }
  /** The result is a number that is less or greater than the value. */
  | { readonly kind: "<" | "<=" | ">" | ">="; readonly value: number }
  /**
   * The result is an instance of one of these builtin types. Such a test has the view "bases", which converts the
   * result to the names of the builtin types of which it is an instance.
   */
  | { readonly kind: "instance"; readonly names: readonly string[] }
  /** The call raises one of these exceptions, or a subclass. */
  | { readonly kind: "raises"; readonly names: readonly string[] };

export const LIMITS = {
  promptCharsMax: 65_536,
  starterCharsMax: 16_384,
  programCharsMax: 65_536,
  /** Maximum number of tests of a row. Further tests are ignored. */
  testsMax: 64,
  /** Maximum total length of a row's tests as stored, in characters. */
  testCharsMax: 2_000_000,
  /**
   * Maximum length, in characters, of tests written in Python. It is lower than `testCharsMax`, because the sandbox
   * parses the tests each time the row is read.
   */
  pythonCharsMax: 200_000,
  /**
   * A row with unreadable tests is refused if fewer tests than this are readable, or if more tests are unreadable than
   * readable.
   */
  testsReadMin: 5,
  referencesMax: 3,
  /** Maximum processor time of a test, in milliseconds. */
  cpuMsMax: 4000,
} as const;
