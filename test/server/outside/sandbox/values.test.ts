/** Tests of replies: a program may write anything as its reply. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resultOfReply } from "../../../../server/outside/sandbox/read-results.ts";
import { PARTS_MAX, readValue } from "../../../../envs/lib/python-values.ts";

const read = (json: unknown) => readValue(json, { partsLeft: PARTS_MAX });

test.each<readonly [unknown, unknown]>([
  [12, { int: "12" }],
  [-0, { int: "0" }],
  [{ i: "0x20000000000000" }, { int: "9007199254740992" }],
  [{ i: `-0x1${"0".repeat(50)}` }, { int: String(-(2n ** 200n)) }],
  [{ f: "-0.0" }, { float: "-0.0" }],
  [{ f: "1e-07" }, { float: "1e-07" }],
  [{ f: "nan" }, { float: "nan" }],
  [
    [null, true, "x"],
    [null, true, "x"],
  ],
  [{ t: [] }, { tuple: [] }],
  [{ d: [["a", [1]]] }, { dict: [["a", [{ int: "1" }]]] }],
  [{ o: "object" }, { other: "object" }],
])("%j is a value", (json, value) => expect(read(json)).toEqual(value));

test.each<unknown>([
  ...[1.5, 2 ** 53, Infinity, {}, { i: "12" }, { i: "0x" }, { i: 5 }, { f: "1,5" }, { f: "inf " }, { f: "Infinity" }],
  ...[
    { b: "Ā" },
    { t: "x" },
    { s: {} },
    { d: [["a"]] },
    { d: [[1, 2, 3]] },
    { d: ["ab"] },
    { x: [] },
    { t: [], s: [] },
  ],
  ...[{ int: "1" }, { __proto__: null }, [[{ f: 1 }]], { i: `0x${"f".repeat(90_000)}` }],
])("%j is no value", (json) => expect(read(json)).toBeUndefined());

describe("whatever a program replies", () => {
  test("it is a result, and nothing is thrown", () => {
    const replies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"value":${json}}`),
    );
    fc.assert(
      fc.property(replies, fc.constantFrom("call", "script"), (text, kind) => {
        const result = resultOfReply(text, kind, { partsLeft: PARTS_MAX });
        expect(["returned", "raised", "exceeded", "died"]).toContain(result.kind);
        if (kind === "script") expect(result.kind).not.toBe("returned");
      }),
    );
  });

  test.each([
    ["a million brackets", `{"value":${"[".repeat(500_000)}${"]".repeat(500_000)}}`],
    ["more parts than are read", `{"value":[${"0,".repeat(PARTS_MAX)}0]}`],
    ["a huge int", `{"value":{"i":"0x${"f".repeat(1_000_000)}"}}`],
    ["two results in one", '{"value":1}{"value":2}'],
    ["a number for an error", '{"raised":1}'],
  ])("%s is a reply that cannot be read", (_name, text) => {
    expect(resultOfReply(text, "call", { partsLeft: PARTS_MAX })).toMatchObject({ kind: "died" });
  });

  test("all values of a job together have a limit", () => {
    const budget = { partsLeft: 10 };
    const four = '{"value":[1,2,3]}';
    expect([four, four, four].map((text) => resultOfReply(text, "call", budget).kind)).toEqual([
      "returned",
      "returned",
      "died",
    ]);
  });
});
