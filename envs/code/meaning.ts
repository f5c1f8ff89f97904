/** What expressions of a test mean: a value, something of the program under test, or what a call of it comes to. */
import { type PyValue, type View, VIEW_NAMES } from "../ports.ts";
import { ROUNDING, type Tolerance } from "./compare.ts";
import { fold, foldBuiltin, foldSign } from "./folding.ts";
import type { ProgramCall } from "./instance.ts";
import type { Binary, Call, Expression } from "./syntax.ts";
import { numberOf, sizeOf, typeName } from "./value.ts";

export type Meaning =
  | { readonly kind: "value"; readonly value: PyValue; readonly tolerance?: Tolerance }
  /** A function of the program, or a method of an instance that is made without arguments. */
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "instance"; readonly name: string }
  | Result;

export interface Result {
  readonly kind: "result";
  readonly call: ProgramCall;
  readonly views: readonly View[];
  readonly gap?: Gap;
}

/** How far a result lies from a value. It is never asked of the sandbox, for the value is what is expected. */
export interface Gap {
  readonly from: PyValue;
  readonly isAbsolute: boolean;
  /** Places after the point that it is rounded to. */
  readonly places?: number;
}

export interface Scope {
  /** What names stand for; those that are not here are the program's own. */
  readonly names: ReadonlyMap<string, Meaning>;
  /** Functions and classes of the test file, which are not looked into. */
  readonly helpers: ReadonlySet<string>;
}

/** What is read, and how much may still be read. */
export interface Reading {
  nodesLeft: number;
  /** Why the last expression has no meaning here. */
  problem: string;
}

/** Parts of a value, those inside of others included. */
const VALUE_SIZE_MAX = 100_000;

export function fail(reading: Reading, problem: string): undefined {
  reading.problem = problem;
  return undefined;
}

/** Undefined: it has none that is known here, and `reading` says why. */
export function meaningOf(expression: Expression, scope: Scope, reading: Reading): Meaning | undefined {
  if (reading.nodesLeft-- <= 0) return fail(reading, "the tests are too large");
  switch (expression.kind) {
    case "value":
      return { kind: "value", value: expression.value };
    case "name":
      return meaningOfName(expression.name, scope, reading);
    case "attribute":
      return meaningOfAttribute(expression, scope, reading);
    case "call":
      return meaningOfCall(expression, scope, reading);
    case "unary":
      return meaningOfSign(expression.operator, expression.operand, scope, reading);
    case "binary":
      return meaningOfBinary(expression, scope, reading);
    case "compare":
    case "and":
      return fail(reading, "a comparison where a value is wanted");
    case "dict":
      return meaningOfDict(expression.entries, scope, reading);
    default:
      return meaningOfItems(expression.kind, expression.items, scope, reading);
  }
}

/** A value that was made of others, if it is not too large. */
function made(value: PyValue, reading: Reading): Meaning | undefined {
  const size = sizeOf(value, VALUE_SIZE_MAX);
  reading.nodesLeft -= size;
  return size > VALUE_SIZE_MAX ? fail(reading, "a value that is too large") : { kind: "value", value };
}

/** The value of an expression that holds no call of the program. */
export function valueOf(expression: Expression, scope: Scope, reading: Reading): PyValue | undefined {
  const meaning = meaningOf(expression, scope, reading);
  if (meaning === undefined) return undefined;
  return meaning.kind === "value" ? meaning.value : fail(reading, "a call of the program where a constant is wanted");
}

function valuesOf(expressions: readonly Expression[], scope: Scope, reading: Reading): readonly PyValue[] | undefined {
  const values: PyValue[] = [];
  for (const expression of expressions) {
    const value = valueOf(expression, scope, reading);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** What tests use of Python itself: none of these is the program's. */
const BUILTINS = new Set(
  "abs all any bin bool bytes callable chr dict divmod enumerate filter float format frozenset hash hex id int isinstance iter len list map max min next object oct open ord pow print range repr reversed round set sorted str sum super tuple type zip math np numpy pytest unittest random os sys re itertools collections self inf nan __name__".split(
    " ",
  ),
);

/** What LeetCode's tests call them. */
const CONSTANTS: Readonly<Record<string, PyValue>> = {
  ...{ inf: { float: "inf" }, nan: { float: "nan" } },
  ...{ "math.inf": { float: "inf" }, "math.nan": { float: "nan" }, "float.inf": { float: "inf" } },
  ...{ "math.pi": { float: `${Math.PI}` }, "math.e": { float: `${Math.E}` }, "np.inf": { float: "inf" } },
};

function constantOf(name: string): Meaning | undefined {
  const value = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined;
  return value === undefined ? undefined : { kind: "value", value };
}

function meaningOfName(name: string, { names, helpers }: Scope, reading: Reading): Meaning | undefined {
  const known = names.get(name) ?? constantOf(name);
  if (known !== undefined) return known;
  if (BUILTINS.has(name)) return fail(reading, `'${name}' of Python`);
  return helpers.has(name) ? fail(reading, `'${name}', which the tests define`) : { kind: "function", name };
}

function meaningOfAttribute(
  { of, name }: Extract<Expression, { kind: "attribute" }>,
  scope: Scope,
  reading: Reading,
): Meaning | undefined {
  const dotted = of.kind === "name" ? `${of.name}.${name}` : "";
  const constant = constantOf(dotted);
  if (constant !== undefined) return constant;
  // "import solution" names the program.
  if (dotted === `solution.${name}`) return { kind: "function", name };
  const owner = meaningOf(of, scope, reading);
  if (owner === undefined) return undefined;
  if (owner.kind === "instance") return { kind: "function", name: `${owner.name}.${name}` };
  return fail(reading, `'.${name}' of something`);
}

function meaningOfCall(call: Call, scope: Scope, reading: Reading): Meaning | undefined {
  const { callee } = call;
  const dotted = callee.kind === "attribute" && callee.of.kind === "name" ? `${callee.of.name}.${callee.name}` : "";
  if (dotted === "pytest.approx") return approximation(call, scope, reading);
  if (callee.kind === "name" && BUILTINS.has(callee.name) && !scope.names.has(callee.name))
    return meaningOfBuiltin(callee.name, call, scope, reading);
  const called = meaningOf(callee, scope, reading);
  if (called === undefined) return undefined;
  if (called.kind !== "function") return fail(reading, "a call of something that is no function");
  // A name that starts like a class's and is called with nothing makes an instance.
  if (/^[A-Z]/.test(called.name) && !called.name.includes(".") && call.args.length + call.kwargs.length === 0)
    return { kind: "instance", name: called.name };
  if (/^[A-Z]/.test(called.name) && !called.name.includes("."))
    return fail(reading, `an instance of '${called.name}' that is made with arguments`);
  const args = valuesOf(call.args, scope, reading);
  const kwargs = args && namedValues(call, scope, reading);
  if (args === undefined || kwargs === undefined) return undefined;
  const made = { name: called.name, args, ...(kwargs.length > 0 && { kwargs }) };
  return { kind: "result", call: made, views: [] };
}

function namedValues(
  { kwargs }: Call,
  scope: Scope,
  reading: Reading,
): readonly (readonly [string, PyValue])[] | undefined {
  const values = valuesOf(
    kwargs.map(([, value]) => value),
    scope,
    reading,
  );
  return values && kwargs.map(([name], i) => [name, values[i] as PyValue] as const);
}

/** A builtin of a value is folded; many of them of a result are views of it. */
function meaningOfBuiltin(name: string, call: Call, scope: Scope, reading: Reading): Meaning | undefined {
  const [first, second] = call.args;
  if (call.kwargs.length > 0) return fail(reading, `'${name}' with arguments by name`);
  const inner = first === undefined ? undefined : meaningOf(first, scope, reading);
  if (first !== undefined && inner === undefined) return undefined;
  if (inner?.kind === "result") {
    const places = second && numberOf(valueOf(second, scope, reading) ?? null);
    const view = name === "round" && second !== undefined ? roundTo(places) : second === undefined && viewOf(name);
    if (!view || call.args.length > 2) return fail(reading, `'${name}' of a result`);
    return inner.gap === undefined ? seen(inner, view) : gapSeen(inner, inner.gap, view, reading);
  }
  const args = valuesOf(call.args, scope, reading);
  const value = args && foldBuiltin(name, args);
  return value === undefined ? fail(reading, `'${name}' of Python`) : made(value, reading);
}

function viewOf(name: string): View | undefined {
  return VIEW_NAMES.find((each) => each === name);
}

const PLACES_MAX = 20;

function roundTo(places: number | undefined): View | undefined {
  return places !== undefined && Number.isInteger(places) && Math.abs(places) <= PLACES_MAX
    ? { round: places }
    : undefined;
}

function seen(result: Result, view: View): Result {
  return { ...result, views: [...result.views, view] };
}

/** Of a gap: how large it is, and that it is rounded. */
function gapSeen(result: Result, gap: Gap, view: View, reading: Reading): Result | undefined {
  if (view === "abs") return { ...result, gap: { ...gap, isAbsolute: true } };
  const places = view === "round" ? 0 : typeof view === "object" ? view.round : undefined;
  if (places === undefined || gap.places !== undefined) return fail(reading, "a builtin of a difference");
  return { ...result, gap: { ...gap, places } };
}

/** pytest.approx: a relative millionth, and 1e-12, unless it says otherwise. */
function approximation(call: Call, scope: Scope, reading: Reading): Meaning | undefined {
  const [first, ...others] = call.args;
  const value = first && valueOf(first, scope, reading);
  if (value === undefined || others.length > 0) return fail(reading, "'approx' of that");
  const relative = toleranceOf(call, ["rel"], scope, reading);
  const absolute = toleranceOf(call, ["abs"], scope, reading);
  if (relative === undefined && absolute !== undefined)
    return { kind: "value", value, tolerance: { relative: 0, absolute } };
  return { kind: "value", value, tolerance: { relative: relative ?? 1e-6, absolute: absolute ?? ROUNDING.absolute } };
}

/** A tolerance that is given by one of these names. */
export function toleranceOf(
  { kwargs }: Call,
  names: readonly string[],
  scope: Scope,
  reading: Reading,
): number | undefined {
  const given = kwargs.find(([name]) => names.includes(name))?.[1];
  const value = given && valueOf(given, scope, reading);
  const number = value === undefined ? undefined : numberOf(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

function meaningOfSign(operator: string, operand: Expression, scope: Scope, reading: Reading): Meaning | undefined {
  const value = valueOf(operand, scope, reading);
  if (value === undefined) return undefined;
  const folded = operator === "not" ? undefined : foldSign(operator, value);
  return folded === undefined
    ? fail(reading, `'${operator}' of a ${typeName(value)}`)
    : { kind: "value", value: folded };
}

/** A result less a value, or a value less a result, is for tests of how far they lie apart. */
function meaningOfBinary({ operator, left, right }: Binary, scope: Scope, reading: Reading): Meaning | undefined {
  const [a, b] = [meaningOf(left, scope, reading), meaningOf(right, scope, reading)];
  if (a === undefined || b === undefined) return undefined;
  const [result, from] = a.kind === "result" ? [a, b] : [b, a];
  if (operator === "-" && result.kind === "result" && from.kind === "value" && result.gap === undefined)
    return { ...result, gap: { from: from.value, isAbsolute: false } };
  if (a.kind !== "value" || b.kind !== "value") return fail(reading, "arithmetic with a result");
  const value = fold(operator, a.value, b.value);
  return value === undefined
    ? fail(reading, `${typeName(a.value)} ${operator} ${typeName(b.value)}`)
    : made(value, reading);
}

function meaningOfDict(
  entries: readonly (readonly [Expression, Expression])[],
  scope: Scope,
  reading: Reading,
): Meaning | undefined {
  const keys = valuesOf(
    entries.map(([key]) => key),
    scope,
    reading,
  );
  const values =
    keys &&
    valuesOf(
      entries.map(([, value]) => value),
      scope,
      reading,
    );
  if (keys === undefined || values === undefined) return undefined;
  return made({ dict: keys.map((key, i) => [key, values[i] as PyValue] as const) }, reading);
}

function meaningOfItems(
  kind: "list" | "tuple" | "set",
  items: readonly Expression[],
  scope: Scope,
  reading: Reading,
): Meaning | undefined {
  const values = valuesOf(items, scope, reading);
  if (values === undefined) return undefined;
  if (kind === "list") return made(values, reading);
  return made(kind === "tuple" ? { tuple: values } : { set: values }, reading);
}
