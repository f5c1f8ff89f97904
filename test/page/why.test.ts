/** Tests that the page's reason for the most drawn arm never contradicts the arm's figures. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type ArmState, ArmStateSchema, RunStateSchema } from "../../clients/ts/src/public.ts";
import { mostDrawn } from "../../page/src/runs/why.ts";

type Given = Partial<Omit<ArmState, "$typeName">>;

function why(kind: "frontier" | "bandit" | "mixture", ...arms: readonly Given[]) {
  const made = arms.map((arm, at) => create(ArmStateSchema, { armId: `arm-${at}`, weight: 1, groups: 40n, ...arm }));
  return mostDrawn({ state: create(RunStateSchema, { policy: { kind: { case: kind, value: {} } }, arms: made }) });
}

test("arms that are not drawn are not counted, and five are in the table", () => {
  const found = why(
    "frontier",
    { probability: 0.1, value: 0.9 },
    { probability: 0.5, value: 0.3 },
    { probability: 0, weight: 0, value: 0.29 },
    { probability: 0, removed: true },
    { probability: 0, maskedReason: "the judge is down" },
    { probability: 0.2, value: 0.6 },
    { probability: 0.15, value: 0.7 },
    { probability: 0.02, value: 0.95 },
    { probability: 0.03, value: 0.95 },
  );
  expect(found?.top.map(({ armId }) => armId)).toEqual(["arm-1", "arm-5", "arm-6", "arm-0", "arm-8"]);
  expect(found).toMatchObject({ armId: "arm-1", others: { count: 1, probability: 0.02 } });
  expect(found?.words).not.toMatch(/alike/);
});

test("two arms that share all draws are alike, whatever the arms of weight 0", () => {
  const off = { probability: 0, weight: 0 };
  expect(
    why("frontier", { probability: 0.52, value: 0.3 }, { probability: 0.48, value: 0.3 }, off, off)?.words,
  ).toMatch(/^All 2 arms are drawn nearly alike\./);
});

test("the frontier policy's reason says when no arm is of interest, and when the arm is new", () => {
  const far = why("frontier", { probability: 0.55, value: 0.883 }, { probability: 0.45, value: 0.95 });
  expect(far?.words).toMatch(/No arm is near 0\.29/);
  const near = why("frontier", { probability: 0.7, value: 0.883 }, { probability: 0.3, value: 0.35 });
  expect(near?.words).toMatch(/does not move\.$/);
  const fresh = why("frontier", { probability: 0.7, value: 0, groups: 7n }, { probability: 0.3, value: 0.9 });
  expect(fresh?.words).toMatch(/It has taken in no group of this arm yet/);
});

test("recent figures say how many groups they are of", () => {
  const solved = { probability: 1, value: 0.3, recentSolvedShare: 0.5 };
  expect(why("mixture", { ...solved, groups: 12n })?.words).toMatch(/50% of the samples in its last 12 closed groups/);
  expect(why("mixture", { ...solved, groups: 9_000n })?.words).toMatch(/its last 256 closed groups/);
  expect(why("mixture", { ...solved, groups: 1n })?.words).toMatch(/its only closed group/);
});

test("a bandit's best value is not said to be another's", () => {
  expect(why("bandit", { probability: 0.7, value: 0.2 }, { probability: 0.3, value: 0.5 })?.words).toBe(
    "The bandit values it at 0.2, and arm-1 at 0.5: it also tries arms that it knows little of.",
  );
  expect(why("bandit", { probability: 1, value: 0.2 })?.words).toMatch(/only arm that is drawn/);
});

test("nothing is said where no arm can be drawn", () => {
  expect(why("mixture", { probability: 0, weight: 0 })).toBeUndefined();
});
