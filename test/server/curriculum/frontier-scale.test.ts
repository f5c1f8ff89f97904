/**
 * Tests of the practice scale "auto", the default of the policy frontier: the rule that measures it, and runs of servers
 * before it, which keep their scale.
 */
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { policyFromWire, policyToWire } from "../../../server/rpc/curriculum/read-policy.ts";
import { frontier, type FrontierConfig, type FrontierState } from "../../../server/curriculum/policies/frontier.ts";
import type { ObservedGroup, View } from "../../../server/curriculum/policies/policy.ts";
import type { Practised } from "../../../server/curriculum/policies/interest.ts";
import { policyCodec } from "../../../server/curriculum/policies/registry.ts";
import { PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import { ask, bench, feedbackFor, frontierPolicy, kindOf, runConfig, type Runs, value, writeRun } from "./support.ts";

const configOf = (practiceScale: FrontierConfig["practiceScale"]): FrontierConfig => ({
  measure: "QUALITY",
  armMeasures: {},
  exploration: 0.1,
  practiceScale,
});
const auto = configOf("auto");

function groupsOf(arm: number, signal: number, count: number, weight = 1): readonly ObservedGroup[] {
  const unknown = { rank: undefined, rewardMean: undefined, rewardDeviation: undefined, solvedShare: undefined };
  const group = { arm, armId: String(arm), probability: 0.5, weight, hash: "", signal, ...unknown };
  return new Array<ObservedGroup>(count).fill(group);
}

function after(config: FrontierConfig, ...groups: readonly ObservedGroup[]): FrontierState {
  return frontier.observe?.(config, frontier.initial(config, 3, 0), groups) as FrontierState;
}

/** Number of groups at 0.5 after which an arm of 40 groups at 0.2 has moved by more than .15, worked step by step. */
function movedAfter(): { readonly count: number; readonly practice: number } {
  let [slow, weights, practice] = [0, 0, 0];
  let reference: number | undefined;
  for (let i = 0; ; i++) {
    const q = i < 40 ? 0.2 : 0.5;
    slow = 0.98 * slow + q;
    weights = 0.98 * weights + 1;
    practice += q * (1 - q);
    const mean = (slow + 0.5) / (weights + 1);
    if (reference === undefined && weights > 8) reference = mean;
    else if (reference !== undefined && Math.abs(mean - reference) > 0.15) return { count: i + 1 - 40, practice };
  }
}

const viewOf = (promptsPerUpdate: number): View => ({
  progress: { batch: 0, cursor: 0, length: 0, size: promptsPerUpdate, promptsPerUpdate },
  rng: () => rngFor("unused"),
  arms: ["a", "b", "c"].map((id) => ({
    id,
    weight: 1,
    source: "synthetic",
    hard: false,
    issued: 0,
    groups: 0,
    rewardMean: undefined,
    solvedShare: undefined,
  })),
});

describe("the pace of progress", () => {
  const { count, practice } = movedAfter();
  const moved = [...groupsOf(0, 0.2, 40), ...groupsOf(0, 0.5, count)];

  test("is unset until an arm's success has moved, and the first reference is no move", () => {
    expect(after(auto, ...groupsOf(0, 0.2, 40)).pace).toBeNull();
    expect(after(auto, ...moved.slice(0, -1)).pace).toBeNull();
  });

  test("is then the practice that the arm took, with the group that moved it", () => {
    expect(after(auto, ...moved).pace).toBeCloseTo(practice, 12);
    expect(after(auto, ...moved).arms[0]).toMatchObject({ practice: 0 });
  });

  test("moves by a fifth towards the practice of the next arm that moves", () => {
    const second = groupsOf(1, 0.9, 9);
    const falls = groupsOf(1, 0, 30);
    const one = after(auto, ...moved, ...second, ...falls);
    let state = after(auto, ...moved, ...second);
    const moves: number[] = [];
    for (const group of falls) {
      const before = state;
      state = frontier.observe?.(auto, state, [group]) as FrontierState;
      if (state.pace === before.pace) continue;
      // The groups that move it have a success of 0, and so no practice of their own.
      moves.push((before.arms[1] as Practised).practice);
      expect(state.pace).toBeCloseTo(0.8 * (before.pace as number) + 0.2 * (moves.at(-1) ?? NaN), 12);
    }
    expect(moves.length).toBeGreaterThan(1);
    expect(moves[0]).toBeCloseTo(9 * 0.9 * 0.1, 12);
    expect(state).toEqual(one);
  });

  test("counts a late group by its weight", () => {
    const late = after(auto, ...groupsOf(0, 0.2, 40, 0.5), ...groupsOf(0, 0.5, 120, 0.5));
    expect(late.pace).not.toBeNull();
    expect(late.pace).toBeLessThan(0.5 * (40 * 0.16 + 120 * 0.25) + 1e-9);
  });

  test("sets the scale if it is above the prompts per update and 8", () => {
    const learning = [...moved, ...groupsOf(1, 0.3, 60)];
    const pace = after(auto, ...learning).pace as number;
    expect(pace).toBeGreaterThan(8);
    const shares = (config: FrontierConfig, prompts: number) =>
      frontier.probabilities(config, after(config, ...learning), viewOf(prompts));
    expect(shares(auto, 4)).toEqual(shares(configOf(pace), 4));
    expect(shares(auto, 4)).not.toEqual(shares(configOf(8), 4));
    expect(shares(auto, 64)).toEqual(shares(configOf(64), 64));
    expect(shares(auto, 64)).toEqual(shares(configOf(undefined), 64));
  });

  test("goes through the state's form, and is absent from that of a given scale", () => {
    for (const state of [after(auto, ...moved), after(auto), after(configOf(32), ...moved)])
      expect(frontier.state.decode(frontier.state.encode(state))).toEqual(state);
    expect(frontier.state.encode(after(configOf(32), ...moved))).toHaveLength(3);
  });

  test("stays when another parameter changes, and begins anew with another measure or after a given scale", () => {
    const state = after(auto, ...moved);
    const progress = viewOf(4).progress;
    const inherit = (config: FrontierConfig, of: FrontierState, before: FrontierConfig) =>
      frontier.inherit?.(config, of, before, progress);
    expect(inherit({ ...auto, exploration: 0.5 }, state, auto)).toEqual(state);
    expect(inherit({ ...auto, measure: "SOLVED" }, state, auto)).toEqual(frontier.initial(auto, 3, 0));
    const given = configOf(32);
    expect(inherit(given, state, auto)).toEqual({ arms: state.arms, pace: undefined });
    expect(inherit(auto, after(given, ...moved), given)).toEqual({ arms: state.arms, pace: null });
    expect(frontier.resize?.(auto, state, 4, 0)).toMatchObject({ pace: state.pace });
  });
});

describe("the parameter", () => {
  const read = (json: JsonValue, existing?: Policy) =>
    policyFromWire(fromJson(PolicySchema, json), "", [], existing).config as FrontierConfig;
  const former = frontierPolicy({ practiceScale: undefined });

  test("is auto if it is unset, and may be spelled out", () => {
    expect(read({ frontier: {} }).practiceScale).toBe("auto");
    expect(read({ named: { name: "frontier", parameters: { practice_scale: "auto" } } }).practiceScale).toBe("auto");
    expect(read({ frontier: { practiceScale: 12 } }).practiceScale).toBe(12);
    expect(() => read({ named: { name: "frontier", parameters: { practice_scale: "fast" } } })).toThrow(
      'policy.frontier.practice_scale: wants a number; got "fast"',
    );
  });

  test("that a journal leaves out is the scale of servers before auto, which a state tells as a number", () => {
    const parameters = { measure: "SUCCESS_MEASURE_QUALITY", exploration: 0.1 };
    const stored = { name: "frontier", parameters, constraints: {}, filter: {} };
    const policy = policyCodec.decode(stored);
    expect((policy.config as FrontierConfig).practiceScale).toBeUndefined();
    expect(policyCodec.encode(policy)).toMatchObject({ parameters });
    const told = (prompts?: number) => policyToWire(policy, prompts).kind.value;
    expect(told(64)).toMatchObject({ practiceScale: 64 });
    expect(told(2)).toMatchObject({ practiceScale: 8 });
    expect(told()).not.toHaveProperty("practiceScale", expect.anything());
    expect(policyToWire(frontierPolicy(), 64).kind.value).toMatchObject({ exploration: 0.1 });
    expect(policyToWire(frontierPolicy(), 64).kind.value).not.toHaveProperty("practiceScale", expect.anything());
  });

  test("of a run that is created again is as its journal has it", () => {
    expect(read({ frontier: {} }, former)).toEqual(former.config);
    expect(read({ frontier: { exploration: 0.1 } }, former)).toEqual(former.config);
    expect(read({ frontier: { practiceScale: 8 } }, former).practiceScale).toBe(8);
    for (const existing of [frontierPolicy(), frontierPolicy({ practiceScale: 8 })])
      expect(read({ frontier: {} }, existing).practiceScale).toBe("auto");
  });
});

const GENERATIONS = 2;
/** An arm's successes: half of them for long, then all. */
const qualityOf = (arm: number, batch: number): number => (arm === 2 ? 0 : batch < 14 + 22 * arm ? 0.5 : 1);

async function play(runs: Runs, batches: number, from = 0): Promise<readonly (readonly number[])[]> {
  const shares: (readonly number[])[] = [];
  let cursor = from * 12;
  for (let batch = from; batch < batches; batch++) {
    const { tasks, nextCursor } = value(await ask(runs, "run", cursor, 12));
    const items = tasks.flatMap((task) =>
      Array.from({ length: GENERATIONS }, (_, sample) => ({
        ...feedbackFor(task, sample),
        result: { kind: "reward", reward: 0, solved: false, quality: qualityOf(task.arm, batch) } as const,
      })),
    );
    value(await runs.recordFeedback("run", items));
    shares.push(value(await runs.get("run")).state.arms.map(({ probability }) => probability));
    cursor = nextCursor;
  }
  return shares;
}

describe("a run", () => {
  const of = (practiceScale: FrontierConfig["practiceScale"]) =>
    runConfig({ policy: frontierPolicy({ practiceScale }), numGenerations: GENERATIONS, promptsPerUpdate: 12 });

  test("of an older server draws by max(prompts_per_update, 8), also when its journal is read again", async () => {
    const [old, given] = [bench(), bench()];
    await writeRun(old, "run", of(undefined));
    value(await given.runs.create("run", of(12)));
    const [shares, wanted] = [await play(old.runs, 30), await play(given.runs, 40)];
    expect(shares).toEqual(wanted.slice(0, 30));
    const again = bench({ store: old.store, clock: old.clock });
    expect(await play(again.runs, 40, 30)).toEqual(wanted.slice(30));
    const measured = bench();
    value(await measured.runs.create("run", of("auto")));
    expect(await play(measured.runs, 40)).not.toEqual(wanted);
  });

  test("of an older server measures its scale from an UpdatePolicy on", async () => {
    const old = bench();
    await writeRun(old, "run", of(undefined));
    await play(old.runs, 4);
    const applied = value(await old.runs.updatePolicy("run", frontierPolicy()));
    expect(applied.noEffect).toEqual([]);
    await play(old.runs, 40, 4);
    const { policy } = value(await old.runs.get("run")).state;
    expect(policy.config).toMatchObject({ practiceScale: "auto" });
  });

  test("has the same future after a restart, an import and an import under another id", async () => {
    const whole = bench();
    value(await whole.runs.create("run", of("auto")));
    await play(whole.runs, 24);
    const { state } = value(await whole.runs.export("run"));
    const wanted = await play(whole.runs, 36, 24);
    value(await whole.runs.import(state, undefined));
    expect(await play(bench({ store: whole.store, clock: whole.clock }).runs, 36, 24)).toEqual(wanted);
    const elsewhere = bench();
    value(await elsewhere.runs.import(state, "run"));
    expect(await play(elsewhere.runs, 36, 24)).toEqual(wanted);
  });

  test("keeps its events: the journal of a given scale has the form that older servers read", async () => {
    const { runs, store } = bench();
    value(await runs.create("run", of(12)));
    await play(runs, 3);
    const events = (await store.read((await store.find("run"))?.key ?? -1, 0)) ?? [];
    const drawn = events.filter((event) => kindOf(event) === "drawn").map((event) => Buffer.from(event).toString());
    expect(drawn.length).toBeGreaterThan(0);
    for (const text of drawn) expect(text).not.toContain('"pace"');
  });
});
