/** A part of a run that is shorter than an update batch is refused; a run of old that has one goes on. */
import { describe, expect, test } from "vitest";
import { definitionOf } from "../../../server/curriculum/policies/registry.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import type { Stage } from "../../../server/curriculum/policies/stages.ts";
import {
  ask,
  bench,
  forgettingPolicy,
  mixturePolicy,
  replayPolicy,
  runConfig,
  stage,
  stagedPolicy,
  train,
  value,
  writeRun,
} from "./support.ts";

const share = (of: number): Stage => stage({ kind: "share", share: of }, { a: 1 });
const tasks = (of: number): Stage => stage({ kind: "tasks", tasks: of }, { a: 1 });
const open = stage({ kind: "open" }, { b: 1 });
const replay = (stages: readonly Stage[], cycles: number): Policy =>
  replayPolicy({ stages, cycle: { kind: "cycles", cycles } });
const domains = (...shares: readonly (number | undefined)[]): Policy =>
  forgettingPolicy({
    domains: shares.map((of, i) => ({ name: `${i}`, weights: { a: 1 }, share: of })),
    transfers: [{ trained: "0", changes: { 1: 0.5 } }],
  });

/** Configurations with a part that is too short for update batches of 6 tasks. */
const short: readonly (readonly [what: string, policy: Policy, length: number, field: string])[] = [
  ["a stage in front", stagedPolicy(share(0.05), open), 100, "staged.stages[0]"],
  ["a stage of tasks", stagedPolicy(tasks(12), tasks(5), open), 0, "staged.stages[1]"],
  ["what is left for the last stage", stagedPolicy(share(0.95), open), 100, "staged.stages[1]"],
  ["nothing left for the last stage", stagedPolicy(share(0.5), share(0.5), open), 100, "staged.stages[2]"],
  ["a stage in a cycle", replay([share(0.1), open], 2), 100, "replay.stages[0]"],
  ["a cycle", replay([open], 20), 100, "replay.stages[0]"],
  ["an open stage in a cycle", replay([share(0.9), open], 2), 100, "replay.stages[1]"],
  ["a domain, where another comes before it by its transfer", domains(0.05, 0.5, 0.45), 100, "forgetting.domains[0]"],
  ["a domain that shares what is left", domains(0.5, 0.48, undefined), 100, "forgetting.domains[2]"],
];

const fine: readonly (readonly [what: string, policy: Policy, length: number])[] = [
  ["stages of one update batch", stagedPolicy(share(0.06), tasks(6), open), 100],
  ["a stage that lasts until Advance", stagedPolicy(open, share(0.1)), 100],
  ["no end", stagedPolicy(tasks(6), open), 0],
  ["a run shorter than an update batch", stagedPolicy(open), 4],
  ["cycles of one update batch", replay([open], 3), 18],
  ["domains without a length", domains(undefined, undefined), 0],
];

const withPolicy = (policy: Policy, length: number) => runConfig({ policy, length });

describe("a part shorter than an update batch", () => {
  test.each(short)("%s: a run is not created", async (_, policy, length, field) => {
    const { runs } = bench();
    const refused = await runs.create("run", withPolicy(policy, length));
    expect(refused).toMatchObject({ kind: "invalid", field: `policy.${field}` });
    expect(JSON.stringify(refused)).toContain("less than an update batch of 6");
    expect(await runs.get("run")).toMatchObject({ kind: "not_found" });
  });

  test.each(short)("%s: no policy of a run that goes on", async (_, policy, length, field) => {
    const { runs } = bench();
    value(await runs.create("run", runConfig({ policy: mixturePolicy(), length })));
    expect(await runs.updatePolicy("run", policy)).toMatchObject({ kind: "invalid", field: `policy.${field}` });
  });

  test.each(fine)("%s may be", async (_, policy, length) => {
    expect((await bench().runs.create("run", withPolicy(policy, length))).kind).toBe("ok");
  });

  test("a change of shape that makes one is refused, and one that makes none is not", async () => {
    const { runs } = bench();
    value(await runs.create("run", withPolicy(stagedPolicy(share(0.1), open), 100)));
    const shape = { addArms: [], removeArms: [], numGenerations: undefined, policy: undefined };
    const longer = await runs.updateShape("run", { ...shape, promptsPerUpdate: 11, length: undefined });
    expect(longer).toMatchObject({ kind: "invalid", field: "policy.staged.stages[0]" });
    const shorter = await runs.updateShape("run", { ...shape, promptsPerUpdate: undefined, length: 50 });
    expect(shorter).toMatchObject({ kind: "invalid", field: "policy.staged.stages[0]" });
    value(await runs.updateShape("run", { ...shape, promptsPerUpdate: 10, length: undefined }));
  });
});

test("a run of old that has one goes on: it draws, is created again as it is, and takes other changes", async () => {
  const all = bench();
  const { runs } = all;
  const config = withPolicy(stagedPolicy(tasks(2), share(0.5), open), 48);
  await writeRun(all, "old", config);
  expect(value(await runs.create("old", config)).created).toBe(false);
  await train(runs, "old", 4);
  value(await runs.setWeights("old", { a: 2 }));
  const shape = { addArms: [], removeArms: ["c"], numGenerations: 2, promptsPerUpdate: undefined };
  value(await runs.updateShape("old", { ...shape, length: undefined, policy: undefined }));
  value(await runs.advance("old"));
  expect(value(await ask(runs, "old")).tasks.length).toBeGreaterThan(0);
  expect(definitionOf(config.policy).lasts?.(config.policy.config, 48)[0]?.tasks).toBe(2);
});
