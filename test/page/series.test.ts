/** Tests of the horizontal axis of the page's charts of a run. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type HistoryRecord, HistoryRecordSchema, RunConfigSchema } from "../../clients/ts/src/public.ts";
import { seriesOf } from "../../page/src/runs/series.ts";

const config = create(RunConfigSchema, { numGenerations: 2 });
const lines = [{ name: "a", family: "a", arms: [0] }];

function batch(cursor: number, tokens: number | undefined): HistoryRecord {
  const lengths = tokens === undefined ? undefined : { tokens: BigInt(tokens), tokenSamples: 8n };
  const value = { cursor: BigInt(cursor), counts: [4], ...(lengths && { lengths }) };
  return create(HistoryRecordSchema, { kind: { case: "batch", value } });
}

const change = create(HistoryRecordSchema, { kind: { case: "control", value: { kind: "weights", cursor: 6n } } });
const evaluation = create(HistoryRecordSchema, { kind: { case: "evaluation", value: { armId: "held", cursor: 4n } } });

function seriesFrom(records: readonly HistoryRecord[], over: "rollouts" | "tokens") {
  const history = { records, lines, merged: 1, incarnation: "", settled: 0, resumeToken: "" };
  return seriesOf({ config }, history, over);
}

test("is in rollouts, or in tokens where these are known", () => {
  const records = [batch(0, 40), evaluation, batch(4, 160), change];
  const places = (over: "rollouts" | "tokens") => {
    const { points, marks, evaluations, end, axis, hasLengths } = seriesFrom(records, over);
    return [axis, hasLengths, points.map(({ x }) => x), marks[0]?.x, evaluations[0]?.x, end];
  };
  expect(places("rollouts")).toEqual(["rollouts", true, [0, 8], 12, 8, 16]);
  expect(places("tokens")).toEqual(["tokens", true, [0, 40], 120, 40, 200]);
});

test("stays in rollouts for a run without lengths", () => {
  const { axis, hasLengths, end } = seriesFrom([batch(0, undefined)], "tokens");
  expect([axis, hasLengths, end]).toEqual(["rollouts", false, 8]);
});
