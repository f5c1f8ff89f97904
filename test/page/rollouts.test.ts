/** Tests the rollouts on the x-axis of the page's charts of a run. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { HistoryRecordSchema } from "../../clients/ts/src/public.ts";
import { rolloutsOf } from "../../page/src/runs/rollouts.ts";

test("tasks count as many rollouts as the run's shape had when they were drawn", () => {
  const shape = (cursor: bigint, numGenerations: number, rolledBack = false) => {
    const value = { kind: "shape", cursor, shape: { numGenerations } };
    return create(HistoryRecordSchema, { rolledBack, kind: { case: "control", value } });
  };
  const other = create(HistoryRecordSchema, { kind: { case: "control", value: { kind: "pause", cursor: 5n } } });
  const rollouts = rolloutsOf({ numGenerations: 4 }, [other, shape(12n, 8), shape(20n, 2, true), shape(20n, 1)]);
  expect([0n, 10n, 11n, 12n, 20n, 22n].map(rollouts)).toEqual([0, 40, 44, 48, 112, 114]);
});
