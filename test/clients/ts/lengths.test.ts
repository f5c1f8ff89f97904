/** Tests of the figures that the TypeScript client makes of completions' lengths. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { lengthAxis, lengthFigure, lengthWords } from "../../../clients/ts/src/lengths.ts";
import {
  CompletionLengthsSchema,
  type HistoryRecord,
  HistoryRecordSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";

const lengthsOf = (tokens: number, tokenSamples: number, characters = 0, characterSamples = 0) => ({
  tokens: BigInt(tokens),
  tokenSamples: BigInt(tokenSamples),
  characters: BigInt(characters),
  characterSamples: BigInt(characterSamples),
});

function batch(cursor: number, counts: readonly number[], lengths?: object, rolledBack = false): HistoryRecord {
  const value = { cursor: BigInt(cursor), counts: [...counts], ...(lengths && { lengths }) };
  return create(HistoryRecordSchema, { rolledBack, kind: { case: "batch", value } });
}

describe("a figure", () => {
  const figureOf = (...of: Parameters<typeof lengthsOf>) =>
    lengthFigure(create(CompletionLengthsSchema, lengthsOf(...of)));

  test("is in tokens if any sample has them, and else in characters", () => {
    expect(figureOf(30, 3)).toEqual({ unit: "tokens", total: 30, mean: 10, share: 1 });
    expect(figureOf(30, 3, 900, 1)).toEqual({ unit: "tokens", total: 30, mean: 10, share: 0.75 });
    expect(figureOf(0, 0, 900, 2)).toEqual({ unit: "characters", total: 900, mean: 450, share: 1 });
    expect(figureOf(0, 2)).toEqual({ unit: "tokens", total: 0, mean: 0, share: 1 });
  });

  test("is undefined without samples", () => {
    expect(figureOf(0, 0)).toBeUndefined();
    expect(lengthFigure(undefined)).toBeUndefined();
  });

  test("says its unit, and of how many samples", () => {
    expect(lengthWords({ unit: "tokens", share: 1 })).toBe("tokens");
    expect(lengthWords({ unit: "tokens", share: 0.754 })).toBe("tokens of 75% of the samples");
  });
});

describe("an axis", () => {
  test("grows evenly within a batch, and leaves out what an import undid", () => {
    const axis = lengthAxis([
      batch(0, [2, 2], lengthsOf(40, 8)),
      batch(4, [4, 0], lengthsOf(1000, 8), true),
      create(HistoryRecordSchema, { kind: { case: "control", value: { kind: "pause", cursor: 4n } } }),
      batch(4, [1, 3], lengthsOf(80, 8)),
    ]);
    expect(axis).toMatchObject({ unit: "tokens", share: 1 });
    expect([0n, 1n, 4n, 6n, 8n, 9n].map((cursor) => axis?.at(cursor))).toEqual([0, 10, 40, 80, 120, 120]);
  });

  test("of records without counts steps from batch to batch", () => {
    const axis = lengthAxis([batch(0, [], lengthsOf(40, 8)), batch(4, [], lengthsOf(80, 8)), batch(8, [])]);
    expect([0n, 4n, 8n].map((cursor) => axis?.at(cursor))).toEqual([0, 40, 120]);
  });

  test("has one unit for the whole run", () => {
    const axis = lengthAxis([batch(0, [4], lengthsOf(0, 0, 900, 8)), batch(4, [4], lengthsOf(80, 4, 400, 4))]);
    expect(axis).toMatchObject({ unit: "tokens", share: 0.25 });
    expect([4n, 8n].map((cursor) => axis?.at(cursor))).toEqual([0, 80]);
  });

  test("is undefined for a history without lengths", () => {
    expect(lengthAxis([batch(0, [4])])).toBeUndefined();
    expect(lengthAxis([])).toBeUndefined();
  });
});
