/** The lists of planted faults are of the code as it is: each text to find is there, and so is each test. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { edited, editsOf, faults } from "../../scripts/planted.ts";

const root = join(import.meta.dirname, "../..");

/** Of a text in quotes, what a test's parameters do not change. */
const SAID_MIN = 5;
const quoted = /(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1/g;

/** Whether a file has a test of this name, as far as its text shows: titles are put together from parameters. */
function isNamed(text: string, name: string): boolean {
  const [functionName = ""] = name.split("[");
  if (/^test_\w+$/.test(functionName)) return text.includes(`def ${functionName}(`);
  const said = [...text.matchAll(quoted)].flatMap(([, , inside = ""]) => inside.split(/%[sdj]|\$\{?\w+\}?/));
  return said.some((each) => each.trim().length >= SAID_MIN && name.includes(each.trim())) || text.includes(name);
}

describe.each(Object.entries(faults()))("%s", (_file, list) => {
  test.each(list.map((fault) => [fault.says, fault] as const))("%s", (_says, fault) => {
    const texts = new Map<string, string>();
    for (const edit of editsOf(fault)) {
      const before = texts.get(edit.file) ?? readFileSync(join(root, edit.file), "utf8");
      const after = edited(before, edit);
      expect(after, `${edit.file} has once: ${edit.find}`).toBeDefined();
      expect(after).not.toBe(before);
      texts.set(edit.file, after ?? "");
    }
    expect(existsSync(join(root, fault.test)), fault.test).toBe(true);
    expect(isNamed(readFileSync(join(root, fault.test), "utf8"), fault.name), `${fault.test} has ${fault.name}`).toBe(
      true,
    );
  });

  test("no statement stands there twice", () => {
    expect(new Set(list.map(({ says }) => says)).size).toBe(list.length);
  });
});

test("a text that is there twice, or not at all, is not replaced", () => {
  const edit = { file: "f", find: "a", put: "b" };
  expect([edited("cac", edit), edited("ca", edit), edited("aca", edit), edited("c", edit)]).toEqual([
    "cbc",
    "cb",
    undefined,
    undefined,
  ]);
});
