/** Multi-task GRPO (Omni-Thinker 4.2): each arm's KL coefficient reaches the trainer with its tasks; advantages are of a group. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { configOf, MIXTURE, runOf } from "./run-of.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

const countdown = { environment: "countdown", difficulty: { case: "level", value: "T0" } } as const;
const armOf = (id: string, klCoefficient?: number) => ({
  id,
  spec: countdown,
  ...(klCoefficient !== undefined && { klCoefficient }),
});
const arms = [armOf("math", 0.04), armOf("writing", 0), armOf("other")];

/** Returns the KL coefficient of each arm's tasks, by arm id. */
const coefficients = (tasks: readonly Task[]): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(tasks.map(({ armId, hints }) => [armId, hints?.klCoefficient]));

describe("the KL coefficient of an arm", () => {
  test("comes with each of its tasks: 0 is one, and unset is none", async () => {
    const run = await runOf(wire, "kl", { arms, policy: MIXTURE, promptsPerUpdate: 16 });
    const wanted = { math: 0.04, writing: 0, other: undefined };
    const first = await run.next(0, 16);
    expect(coefficients(first)).toEqual(wanted);
    await run.answer(first);
    expect(coefficients(await run.next(16, 16))).toEqual(wanted);
    const { run: got } = await wire.curriculum.getRun({ runId: "kl" });
    expect(got?.config?.arms.map(({ klCoefficient }) => klCoefficient)).toEqual([0.04, 0, undefined]);
  });

  test("is kept by an export, and by what is added to a run", async () => {
    const run = await runOf(wire, "kept", { arms: [armOf("math", 0.04)], policy: MIXTURE });
    const tasks = await run.next(0);
    const { state } = await wire.curriculum.exportRun({ runId: "kept" });
    const { outstanding } = await wire.curriculum.importRun({ state, runId: "copy" });
    expect(coefficients(outstanding)).toEqual({ math: 0.04 });
    await wire.curriculum.updateShape({ runId: "kept", addArms: [armOf("qa", 0.02)] });
    await wire.curriculum.setWeights({ runId: "kept", weights: { math: 0 } });
    await run.answer(tasks);
    expect(coefficients(await run.next(2))).toEqual({ qa: 0.02 });
  });

  test("is no other run's: a run that is created again must have the same", async () => {
    await wire.curriculum.createRun({ runId: "again", config: configOf({ arms }) });
    const other = [armOf("math", 0.03), ...arms.slice(1)];
    const failure = await failureOf(wire.curriculum.createRun({ runId: "again", config: configOf({ arms: other }) }));
    expect(failure.message).toContain("arms[0].kl_coefficient");
  });

  test.each([-0.01, 101, NaN, Infinity])("%d is refused", async (klCoefficient) => {
    const config = configOf({ arms: [armOf("math", klCoefficient)] });
    const failure = await failureOf(wire.curriculum.createRun({ runId: "refused", config }));
    expect(failure.message).toContain("arms[0].kl_coefficient: must be in [0, 100]");
  });
});

test("advantages are normalised within each group, and so within each kind of task: the paper's equations 3 and 4", async () => {
  const run = await runOf(wire, "advantages", { arms, policy: MIXTURE, numGenerations: 2, promptsPerUpdate: 8 });
  const tasks = await run.next(0, 8);
  await run.answer(tasks);
  const { groups } = await wire.curriculum.getGroups({
    runId: "advantages",
    groupIds: tasks.map(({ groupId }) => groupId),
  });
  expect(groups).toHaveLength(8);
  // With one right and one wrong completion, the group's own mean and deviation give 1 and −1, whatever other arms
  // earn.
  for (const { samples } of groups)
    expect(samples.map(({ grpoAdvantage }) => grpoAdvantage)).toEqual([expect.closeTo(1), expect.closeTo(-1)]);
});
