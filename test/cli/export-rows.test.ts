import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { expect, test } from "vitest";
import { type ScoredOutcome, TaskSchema } from "../../clients/ts/src/public.ts";
import { type ExportRow, selectEvenly, takeEvenly } from "../../cli/export/rows.ts";
import { readFilter, type ScoreFilter } from "../../cli/export/filter.ts";
import { rowsOfEvaluation } from "../../cli/export/sources.ts";
import { createWriter, rowColumns } from "../../cli/export/write.ts";
import { temporaryFolder } from "../support/server-process.ts";

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

test("where not all are taken the levels take turns, though a suite has the easiest first", () => {
  const of = (level: string, group: string) => ({ ...row("x", group, 0, 1), level });
  const all = [of("easy", "a"), of("easy", "b"), of("easy", "c"), of("hard", "d"), of("hard", "e")];
  expect(shown(selectEvenly(all, 0.5, 4).rows)).toEqual(["a0", "d0", "b0", "e0"]);
});

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

async function taken(ratioAbove: number, perEnvironment?: number) {
  let made = 0;
  async function* rowsOf(environment: string, ratios: readonly number[]) {
    for (const [i, ratio] of ratios.entries()) {
      made++;
      yield row(environment, `${environment}${i}`, 0, ratio);
    }
    return undefined;
  }
  const sources = [
    { environment: "x", rows: rowsOf("x", [1, 0.2, 1, 1]) },
    { environment: "y", rows: rowsOf("y", [0.9, 1]) },
  ];
  const available = new Map<string, number>();
  const kept: ExportRow[] = [];
  for await (const one of takeEvenly(sources, available, ratioAbove, perEnvironment)) kept.push(one);
  return { groups: kept.map(({ group_id }) => group_id), available: [...available], made };
}

test("rows that are made as they are taken are as even, and no more are made than are asked for", async () => {
  expect(await taken(0.5)).toEqual({ groups: ["x0", "y0", "x2", "y1"], available: [["x", 3], ["y", 2]], made: 6 }); // prettier-ignore
  expect(await taken(0.5, 1)).toMatchObject({ groups: ["x0", "y0"], made: 2 });
  expect(await taken(0.95, 9)).toMatchObject({ groups: ["x0", "y1", "x2", "x3"] });
  expect(await taken(1)).toMatchObject({ groups: [] });
});

test("files hold each row, whatever its text holds and however many there are", async () => {
  using folder = temporaryFolder();
  const text = { ...row("x", "a", 0, 1), messages: [{ role: "user" as const, content: "a\nb\u2028\u0000😀" }] };
  const many = Array.from({ length: 2500 }, (_, i) => ({ ...text, sample_index: i }));
  for (const format of ["jsonl", "parquet"] as const) {
    const writer = createWriter(join(folder.path, format), format, rowColumns);
    for (const one of many) writer.add(one);
    writer.finish();
  }
  const lines = readFileSync(join(folder.path, "jsonl"), "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(many);
  const file = await asyncBufferFromFile(join(folder.path, "parquet"));
  expect(await parquetReadObjects({ file })).toEqual(many);
});

test("a name that no graded completion has is said, and what there is", async () => {
  const sample = (environment: string, level: string) => ({
    task: create(TaskSchema, { environment, level }),
    outcome: { kind: "scored", reward: 0, solved: false, components: [] },
  });
  const samples = [sample("np/tsp", "easy"), sample("countdown", "T0")];
  const evaluation = { get: async () => ({ model: "m" }), samples: () => samples.values() };
  const sift = (environments: readonly string[], levels: readonly string[]) =>
    rowsOfEvaluation(evaluation as never, environments, levels);
  expect((await sift(["np/tsp"], ["easy"])).rows).toHaveLength(1);
  await expect(sift(["np/tsp", "np/tps"], [])).rejects.toThrow(
    "--environment: no graded completion is of environment 'np/tps': there are completions of countdown, np/tsp",
  );
  await expect(sift([], ["eazy"])).rejects.toThrow("--level: no graded completion is of level 'eazy'");
});

test("what --where asks about and a completion does not have is counted, by environment", async () => {
  const sample = (environment: string, score: Partial<ScoredOutcome>) => ({
    task: create(TaskSchema, { environment, level: "easy" }),
    outcome: { kind: "scored", reward: 0, solved: false, components: [], ...score },
  });
  const samples = [
    sample("a", { ratio: 0.9 }),
    sample("a", {}),
    sample("b", { solved: true }),
    sample("c", { ratio: 0.1 }),
  ];
  const evaluation = { get: async () => ({ model: "m" }), samples: () => samples.values() };
  const sift = (...texts: readonly string[]) =>
    rowsOfEvaluation(
      evaluation as never,
      [],
      [],
      texts.map((text) => readFilter(text) as ScoreFilter),
    );
  const { rows: kept, warnings } = await sift("ratio>0.5", "reward=0");
  expect(kept.map(({ environment }) => environment)).toEqual(["a"]);
  expect(warnings).toEqual([
    "a: --where 'ratio>0.5' asks for a value that 1 of 2 completions do not have",
    "b: --where 'ratio>0.5' asks for a value that 1 of 1 completions do not have",
    "b: none of 1 completions meets every --where, so none is written",
    "c: none of 1 completions meets every --where, so none is written",
  ]);
  expect((await sift("reward=0")).warnings).toEqual([]);
});
