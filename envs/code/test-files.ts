/**
 * Tests that are written as Python, read into calls and what they are to return: assertions one after the other, a
 * `check(candidate)` as in HumanEval, functions of pytest, methods of unittest. Only what is constant is understood. What
 * is not is left out, counted and told; whatever comes after it is read with the names forgotten that it may have changed.
 */
import type { PyValue } from "../ports.ts";
import { testsOfAssertion, testsOfMethod } from "./assertions.ts";
import { itemsOf } from "./folding.ts";
import type { CallTest } from "./instance.ts";
import { fail, type Meaning, meaningOf, type Reading, type Scope, valueOf } from "./meaning.ts";
import { type Definition, readStatements, type Statement } from "./statements.ts";
import type { Call, Expression } from "./syntax.ts";
import { sequenceOf } from "./value.ts";

export interface TestFile {
  readonly tests: readonly CallTest[];
  /** Why tests were left out, one reason for each. */
  readonly unread: readonly string[];
}

/** Expressions that are looked at, and statements that are gone through, loops each time. */
const NODES_MAX = 1_000_000;
const STATEMENTS_MAX = 10_000;
const CALLS_MAX = 4;

/** How a file is gone through. */
interface Walk extends Reading {
  readonly tests: CallTest[];
  readonly unread: string[];
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly helpers: ReadonlySet<string>;
  readonly testsMax: number;
  statementsLeft: number;
}

type Names = Map<string, Meaning>;

/** Never throws, and never runs a thing. */
export function readTestFile(source: string, testsMax: number): TestFile {
  const statements = readStatements(source);
  const definitions = new Map(statements.flatMap((each) => (each.kind === "def" ? [[each.name, each] as const] : [])));
  const others = statements.flatMap(helpersOf);
  const walk: Walk = {
    ...{ tests: [], unread: [], definitions, helpers: new Set([...definitions.keys(), ...others]), testsMax },
    ...{ nodesLeft: NODES_MAX, statementsLeft: STATEMENTS_MAX, problem: "" },
  };
  walkThrough(walk, statements, new Map(), 0);
  return { tests: walk.tests, unread: walk.unread };
}

/** Names that are not the program's: the tests' own classes, and what they take from Python's library. */
function helpersOf(statement: Statement): readonly string[] {
  if (statement.kind === "class") return [statement.name];
  return statement.kind === "import" && LIBRARY.has(statement.module) ? statement.names : [];
}

const LIBRARY = new Set(
  "bisect collections copy datetime decimal fractions functools heapq itertools json math numpy operator os pytest random re statistics string sys time typing unittest".split(
    " ",
  ),
);

function scopeOf(walk: Walk, names: Names): Scope {
  return { names, helpers: walk.helpers };
}

function walkThrough(walk: Walk, statements: readonly Statement[], names: Names, calls: number): void {
  for (const statement of statements) {
    if (walk.tests.length >= walk.testsMax) return;
    if (walk.statementsLeft-- <= 0) return void walk.unread.push("there are too many statements");
    if (!understood(walk, statement, names, calls)) {
      walk.unread.push(walk.problem);
      // An assertion changes nothing; anything else may have changed what a name stands for.
      if (statement.kind !== "assert") forget(names);
    }
  }
}

/** What is of the program stays, for example "candidate". */
function forget(names: Names): void {
  for (const [name, { kind }] of names) if (kind === "value" || kind === "result") names.delete(name);
}

function understood(walk: Walk, statement: Statement, names: Names, calls: number): boolean {
  switch (statement.kind) {
    case "nothing":
    case "import":
      return true;
    case "unread":
      return fail(walk, `line ${statement.line}: ${statement.reason}`) ?? false;
    case "assert":
      return take(walk, testsOfAssertion(statement.test, scopeOf(walk, names), walk));
    case "assign":
      return assign(walk, statement.names, statement.value, names);
    case "expression":
      return expression(walk, statement.value, names, calls);
    case "def":
      // Functions of tests are gone through at once, and others where they are called.
      return isTest(statement) ? testFunction(walk, statement, names, calls) : true;
    case "class":
      for (const each of statement.body) if (each.kind === "def") understood(walk, each, names, calls);
      return true;
    case "with":
      return raises(walk, statement.manager, statement.body, names);
    case "for":
      return loop(walk, statement, names, calls);
  }
}

function take(walk: Walk, tests: readonly CallTest[] | undefined): boolean {
  walk.tests.push(...(tests ?? []).slice(0, walk.testsMax - walk.tests.length));
  return tests !== undefined;
}

function assign(walk: Walk, targets: readonly string[], value: Expression, names: Names): boolean {
  const meaning = meaningOf(value, scopeOf(walk, names), walk);
  const bound = meaning !== undefined && bind(names, targets, meaning);
  if (!bound) for (const name of targets) names.delete(name);
  return bound || (fail(walk, walk.problem || "an assignment") ?? false);
}

/** Several names take a sequence apart. */
function bind(names: Names, targets: readonly string[], meaning: Meaning): boolean {
  if (targets.length === 1) return names.set(targets[0] as string, meaning).size > 0;
  const items = meaning.kind === "value" ? itemsOf(meaning.value) : undefined;
  if (items?.length !== targets.length) return false;
  for (const [i, name] of targets.entries()) names.set(name, { kind: "value", value: items[i] as PyValue });
  return true;
}

/** A call of a function of the tests, such as check(candidate), or of unittest. */
function expression(walk: Walk, value: Expression, names: Names, calls: number): boolean {
  if (value.kind !== "call") return fail(walk, "a statement that tests nothing") ?? false;
  const { callee } = value;
  if (callee.kind === "attribute" && callee.of.kind === "name" && callee.of.name === "self")
    return take(walk, testsOfMethod(value, scopeOf(walk, names), walk));
  const name = callee.kind === "name" ? callee.name : "";
  if (name === "print") return true;
  const definition = walk.definitions.get(name);
  if (definition === undefined || calls >= CALLS_MAX) return fail(walk, `a call of '${name}'`) ?? false;
  return callOf(walk, definition, value, names, calls);
}

function callOf(walk: Walk, definition: Definition, { args, kwargs }: Call, names: Names, calls: number): boolean {
  if (args.length !== definition.parameters.length || kwargs.length > 0)
    return fail(walk, `a call of '${definition.name}' with other arguments`) ?? false;
  const inner: Names = new Map(names);
  for (const [i, parameter] of definition.parameters.entries()) {
    const meaning = meaningOf(args[i] as Expression, scopeOf(walk, names), walk);
    if (meaning === undefined) return false;
    inner.set(parameter, meaning);
  }
  walkThrough(walk, definition.body, inner, calls + 1);
  return true;
}

function isTest({ name }: Definition): boolean {
  return name.startsWith("test");
}

function testFunction(walk: Walk, definition: Definition, names: Names, calls: number): boolean {
  const cases = casesOf(walk, definition, names);
  if (cases === undefined) return false;
  for (const each of cases) walkThrough(walk, definition.body, each, calls + 1);
  return true;
}

/** The names of each run of a test: one for each entry of pytest.mark.parametrize. */
function casesOf(walk: Walk, { decorators, parameters }: Definition, names: Names): readonly Names[] | undefined {
  const given = parameters.filter((name) => name !== "self");
  const [decorator, ...others] = decorators;
  if (decorator === undefined) return given.length === 0 ? [new Map(names)] : fail(walk, "a test with a fixture");
  if (others.length > 0 || decorator.kind !== "call" || decorator.args.length < 2) return fail(walk, "a decorator");
  const [what, values] = decorator.args.map((arg) => valueOf(arg, scopeOf(walk, names), walk));
  const targets = typeof what === "string" ? what.split(",").map((name) => name.trim()) : sequenceOf(what ?? null);
  const entries = sequenceOf(values ?? null);
  if (targets === undefined || entries === undefined) return fail(walk, "a parametrized test");
  const cases = entries.map((value) => {
    const inner: Names = new Map(names);
    return bind(inner, targets as readonly string[], { kind: "value", value }) ? inner : undefined;
  });
  return cases.includes(undefined) ? fail(walk, "a parametrized test") : (cases as readonly Names[]);
}

/** "with pytest.raises(ValueError): f(x)" */
function raises(walk: Walk, manager: Expression, body: readonly Statement[], names: Names): boolean {
  const [inner, ...others] = body;
  const { callee, args } = manager.kind === "call" ? manager : { callee: undefined, args: [] };
  const isRaises = callee?.kind === "attribute" && ["raises", "assertRaises"].includes(callee.name);
  const kinds = args[0]?.kind === "tuple" ? args[0].items : args;
  const exceptions = kinds.map((each) => (each.kind === "name" || each.kind === "attribute" ? each.name : ""));
  const value = inner?.kind === "expression" || inner?.kind === "assign" ? inner.value : undefined;
  if (!isRaises || value === undefined || others.length > 0 || exceptions.includes(""))
    return fail(walk, "a 'with' block") ?? false;
  const meaning = meaningOf(value, scopeOf(walk, names), walk);
  if (meaning?.kind !== "result") return fail(walk, "a 'with' block without a call of the program") ?? false;
  const { call, views } = meaning;
  return take(walk, [{ kind: "call", ...call, views, expected: { kind: "raises", names: exceptions } }]);
}

function loop(walk: Walk, statement: Extract<Statement, { kind: "for" }>, names: Names, calls: number): boolean {
  const value = valueOf(statement.items, scopeOf(walk, names), walk);
  const items = value === undefined ? undefined : itemsOf(value);
  if (items === undefined) return fail(walk, "a loop over something else than constants") ?? false;
  for (const item of items) {
    if (walk.statementsLeft <= 0 || walk.tests.length >= walk.testsMax) return true;
    if (!bind(names, statement.names, { kind: "value", value: item })) return fail(walk, "a loop") ?? false;
    walkThrough(walk, statement.body, names, calls);
  }
  return true;
}
