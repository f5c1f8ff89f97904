/**
 * Checks the arguments of a tool call against the tool's JSON Schema. Checks only some keywords of JSON Schema, and
 * ignores the others.
 */

import { isRawNumber } from "../lib/exact-json.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Maximum depth of values that are checked; the depth of "a.b[3]" is 3. Deeper values are not checked. */
const DEPTH_MAX = 16;

/**
 * Returns what is wrong with a value, as a sentence for the policy without its full stop. Undefined: nothing is wrong.
 * Keywords that are not checked here are ignored, so a value that passes may still be invalid. A RawNumber (a number
 * kept as text) must be a whole number.
 */
export function problemOfArguments(
  schema: unknown,
  given: unknown,
  path = "the arguments",
  depth = 0,
): string | undefined {
  const value = isRawNumber(given) ? BigInt(given.rawJSON) : given;
  if (!isObject(schema) || depth > DEPTH_MAX) return undefined;
  const { type, enum: choices, const: only } = schema;
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined;
  if (types !== undefined && !types.some((name) => isOfType(value, name)))
    return `${path} must be of the type ${types.join(" or ")}`;
  const allowed = Array.isArray(choices) ? choices : "const" in schema ? [only] : undefined;
  if (allowed !== undefined && !allowed.some((each) => isEqual(each, value)))
    return `${path} must be ${allowed.map((each) => JSON.stringify(each)).join(" or ")}`;
  if (typeof value === "number" || typeof value === "bigint") return problemOfNumber(schema, value, path);
  if (typeof value === "string") return problemOfSize(schema, [...value].length, path, "Length", "characters");
  if (Array.isArray(value)) {
    const problem = problemOfSize(schema, value.length, path, "Items", "items");
    if (problem !== undefined) return problem;
    return firstProblem(value, (item, i) => problemOfArguments(schema["items"], item, `${path}[${i}]`, depth + 1));
  }
  return isObject(value) ? problemOfObject(schema, value, path, depth) : undefined;
}

function problemOfObject(schema: Schema, value: Schema, path: string, depth: number): string | undefined {
  const { required, properties, additionalProperties } = schema;
  const known = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const missing = needed.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${path} must have '${missing}'`;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(known, name));
  if (additionalProperties === false && unknown !== undefined) return `${path} must not have '${unknown.slice(0, 64)}'`;
  return firstProblem(Object.keys(known), (name) =>
    Object.hasOwn(value, name)
      ? problemOfArguments(known[name], value[name], pathOf(path, name), depth + 1)
      : undefined,
  );
}

function pathOf(path: string, name: string): string {
  return path === "the arguments" ? `'${name}'` : `${path}.${name}`;
}

function problemOfNumber(schema: Schema, value: number | bigint, path: string): string | undefined {
  const limits = [
    ["minimum", "at least", (limit: number) => value >= limit],
    ["maximum", "at most", (limit: number) => value <= limit],
    ["exclusiveMinimum", "above", (limit: number) => value > limit],
    ["exclusiveMaximum", "below", (limit: number) => value < limit],
  ] as const;
  return firstProblem(limits, ([keyword, words, isKept]) => {
    const limit = schema[keyword];
    return typeof limit === "number" && !isKept(limit) ? `${path} must be ${words} ${limit}` : undefined;
  });
}

function problemOfSize(schema: Schema, size: number, path: string, keyword: string, unit: string): string | undefined {
  const [min, max] = [schema[`min${keyword}`], schema[`max${keyword}`]];
  if (typeof min === "number" && size < min) return `${path} must have at least ${min} ${unit}`;
  return typeof max === "number" && size > max ? `${path} must have at most ${max} ${unit}` : undefined;
}

function firstProblem<Item>(items: readonly Item[], of: (item: Item, i: number) => string | undefined) {
  for (const [i, item] of items.entries()) {
    const problem = of(item, i);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value);
    case "number":
      return typeof value === "bigint" || typeof value === "number";
    case "string":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}

function isEqual(one: unknown, other: unknown): boolean {
  // An int beyond 2^53 (a bigint) equals no value of a schema, because schemas hold only numbers that a double can
  // hold.
  return one === other || (typeof other !== "bigint" && JSON.stringify(one) === JSON.stringify(other));
}
