import { expect, test } from "vitest";
import { type ExportRow, selectEvenly } from "../../../server/cli/export/rows.ts";
import { toJsonl } from "../../../server/cli/export/write.ts";

function row(environment: string, group: string, index: number, ratio: number): ExportRow {
  const graded = { ratio, reward: 1 + ratio, solved: ratio === 1, source: "m" };
  return {
    messages: [],
    environment,
    version: 1,
    level: "easy",
    split: "train",
    group_id: group,
    sample_index: index,
    ...graded,
  };
}
const shown = (rows: readonly ExportRow[]): readonly string[] =>
  rows.map(({ group_id, sample_index }) => `${group_id}${sample_index}`);

const rows = [
  ...[0, 1, 2, 3].map((index) => row("x", "a", index, 0.9)),
  row("x", "b", 0, 0.6),
  row("x", "c", 0, 0.5),
  row("y", "d", 0, 1),
  row("y", "d", 1, 1),
  row("y", "e", 5, 0.51),
];

test("as many of each environment as the scarcest has, one of each prompt before a second of any", () => {
  const { rows: kept, available } = selectEvenly(rows, 0.5);
  expect(shown(kept)).toEqual(["a0", "d0", "b0", "e5", "a1", "d1"]);
  expect([...available]).toEqual([["x", 5], ["y", 3]]); // prettier-ignore
});

test("or as many as asked for, as far as they go", () => {
  expect(shown(selectEvenly(rows, 0.5, 1).rows)).toEqual(["a0", "d0"]);
  expect(shown(selectEvenly(rows, 0.55, 100).rows)).toEqual(["a0", "d0", "b0", "d1", "a1", "a2", "a3"]);
});

test("an environment none of whose completions is good leaves nothing, rather than an uneven set", () => {
  const all = [...rows, row("z", "f", 0, 0.1)];
  expect(selectEvenly(all, 0.5).rows).toEqual([]);
  expect(selectEvenly(all, 0.5).available.get("z")).toBe(0);
  expect(selectEvenly([], 0.5).rows).toEqual([]);
});

test("JSONL is one line to a row, whatever its text holds", () => {
  const text = { ...row("x", "a", 0, 1), messages: [{ role: "user" as const, content: "a\nb\u2028\u0000😀" }] };
  const lines = toJsonl([text, text]).split("\n");
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? "")).toEqual(text);
});
