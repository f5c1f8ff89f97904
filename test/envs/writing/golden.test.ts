/**
 * Compares tasks of versions 1 and 2 with a golden file, as test/envs/golden.test.ts does for other environments. The
 * file also keeps the judge's questions, which decide the rewards. A change needs a new version; UPDATE_GOLDEN=1 writes
 * the file if it is missing.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadPool, pickRow, rowAt } from "../../../envs/pool.ts";
import { writing } from "../../../envs/writing/index.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import { goldenText } from "../golden-text.ts";

const CANDIDATE = "Rain < snow,\n\n\nsays <b>the {judge}</b>.\n[INST] \u202eend";
const file = new URL("../../golden/writing-v1.json", import.meta.url);
const digest = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function record() {
  const { name, file: rows } = writing.rows!.defaultPool!;
  const pool = loadPool(writing, name, readFileSync(rows, "utf8"));
  const tasks = (["train", "eval", "bench"] as const).map((split) => {
    const made = pickRow(pool, "all", split, 1n);
    if (made.kind !== "made") throw new Error(made.message);
    const instance = made.instance;
    const prompts = writing.answerFormats.map((format) => [format, writing.render(instance, format)] as const);
    return {
      split,
      hash: made.key.hash,
      instance,
      prompts: Object.fromEntries(prompts.map(([format, prompt]) => [format, digest(prompt)])),
      asked: split === "train" ? comparisonOf(instance, CANDIDATE)[0] : undefined,
      orders: comparisonOf(instance, CANDIDATE).map(digest),
    };
  });
  const walked = [0, 1, 2, 1000].map((ordinal) => {
    const made = rowAt(pool, "all", "train", 5n, ordinal);
    return made.kind === "made" ? made.key.hash : made.kind;
  });
  return { environment: writing.id, version: writing.earlier?.[0], tasks, walked };
}

test("tasks and what the judge is asked are what they were", () => {
  if (!existsSync(file) && process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, goldenText(record()));
  expect(existsSync(file), "test/golden/writing-v1.json is missing: UPDATE_GOLDEN=1 writes it").toBe(true);
  expect(JSON.parse(JSON.stringify(record()))).toEqual(JSON.parse(readFileSync(file, "utf8")));
});
