/**
 * Runs a program in the sandbox and grades its results. Results are compared here, never in the sandbox, where the
 * program could tamper with the comparison.
 */
import type { PortContext } from "../resource.ts";
import { type Failed, type Facts, unavailable } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import { escaped } from "../lib/escape.ts";
import type { SandboxCase, SandboxResult } from "../ports.ts";
import { expectationWords, meets } from "./expect.ts";
import { type CallTest, type CodeInstance, type CodeTest, LIMITS } from "./instance.ts";
import { ownLine, type Prefixed, withPrefix } from "./prefix.ts";
import { differenceWords, samePrinted } from "./stdout.ts";
import { clip, quoted, show } from "./value.ts";

/** Result of a program's tests: the number of passed tests, and the first failed test. */
export interface Outcome {
  readonly kind: "outcome";
  readonly passed: number;
  readonly failed?: { readonly index: number; readonly words: string };
  /** Description of the first public test that failed. Unset: no public test failed. */
  readonly failedPublic?: string;
}

const NO_SANDBOX = unavailable(
  "sandbox",
  "this server has no sandbox to run programs in: run gradus doctor on its machine to see why",
  { retryable: false },
);

/** Runs a program's tests in the sandbox. Never rejects, except for a bug. */
export async function runTests(
  instance: CodeInstance,
  program: string,
  context: PortContext,
): Promise<Outcome | Failed> {
  const { sandbox } = context.ports;
  if (sandbox === undefined) return NO_SANDBOX;
  const { tests, prefix } = instance;
  const cases = tests.map(caseOf);
  const prefixed = withPrefix(prefix, program);
  const job = { program: prefixed.source, cases, cpuMsMax: LIMITS.cpuMsMax };
  const reply = await sandbox.ask(job, context);
  if (reply.kind === "failed") return reply;
  // Without a result for each test the program cannot be graded. That is the sandbox's fault, not the program's.
  if (reply.results.length !== tests.length)
    return unavailable("sandbox", `the sandbox gave ${reply.results.length} results of ${tests.length}`);
  const passes = tests.map((test, i) => isPassed(test, reply.results[i] as SandboxResult));
  const index = passes.indexOf(false);
  const passed = passes.filter(Boolean).length;
  if (index < 0) return { kind: "outcome", passed };
  const wordsOf = (failed: number): string => {
    const result = inOwnLines(reply.results[failed] as SandboxResult, prefixed);
    return escaped(`test ${failed + 1} of ${tests.length}: ${failureWords(tests[failed] as CodeTest, result)}`);
  };
  const open = instance.publicTests?.find((place) => passes[place] === false);
  const failed = { index, words: wordsOf(index) };
  return { kind: "outcome", passed, failed, ...(open !== undefined && { failedPublic: wordsOf(open) }) };
}

/** Converts line numbers in a sandbox result into those of the program without its prefix. */
function inOwnLines(result: SandboxResult, prefixed: Prefixed): SandboxResult {
  const own = (text: string): string =>
    text.replace(/\(line (\d+)\)$/, (_, line) => `(line ${ownLine(prefixed, Number(line))})`);
  if (result.kind === "raised") return { ...result, error: own(result.error) };
  return result.kind === "unusable" ? { ...result, why: own(result.why) } : result;
}

function caseOf(test: CodeTest): SandboxCase {
  if (test.kind === "script") return { kind: "script", stdin: test.stdin };
  const { name, args, kwargs, views } = test;
  return { kind: "call", name, args, ...(kwargs && { kwargs }), ...(views.length > 0 && { views }) };
}

function isPassed(test: CodeTest, result: SandboxResult): boolean {
  if (test.kind === "script") return result.kind === "printed" && samePrinted(test.stdout, result.stdout);
  const { expected } = test;
  if (expected.kind !== "raises") return result.kind === "returned" && meets(expected, result.value);
  return result.kind === "raised" && expected.names.some((name) => result.names?.includes(name));
}

/** Grades a program. Returns Failed if the sandbox failed, because such a failure says nothing about the program. */
export async function verify(instance: CodeInstance, program: string, context: PortContext): Promise<Facts | Failed> {
  const outcome = await runTests(instance, program, context);
  if (outcome.kind === "failed") return outcome;
  const { passed, failed, failedPublic } = outcome;
  const count = instance.tests.length;
  return {
    kind: "graded",
    components: [
      { name: "correctness", value: Number(failed === undefined) },
      { name: "passed", value: passed / count },
    ],
    solved: failed === undefined,
    info: {
      passed: `${passed}`,
      tests: `${count}`,
      ...(failed && { failed_test: `${failed.index + 1}` }),
      ...(failedPublic !== undefined && { failed_public_test: failedPublic }),
    },
    ...(failed && { violation: failed.words }),
  };
}

/**
 * Returns an error text if none of the row's reference programs passes the tests. Returns undefined if one passes, or
 * if the row has no reference programs.
 */
export async function checkReferences(
  instance: CodeInstance,
  context: PortContext,
): Promise<string | undefined | Failed> {
  let first: string | undefined;
  for (const reference of instance.references) {
    const outcome = await runTests(instance, reference, context);
    if (outcome.kind === "failed") return outcome;
    if (outcome.failed === undefined) return undefined;
    first ??= outcome.failed.words;
  }
  return first && `its own solution fails ${first}`;
}

// Functions that describe a failed test in words. Each part is cut to a maximum length, in characters.

const INPUT_CHARS = 140;
const VALUE_CHARS = 110;

function failureWords(test: CodeTest, result: SandboxResult): string {
  const asked = test.kind === "script" ? `for the input ${inputWords(test.stdin)} it` : callWords(test);
  switch (result.kind) {
    case "printed":
      if (test.kind === "script") return `${asked} ${differenceWords(test.stdout, result.stdout, VALUE_CHARS)}`;
      return `${asked} printed and returned nothing, ${expectedWords(test)}`;
    case "returned":
      return `${asked} returned ${show(result.value, VALUE_CHARS)}, ${expectedWords(test)}`;
    case "raised":
      return `${asked} raised ${clip(result.error, VALUE_CHARS)}, ${expectedWords(test)}`;
    case "unusable":
      return `${asked} was not reached: the program ${clip(result.why, VALUE_CHARS)}`;
    case "exceeded":
      return `${asked} took ${clip(result.limit, VALUE_CHARS)}`;
    case "died":
      return `${asked} ended early: ${clip(result.how, VALUE_CHARS)}`;
    default:
      return assertNever(result);
  }
}

function expectedWords(test: CodeTest): string {
  if (test.kind === "script") return `expected ${quoted(clip(test.stdout.trimEnd(), VALUE_CHARS), VALUE_CHARS)}`;
  return `expected ${clip(expectationWords(test, VALUE_CHARS), VALUE_CHARS)}`;
}

export function inputWords(stdin: string): string {
  return quoted(clip(stdin, INPUT_CHARS), INPUT_CHARS);
}

/** Returns a call and its views (conversions of the result) as Python code, e.g. "sorted(add(1, b=2))". */
export function callWords({ name, args, kwargs = [], views }: CallTest): string {
  const given = [
    ...args.map((arg) => show(arg, INPUT_CHARS)),
    ...kwargs.map(([key, value]) => `${key}=${show(value, INPUT_CHARS)}`),
  ];
  const called = `${name}(${clip(given.join(", "), INPUT_CHARS)})`;
  return views.reduce<string>((inner, view) => {
    if (typeof view === "object") return `round(${inner}, ${view.round})`;
    return view === "bases" ? inner : `${view}(${inner})`;
  }, called);
}
