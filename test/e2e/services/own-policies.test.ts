/**
 * Tests a policy of an operator's module: a run names it, it learns from part of the rewards, and its state is kept.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MALFORMED, right } from "./answers.ts";
import { configOf, runOf } from "./run-of.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

const MODULE = "examples/policies/weakest-part.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire({ policies: MODULE });
});
afterAll(() => wire[Symbol.asyncDispose]());

const armOf = (id: string) => ({ id, spec: { environment: "countdown", difficulty: { case: "level", value: "T0" } } });

function named(name: string, parameters: Readonly<Record<string, unknown>>) {
  return { kind: { case: "named", value: { name, parameters } } } as const;
}

const policy = named("weakest-part", { part: "correctness", worst: 0, rate: 0.5 });

describe("a policy of a module", () => {
  test("draws most where its part of the reward is lowest, and goes on so from an export", async () => {
    const arms = [armOf("learnt"), armOf("not")];
    const run = await runOf(wire, "own", { arms, policy, promptsPerUpdate: 8 });
    for (let cursor = 0; cursor < 48; cursor += 8) {
      const tasks = await run.next(cursor, 8);
      for (const task of tasks) {
        const text = task.armId === "learnt" ? right(task) : MALFORMED;
        await Promise.all([run.step(task, 0, text), run.step(task, 1, text)]);
      }
    }
    const { run: after } = await wire.curriculum.getRun({ runId: "own" });
    const share = (id: string): number => after?.state?.arms.find(({ armId }) => armId === id)?.probability ?? NaN;
    expect(share("not")).toBeGreaterThan(4 * share("learnt"));
    expect(after?.state?.policy?.kind).toMatchObject({ case: "named", value: { name: "weakest-part" } });
    const { state } = await wire.curriculum.exportRun({ runId: "own" });
    await wire.curriculum.importRun({ state, runId: "copy" });
    const { run: copy } = await wire.curriculum.getRun({ runId: "copy" });
    expect(copy?.state?.arms.map(({ probability }) => probability)).toEqual(
      after?.state?.arms.map(({ probability }) => probability),
    );
  });

  test("its parameters are checked by itself, and a name near it is suggested", async () => {
    const refused = async (name: string, parameters: Readonly<Record<string, unknown>>) =>
      (
        await failureOf(
          wire.curriculum.createRun({ runId: "no", config: configOf({ policy: named(name, parameters) }) }),
        )
      ).message;
    expect(await refused("weakest-part", { rate: 2 })).toContain("policy.weakest-part.rate: must be above 0");
    expect(await refused("weakest-part", { parts: "x" })).toContain("policy.weakest-part.parts: is not a known field");
    expect(await refused("weakest-prat", {})).toContain("did you mean 'weakest-part'?");
  });
});
