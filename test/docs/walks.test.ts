/** What docs/architecture.md may get wrong of a walk is found. That it gets nothing wrong is in scripts/check.sh. */
import { expect, test } from "vitest";
import { problemsOf, toldOf } from "../../scripts/walks.ts";

const passed = ["envs/score.ts", "server/a.ts", "server/b.ts"];

function document(...points: readonly string[]): string {
  const list = points.map((point, i) => `${i + 1}. ${point}`).join("\n");
  return `# A\n\n## The walk of a Step\n\n3 files run.\n\n${list}\n\nIt leans on \`envs/score.ts\`.\n\n## B\n\n1. \`server/c.ts\`\n`;
}

function found(text: string, max = 2): readonly string[] {
  return problemsOf(toldOf(text, "Step"), passed, max);
}

test("a spine within its limit, with all other files named below it, is right", () => {
  expect(found(document("`server/a.ts` reads.", "`server/b.ts` writes."))).toEqual([]);
});

test("files are missing, or named and not passed", () => {
  expect(found(document("`server/a.ts` reads."))).toEqual(["server/b.ts is passed and not named"]);
  expect(found(document("`server/a.ts`", "`server/b.ts`", "`server/d.ts`"), 3)).toEqual([
    "server/d.ts is named and not passed",
  ]);
});

test("a spine is too long, not there, or not of one file a point", () => {
  const two = document("`server/a.ts`", "`server/b.ts`");
  expect(found(two, 1)).toEqual(["the spine has 2 files, and may have 1"]);
  expect(found(two.replaceAll(/^\d+\. /gm, "- "))).toEqual(["there is no spine"]);
  expect(found(document("`server/a.ts` and `server/b.ts`"))).toEqual(["point 1 names 2 files, not one"]);
  expect(found(document("It reads `server/a.ts`.", "It writes.", "`server/b.ts`"))).toEqual([
    "point 2 names 0 files, not one",
  ]);
  expect(found(document("`server/a.ts`", "`server/b.ts`", "`server/a.ts`"), 3)).toEqual([
    "server/a.ts is twice in the spine",
  ]);
});

test("the number of files is another, or is not said", () => {
  const right = document("`server/a.ts`", "`server/b.ts`");
  expect(found(right.replace("3 files", "4 files"))).toEqual(["3 files run, and it says 4"]);
  expect(found(right.replace("3 files run", "Some run"))).toEqual(["3 files run, and it says NaN"]);
  expect(found("# A\n")).toContain("there is no spine");
});
