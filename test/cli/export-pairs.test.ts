import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { expect, test } from "vitest";
import type { Score } from "../../clients/ts/src/public.ts";
import { readFilter } from "../../cli/export/filter.ts";
import { type GradedRow, pairsOf } from "../../cli/export/pairs.ts";
import { createWriter, pairColumns } from "../../cli/export/write.ts";
import { temporaryFolder } from "../support/server-process.ts";

function row(group: string, index: number, reward: number, completion: string, commitEnd?: number): GradedRow {
  const graded = { ratio: Number(reward === 1), reward, solved: reward === 1, source: "m" };
  const messages = [{ role: "user" as const, content: "?" }, { role: "assistant" as const, content: completion }]; // prettier-ignore
  const where = { environment: "x", version: 1, level: "easy", split: "eval", group_id: group, sample_index: index };
  return { messages, ...where, ...graded, commitEnd, isConversation: false };
}

const options = { perPrompt: 4, rewardGap: 0 };

function shown(pairs: ReturnType<typeof pairsOf>): readonly (readonly (string | undefined)[])[] {
  return pairs.map(({ kind, chosen, rejected }) => [kind, chosen[0]?.content, rejected[0]?.content]);
}

test("the best over the worst of each prompt, while their rewards differ", () => {
  const rows = [row("a", 0, 0.1, "a0"), row("a", 1, 1, "a1"), row("a", 2, 1, "a2"), row("b", 0, 1, "b0")];
  expect(shown(pairsOf(rows, options))).toEqual([["reward", "a1", "a0"]]);
  expect(pairsOf(rows, { ...options, rewardGap: 0.9 })).toEqual([]);
  expect(pairsOf([row("a", 0, 1, "x"), row("b", 0, 0, "y")], options)).toEqual([]);
  // Rounding prefers nothing.
  expect(pairsOf([row("a", 0, 0.1 + 0.2, "x"), row("a", 1, 0.3, "y")], options)).toEqual([]);
});

test("a commit over what went on after it, in code points", () => {
  const rows = [row("a", 0, 0.1, "👍yes but no", 4), row("a", 1, 1, "yes\n", 3), row("a", 2, 0, "no")];
  expect(shown(pairsOf(rows, options))).toEqual([
    ["commit", "👍yes", "👍yes but no"],
    ["reward", "yes\n", "no"],
  ]);
  expect(pairsOf(rows, { ...options, perPrompt: 1 }).length).toBe(1);
});

test.each(["jsonl", "parquet"] as const)("are written as %s", async (format) => {
  using folder = temporaryFolder();
  const path = join(folder.path, `pairs.${format}`);
  const pairs = pairsOf([row("a", 0, 0.1, "é"), row("a", 1, 1, "ü")], options);
  const writer = createWriter(path, format, pairColumns);
  for (const pair of pairs) writer.add(pair);
  writer.finish();
  const read: readonly unknown[] =
    format === "jsonl"
      ? [JSON.parse(readFileSync(path, "utf8")) as unknown]
      : await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  expect(read).toEqual(pairs);
});

test("a filter compares any component, and keeps none without a value", () => {
  const score = { reward: 0.5, components: [{ name: "format", value: 1 }, { name: "judge" }] } as unknown as Score;
  const keeps = (text: string): boolean | undefined => readFilter(text)?.keeps(score);
  expect(["format=1", "format >= 1", "reward<0.6", "reward>0.5", "judge>=0", "other>0", "ratio<1"].map(keeps)).toEqual([
    ...[true, true, true, false, false, false, false],
  ]);
  for (const text of ["", "format", "format==1", "1>format", "format>x", "format>1;reward>0"])
    expect(readFilter(text), text).toBeUndefined();
});

test("episodes of several messages have no common prompt, and are not paired", () => {
  const rows = [row("a", 0, 1, "right"), row("a", 1, 0, "wrong")];
  const options = { perPrompt: 1, rewardGap: 0 };
  expect(pairsOf(rows, options)).toHaveLength(1);
  expect(
    pairsOf(
      rows.map((each) => ({ ...each, isConversation: true })),
      options,
    ),
  ).toEqual([]);
});
