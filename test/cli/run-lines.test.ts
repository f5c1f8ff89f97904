/** A run in lines and as a chart. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  CompletionLengthsSchema,
  EvaluationRecordSchema,
  FormatWarningSchema,
  type HistoryRecord,
  HistoryRecordSchema,
  RunConfigSchema,
  RunStateSchema,
} from "../../clients/ts/src/public.ts";
import { runChart } from "../../cli/runs/chart.ts";
import { armLines, bar, drawnColumns, drawnLines, plainLine, stateLines } from "../../cli/runs/lines.ts";
import { overLengths, seriesOf } from "../../cli/runs/series.ts";

const config = create(RunConfigSchema, { arms: [{ id: "easy" }, { id: "hard<&>" }], promptsPerUpdate: 4, length: 40n });

const arms = config.arms.map(({ id }) => ({ id }));
const ids = config.arms.map(({ id }) => id);

const state = create(RunStateSchema, {
  runId: "r",
  cursor: 8n,
  batchesDrawn: 2n,
  batchesClosed: 1n,
  groupsOutstanding: 3,
  samplesRecorded: 17n,
  arms: [
    { armId: "easy", probability: 0.75, value: 0.125, issued: 6n, recentSolvedShare: 0.5, recentRewardMean: 1.25 },
    { armId: "hard", probability: 0.25, issued: 2n },
    { armId: "down", maskedReason: "the judge does not answer" },
  ],
});

function batch(index: number, counts: readonly number[], rolledBack = false): HistoryRecord {
  const value = {
    batch: BigInt(index),
    cursor: BigInt(index * 4),
    counts: [...counts],
    closed: true,
    solvedShare: 0.5,
    probabilities: [0.75, 0.25],
    values: [0.1, 0.2],
    rewardMean: 1,
  };
  return create(HistoryRecordSchema, { rolledBack, kind: { case: "batch", value } });
}

function change(kind: string, cursor: number): HistoryRecord {
  return create(HistoryRecordSchema, { kind: { case: "control", value: { kind, cursor: BigInt(cursor) } } });
}

const history = [batch(0, [4, 0]), change("weights", 4), batch(1, [2, 2]), batch(2, [0, 4], true), batch(2, [1, 3])];

describe("a run as it stands", () => {
  test.each([60, 200])("warns of malformed samples, whole and within %d columns", (width) => {
    const violation =
      "no closed \\boxed{} with an answer in it; it contains an answer that answer_format: answer_line would read";
    const formatWarning = create(FormatWarningSchema, { samples: 200n, malformed: 197n, violation });
    const lines = stateLines(config, create(RunStateSchema, { ...state, formatWarning }), width);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(lines.map((line) => line.trimEnd()).join(" ")).toContain(
      `197 of 200 samples are malformed, most of them so: ${violation} `,
    );
  });

  test.each([60, 80, 81, 200])("fits %d columns, a line for each arm", (width) => {
    const lines = stateLines(config, state, width);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(lines).toHaveLength(3 + 1 + 3);
  });

  test("says what there is, and a dash where there is nothing", () => {
    const lines = stateLines(config, state, 80);
    expect(lines[1]).toBe("8 of 40 tasks, 2 update batches (1 closed), 3 groups open, 17 samples");
    const [head = "", easy = "", hard = "", down = ""] = armLines(state, 80);
    expect(head.split(/ +/)).toEqual(["arm", "probability", "value", "solved", "reward", "tasks"]);
    expect(easy).toMatch(/^easy \S+ +75% +0\.125 \S+ +50% +1\.250 +6$/);
    expect(hard).toMatch(/^hard \S+ +25% +0\.000 +– +– +2$/);
    expect(down).toBe("down not drawn: the judge does not answer");
  });

  const [first, second, third] = state.arms;
  const spent = (tokens: bigint, tokenSamples: bigint, characters = 0n, characterSamples = 0n) =>
    create(CompletionLengthsSchema, { tokens, tokenSamples, characters, characterSamples });

  test("says how long completions are and what was spent, in one unit, where the terminal has room", () => {
    const known = create(RunStateSchema, {
      ...state,
      arms: [
        { ...first!, lengths: spent(3_400_000n, 8000n) },
        { ...second!, lengths: spent(0n, 0n, 900n, 2n) },
        third!,
      ],
    });
    const [head = "", easy = "", hard = "", down = ""] = armLines(known, 100);
    expect(head).toMatch(/ tasks {5}tokens {2}spent$/);
    expect(easy).toMatch(/ 6 {8}425 {3}3\.4M$/);
    expect(hard).toMatch(/ 2 {10}– {6}–$/);
    expect(down).toBe("down not drawn: the judge does not answer");
    for (const width of [60, 80, 100, 200])
      expect(Math.max(...armLines(known, width).map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(armLines(known, 60)).toEqual(armLines(state, 60));
    const characters = create(RunStateSchema, {
      ...state,
      arms: [{ ...first!, lengths: spent(0n, 0n, 12_345n, 3n) }],
    });
    const [unit = "", line = ""] = armLines(characters, 100);
    expect(unit).toMatch(/ characters {2}spent$/);
    expect(line).toMatch(/ 4115 {2}12\.3k$/);
  });

  test("tells apart arms whose long ids begin alike", () => {
    const named = ["easy", "hard"].map((level) => `graphs/independent-set/${level}`);
    const [, easy = "", hard = ""] = armLines(create(RunStateSchema, { arms: named.map((armId) => ({ armId })) }), 80);
    expect([easy.slice(0, 22), hard.slice(0, 22)]).toEqual(["graphs/ind…nt-set/easy", "graphs/ind…nt-set/hard"]);
    const series = seriesOf(
      named.map((id) => ({ id })),
      history,
      10,
    );
    expect(new Set(drawnLines(series, 80).map((line) => line.slice(0, 22))).size).toBe(5);
  });

  test("has a line for each evaluation arm that had a round", () => {
    const whole = { samples: 128, solvedShare: 0.25, rewardMean: 1, closed: true };
    const evaluated = create(RunStateSchema, {
      ...state,
      evaluations: [
        create(EvaluationRecordSchema, { armId: "held-out", round: 2n, cursor: 8n, tasks: 64, ...whole }),
        create(EvaluationRecordSchema, { armId: "bench", round: 1n, cursor: 4n, tasks: 100, samples: 3 }),
      ],
    });
    const heldOut = "held-out, round 2 at task 8: solved 25%, reward 1.000 (64 tasks)";
    const bench = "bench, round 1 at task 4: solved –, reward – (100 tasks, 3 samples so far)";
    expect(stateLines(config, evaluated, 80).slice(-4)).toEqual(["", "evaluated", heldOut, bench]);
    expect(stateLines(config, evaluated, 60).at(-1)).toBe(bench.slice(0, 60));
    expect(plainLine(config, evaluated)).toContain(`; ${heldOut}; ${bench}`);
  });

  test("an arm that was taken out is said to be, and has no part in a log", () => {
    const [easy, hard] = state.arms;
    if (easy === undefined || hard === undefined) throw new Error("it has two arms");
    const reshaped = create(RunStateSchema, { ...state, arms: [easy, { ...hard, removed: true }] });
    expect(armLines(reshaped, 80).at(-1)).toBe("hard removed, after 2 tasks");
    expect(plainLine(config, reshaped)).not.toContain("hard");
  });

  test("of dynamic sampling says for how many tasks to train on those are that were drawn", () => {
    const reserve = create(RunConfigSchema, { length: 40n, dynamicSampling: { oversampleMax: 3 } });
    const drawn = { ...state, cursor: 120n };
    expect(stateLines(reserve, drawn, 80)[1]).toMatch(/^120 tasks for 40 to train on, 2 update batches/);
  });

  test("in one line, for logs", () => {
    expect(plainLine(config, state)).toBe(
      "8 of 40 tasks, 2 update batches (1 closed), 3 groups open, 17 samples; easy=75% (solved 50%), hard=25%, down=0%",
    );
  });
});

test("a bar is as wide as is said, in eighths of a column", () => {
  expect([bar(0, 4), bar(0.5, 4), bar(1, 4), bar(2, 4), bar(1 / 32, 4)]).toEqual([
    "    ",
    "██  ",
    "████",
    "████",
    "▏   ",
  ]);
});

describe("what was drawn", () => {
  test("is counted without what an import undid, in so many steps", () => {
    const series = seriesOf(arms, history, 2);
    expect(series.drawn).toEqual([7, 5]);
    expect(series.tasks).toBe(12);
    expect(series.changes).toEqual([{ cursor: 4, kind: "weights" }]);
    expect(series.steps.map(({ cursor, tasks, shares }) => [cursor, tasks, shares])).toEqual([
      [0, 8, [0.75, 0.25]],
      [8, 4, [0.25, 0.75]],
    ]);
  });

  test.each([60, 80, 200])("is a line for each arm, as high as its share, in %d columns", (width) => {
    const lines = drawnLines(seriesOf(arms, history, drawnColumns(ids, width)), width);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/^easy +█+▄+▂+ +7 +58%$/);
    expect(lines[2]).toMatch(/^hard<&> +▄+▆+ +5 +42%$/);
  });

  test("is over the tasks, also where update batches became larger on the way", () => {
    const large = batch(1, [0, 36]);
    const width = 80;
    const columns = drawnColumns(ids, width);
    const lines = drawnLines(seriesOf(arms, [batch(0, [4, 0]), large], columns), width);
    const [easy = "", hard = ""] = lines.slice(1).map((line) => line.split("█").length - 1);
    // 4 of 40 tasks, and 36 of them.
    expect(easy).toBe(Math.round(columns / 10));
    expect(hard).toBe(columns - Number(easy));
  });

  test("is over tokens too: an update batch is as wide as its completions are long", () => {
    const long = (record: HistoryRecord, tokens: bigint): HistoryRecord => {
      if (record.kind.case === "batch")
        record.kind.value.lengths = create(CompletionLengthsSchema, { tokens, tokenSamples: 8n });
      return record;
    };
    const told = [long(batch(0, [4, 0]), 100n), change("weights", 4), long(batch(1, [0, 4]), 300n)];
    const columns = drawnColumns(ids, 80);
    const series = overLengths(seriesOf(arms, told, columns), told);
    if (series === undefined) throw new Error("there are lengths");
    expect(series.steps.map(({ cursor, tasks }) => [cursor, tasks])).toEqual([
      [0, 100],
      [100, 300],
    ]);
    expect(series.changes).toEqual([{ cursor: 100, kind: "weights" }]);
    const lines = drawnLines(series, 80);
    expect((lines[1] ?? "").split("█").length - 1).toBe(Math.round(columns / 4));
    expect(lines.at(-1)).toMatch(/^ +0 +400 tokens$/);
    expect(runChart("over tokens", series)).toContain("tokens →");
    expect(overLengths(seriesOf(arms, history, columns), history)).toBeUndefined();
  });

  test("of a run that drew nothing says so too", () => {
    const lines = drawnLines(seriesOf(arms, [], 10), 80);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.join("\n")).not.toContain("%");
    expect(runChart("empty", seriesOf(arms, [], 10))).toContain("</svg>");
    // The row "solved" keeps its whole name, however short the arms' names are.
    expect(drawnLines(seriesOf(arms.slice(0, 1), [], 10), 80).some((line) => line.startsWith("solved"))).toBe(true);
  });

  test("as a chart is one document with its changes, whatever arms are called", () => {
    const svg = runChart("a <run>", seriesOf(arms, history, 100));
    expect(svg).toContain("<title>a &lt;run&gt;</title>");
    expect(svg).toContain("hard&lt;&amp;&gt;");
    for (const words of ["drawn: share of tasks", "value of each arm", "mean reward", ">weights<"])
      expect(svg).toContain(words);
    expect(svg.match(/<svg/g)).toHaveLength(6);
    expect(svg.match(/<\/svg>/g)).toHaveLength(6);
  });

  test("many arms have colours of their own", () => {
    const many = create(RunConfigSchema, { arms: Array.from({ length: 30 }, (_, i) => ({ id: `arm-${i}` })) });
    const counts = many.arms.map(() => 1);
    const svg = runChart(
      "many",
      seriesOf(
        many.arms.map(({ id }) => ({ id })),
        [batch(0, counts)],
        100,
      ),
    );
    const fills = new Set([...svg.matchAll(/rx="2" fill="([^"]+)"/g)].map(([, fill]) => fill));
    expect(fills.size).toBe(30);
  });
});

describe("an arm that grows", () => {
  const levels = [6, 7, 8].map((value, i) => ({ value, share: i / 3, success: 0.5, retired: i === 0 }));
  const growth = { axis: "vertices", frontier: 8, cap: 40, levels };
  const grown = create(RunStateSchema, { runId: "r", arms: [{ armId: "clique", growth }, { armId: "hard" }] });

  test("says how far it came, in the state and in one line", () => {
    const words = "clique: 6 → 8 vertices of 40, 1 level solved";
    expect(stateLines(config, grown, 80).slice(-3)).toEqual(["", "grown", words]);
    expect(plainLine(config, grown)).toContain(words);
  });

  test("is a line over the run, in text and in the chart", () => {
    const records = [6, 6, 23].map((value, i) => {
      const record = batch(i, [2, 2]);
      if (record.kind.case === "batch") record.kind.value.frontiers = [value, 0];
      return record;
    });
    const growing = arms.map((arm, i) => (i === 0 ? { ...arm, axis: "vertices" } : arm));
    // A line of one step shows the last batch. The text beside it begins with the first.
    const lines = drawnLines(seriesOf(growing, records.slice(1), 1), 80);
    const heading = lines.findIndex((line) => /^arm +highest open level/.test(line));
    expect(lines[heading + 1]).toMatch(/^easy +█+ +6 → 23 vertices$/);
    expect(drawnLines(seriesOf(growing, records, 40), 80)[heading + 1]).toMatch(/^easy +▃+█+ +6 → 23 vertices$/);
    expect(lines[heading + 2]).toMatch(/^solved/);
    expect(runChart("r", seriesOf(arms, records, 40))).toContain("highest open level of each arm");
    expect(runChart("r", seriesOf(arms, history, 40))).not.toContain("highest open level");
  });
});
