/** Tests the rollouts and tokens on the x-axis of the page's charts of a run. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { HistoryRecordSchema } from "../../clients/ts/src/public.ts";
import { axisOf, rolloutsOf } from "../../page/src/runs/rollouts.ts";

test("tasks count as many rollouts as the run's shape had when they were drawn", () => {
  const shape = (cursor: bigint, numGenerations: number, rolledBack = false) => {
    const value = { kind: "shape", cursor, shape: { numGenerations } };
    return create(HistoryRecordSchema, { rolledBack, kind: { case: "control", value } });
  };
  const other = create(HistoryRecordSchema, { kind: { case: "control", value: { kind: "pause", cursor: 5n } } });
  const rollouts = rolloutsOf({ numGenerations: 4 }, [other, shape(12n, 8), shape(20n, 2, true), shape(20n, 1)]);
  expect([0n, 10n, 11n, 12n, 20n, 22n].map(rollouts)).toEqual([0, 40, 44, 48, 112, 114]);
});

describe("the axis", () => {
  function batch(cursor: number, tokens: number | undefined) {
    const lengths = tokens === undefined ? undefined : { tokens: BigInt(tokens), tokenSamples: 8n };
    const value = { cursor: BigInt(cursor), counts: [4], ...(lengths && { lengths }) };
    return create(HistoryRecordSchema, { kind: { case: "batch", value } });
  }

  function placesOn(records: Parameters<typeof axisOf>[1], over: "rollouts" | "tokens") {
    const { words, at, hasLengths } = axisOf({ numGenerations: 2 }, records, over);
    return [words, hasLengths, [0n, 4n, 6n, 8n].map(at)];
  }

  test("is in rollouts, or in tokens where these are known", () => {
    const records = [batch(0, 40), batch(4, 160)];
    expect(placesOn(records, "rollouts")).toEqual(["rollouts", true, [0, 8, 12, 16]]);
    expect(placesOn(records, "tokens")).toEqual(["tokens", true, [0, 40, 120, 200]]);
  });

  test("stays in rollouts for a run without lengths", () => {
    expect(placesOn([batch(0, undefined)], "tokens")).toEqual(["rollouts", false, [0, 8, 12, 16]]);
  });
});
