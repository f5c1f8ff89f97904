/**
 * Tests of arms whose tasks cannot be scored at present: they are not drawn until the missing resource answers again.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../../server/stores/memory.ts";
import { type Store, StoreUnavailable } from "../../../server/stores/store.ts";
import { noConstraints } from "../../../server/curriculum/types.ts";
import {
  answer,
  arm,
  ask,
  banditPolicy,
  batchesOf,
  bench,
  mixturePolicy,
  runConfig,
  settled,
  train,
  value,
} from "./support.ts";

const arms = [
  arm("plain"),
  arm("judged", { resource: "judge", source: "real" }),
  arm("other", { resource: "sandbox" }),
];
const config = runConfig({ arms, policy: mixturePolicy(), lag: { kind: "batches", count: 0 } });

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const made = bench();
  value(await made.runs.create("run", { ...config, ...more }));
  return made;
}

test("from the next batch not yet drawn, in every run; the others keep their proportions", async () => {
  const { runs } = await started();
  value(await runs.create("second", config));
  value(await ask(runs, "run", 0, 6));
  await runs.maskArms("judge", "it does not answer");
  value(await ask(runs, "run", 6, 30));
  value(await ask(runs, "second", 0, 30));
  await runs.maskArms("judge", undefined);
  value(await ask(runs, "run", 36, 6));
  const third = 1 / 3;
  const batches = await batchesOf(runs, "run");
  expect(batches.map(({ probabilities }) => probabilities)).toEqual([
    [third, third, third],
    ...new Array<unknown>(5).fill([0.5, 0, 0.5]),
    [third, third, third],
  ]);
  expect(batches.slice(1, 6).map(({ counts }) => counts[1])).toEqual([0, 0, 0, 0, 0]);
  const second = await batchesOf(runs, "second");
  expect(second.every(({ probabilities }) => probabilities[1] === 0)).toBe(true);
});

test("are shown in the run's state with the reason, and told in its history", async () => {
  const { runs } = await started();
  await runs.maskArms("judge", "it does not answer");
  const masked = async () => value(await runs.get("run")).state.arms.map(({ maskedReason }) => maskedReason);
  expect(await masked()).toEqual([undefined, "it does not answer", undefined]);
  const { version } = value(await runs.get("run")).state;
  await runs.maskArms("judge", "it still does not");
  expect(value(await runs.get("run")).state.version).toBe(version);
  await runs.maskArms("judge", undefined);
  expect(await masked()).toEqual([undefined, undefined, undefined]);
  const base = { kind: "control", cursor: 0, armId: "judged" };
  expect(value(await runs.history("run", 0, 10)).items).toMatchObject([
    { ...base, control: "mask", reason: "it does not answer" },
    { ...base, control: "unmask", reason: "" },
  ]);
});

test("a batch that is being drawn is planned again without them", async () => {
  const { runs } = await started();
  const drawing = ask(runs, "run", 0, 30);
  await runs.maskArms("judge", "down");
  expect(value(await drawing).tasks.some((task) => task.arm === 1)).toBe(false);
});

test("a run is not stopped by a constraint that only they could meet; it holds again when they are back", async () => {
  const policy = banditPolicy({}, { ...noConstraints, realShareMin: 0.5 });
  const { runs } = await started({ policy });
  await runs.maskArms("judge", "down");
  const { tasks } = await train(runs, "run", 3);
  expect(tasks.some((task) => task.arm === 1)).toBe(false);
  await runs.maskArms("judge", undefined);
  const after = await train(runs, "run", 3, 18);
  for (const { counts } of after.batches.slice(-3)) expect(counts[1]).toBeGreaterThanOrEqual(3);
});

test("a run of which no arm is left answers by name, and goes on when one is back", async () => {
  const { runs } = await started({ arms: arms.slice(1) });
  await runs.maskArms("judge", "down");
  const first = value(await ask(runs, "run", 0, 6)).tasks;
  expect(new Set(first.map((task) => task.arm))).toEqual(new Set([1]));
  await answer(runs, "run", first);
  await runs.maskArms("sandbox", "full");
  expect(await ask(runs, "run", 6, 6)).toEqual({
    kind: "unavailable",
    message: 'no arm can be drawn now; masked arms: "judged": down; "other": full',
    retryDelayMs: 1000,
    wait: { reason: "ARMS_MASKED" },
  });
  await runs.maskArms("sandbox", undefined);
  expect(value(await ask(runs, "run", 6, 6)).tasks).toHaveLength(6);
});

test("outlive the server that set them, until a server that knows better loads the run", async () => {
  const store = memoryStore();
  const first = bench({ store });
  value(await first.runs.create("run", config));
  await first.runs.maskArms("judge", "down");
  // The second server has not heard of the judge's failure, and takes it for healthy: scoring will say otherwise.
  const second = bench({ store });
  const of = async (runs: typeof first.runs) => value(await runs.get("run")).state.arms[1]?.maskedReason;
  expect(await of(second.runs)).toBeUndefined();
  expect(await of(first.runs)).toBeUndefined();
  // The third server has heard of the failure before it loads the run, and masks the arm at once.
  const third = bench({ store });
  await third.runs.maskArms("judge", "down again");
  expect(await of(third.runs)).toBe("down again");
  await settled();
});

test("reach a run that is loaded while those before it still are", async () => {
  const kept = memoryStore();
  const first = bench({ store: kept });
  for (const id of ["slow", "quick"]) value(await first.runs.create(id, config));
  const loading = Promise.withResolvers<void>();
  const store: Store = {
    ...kept,
    find: async (id) => {
      if (id === "slow") await loading.promise;
      return kept.find(id);
    },
  };
  const { runs } = bench({ store });
  const of = async (id: string) => value(await runs.get(id)).state.arms[1]?.maskedReason;
  const slow = of("slow");
  const masked = runs.maskArms("judge", "down");
  await of("quick");
  loading.resolve();
  await Promise.all([slow, masked]);
  expect([await of("slow"), await of("quick")]).toEqual(["down", "down"]);
});

test("are masked a little later where the store could not be written to", async () => {
  const kept = memoryStore();
  let isAway = false;
  const append: Store["append"] = (...args) =>
    isAway ? Promise.reject(new StoreUnavailable("it is away")) : kept.append(...args);
  const { runs, clock } = bench({ store: { ...kept, append } });
  value(await runs.create("run", config));
  const masked = async () => value(await runs.get("run")).state.arms[1]?.maskedReason;
  isAway = true;
  await runs.maskArms("judge", "down");
  isAway = false;
  await clock.advance(30_000);
  expect(await masked()).toBe("down");
  isAway = true;
  await runs.maskArms("judge", undefined);
  await clock.advance(30_000);
  isAway = false;
  await clock.advance(30_000);
  expect(await masked()).toBeUndefined();
});
