/** The check of a tool's arguments against its JSON Schema, and the example that keeps to a schema. */
import { describe, expect, test } from "vitest";
import { rawNumber } from "../../../envs/lib/exact-json.ts";
import { problemOfArguments } from "../../../envs/turns/check-arguments.ts";
import { exampleOf } from "../../../server/outside/mounted/example-arguments.ts";

const raw = rawNumber;
const object = (properties: Readonly<Record<string, unknown>>, more: object = {}) => ({
  type: "object",
  properties,
  ...more,
});

describe("arguments", () => {
  test.each<[schema: object, value: unknown, problem: string | undefined]>([
    [{}, { a: 1 }, undefined],
    [{ type: "object" }, [], "the arguments must be of the type object"],
    [object({ a: { type: "integer" } }), { a: 1.5 }, "'a' must be of the type integer"],
    [object({ a: { type: "integer" } }), { a: 2 }, undefined],
    [object({ a: { type: ["string", "null"] } }), { a: 3 }, "'a' must be of the type string or null"],
    [object({ a: { type: ["string", "null"] } }), { a: null }, undefined],
    [object({ a: {} }, { required: ["a"] }), {}, "the arguments must have 'a'"],
    [object({ a: {} }, { additionalProperties: false }), { b: 1 }, "the arguments must not have 'b'"],
    [object({ a: { enum: ["x", 1] } }), { a: "y" }, `'a' must be "x" or 1`],
    [object({ a: { const: [1] } }), { a: [1] }, undefined],
    [object({ a: { minimum: 1, maximum: 5 } }), { a: 6 }, "'a' must be at most 5"],
    [object({ a: { exclusiveMinimum: 1 } }), { a: 1 }, "'a' must be above 1"],
    [object({ a: { maxLength: 2 } }), { a: "🂡🂡" }, undefined],
    [object({ a: { maxLength: 2 } }), { a: "abc" }, "'a' must have at most 2 characters"],
    [object({ a: { items: { type: "boolean" }, minItems: 1 } }), { a: [] }, "'a' must have at least 1 items"],
    [object({ a: { items: { type: "boolean" } } }), { a: [true, 0] }, "'a'[1] must be of the type boolean"],
    [object({ a: object({ b: { type: "string" } }) }), { a: { b: 1 } }, "'a'.b must be of the type string"],
    [object({ a: { oneOf: [{ type: "string" }] } }), { a: 1 }, undefined],
    [object({ toString: { type: "string" } }), {}, undefined],
    // Whole numbers that JavaScript cannot hold.
    [object({ a: { type: "integer" } }), { a: raw("9007199254740993") }, undefined],
    [object({ a: { type: "number" } }), { a: raw("-9007199254740993") }, undefined],
    [object({ a: { type: "string" } }), { a: raw("9007199254740993") }, "'a' must be of the type string"],
    [object({ a: { type: "object" } }), { a: raw("9007199254740993") }, "'a' must be of the type object"],
    [object({ a: { maximum: 2 ** 53 } }), { a: raw("9007199254740993") }, "'a' must be at most 9007199254740992"],
    [object({ a: { enum: [2 ** 53] } }), { a: raw("9007199254740993") }, "'a' must be 9007199254740992"],
    [object({ a: { items: { minimum: 0 } } }), { a: [raw("-9007199254740993")] }, "'a'[0] must be at least 0"],
  ])("%j and %j", (schema, value, problem) => {
    expect(problemOfArguments(schema, value)).toBe(problem);
  });
});

test.each([
  object({ a: { type: "integer", minimum: 5 }, b: { type: "array", items: { enum: ["x"] }, minItems: 2 } }),
  object({ a: { type: "number", maximum: -3 }, b: { type: "string", minLength: 4 } }, { required: ["a", "b", "c"] }),
  object({ a: object({ b: { type: "boolean" }, c: { type: "null" } }, { required: ["b"] }), d: { const: 3 } }),
  { type: "object" },
])("an example keeps to its schema: %j", (schema) => {
  expect(problemOfArguments(schema, exampleOf(schema))).toBeUndefined();
});
