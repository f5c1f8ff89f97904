/** Arms of few instances: the arm's ordinals go round a permutation of them, as rows of a pool do. */
import { describe, expect, test } from "vitest";
import { hashKey } from "../../../envs/lib/rng.ts";
import {
  answer,
  arm,
  ask,
  bench,
  freshTasks,
  runConfig,
  settled,
  train,
  value,
  made,
  type Place,
  sourceOf,
  type TaskSource,
} from "./support.ts";

function rows(sizes: Readonly<Record<string, number>>, asked: string[] = []): TaskSource {
  return sourceOf(({ arm: { id }, ordinal }) => {
    asked.push(`${id}:${ordinal}`);
    return made(`${id}/${(ordinal * 7) % (sizes[id] ?? 1)}`);
  });
}

const oneArm = { arms: [arm("a")], promptsPerUpdate: 4 };

async function begin(source: TaskSource, more: Parameters<typeof runConfig>[0] = oneArm) {
  const { runs } = bench({ source });
  value(await runs.create("run", runConfig(more)));
  return runs;
}

describe("repeats", () => {
  test("do not come before the arm has run dry, and then go round all of its instances", async () => {
    const runs = await begin(rows({ a: 10 }));
    const { tasks } = await train(runs, "run", 10);
    const hashes = tasks.map(({ key }) => key.hash);
    for (const from of [0, 10, 20, 30]) expect(new Set(hashes.slice(from, from + 10)).size).toBe(10);
    const [only] = value(await runs.get("run")).state.arms;
    expect([only?.issued, only?.repeats]).toEqual([40, 30]);
  });

  test("are found across arms, in cursor order", async () => {
    const source = sourceOf(({ arm: { id }, ordinal }) => made(String(ordinal), `${id}:${ordinal}`));
    const runs = await begin(source, { arms: [arm("a"), arm("b")], promptsPerUpdate: 6 });
    const { tasks } = await train(runs, "run", 4);
    expect(new Set(tasks.map(({ key }) => key.hash)).size).toBe(24);
    expect(value(await runs.get("run")).state.arms.map(({ repeats }) => repeats)).toEqual([0, 0]);
  });

  test("are passed over up to 64 times: 65 known instances in a row are one repeat", async () => {
    const fresh = (free: number): TaskSource =>
      sourceOf(({ ordinal }) => made(ordinal === 0 || ordinal >= free ? `new ${ordinal}` : "new 0", String(ordinal)));
    const names = async (free: number) => {
      const runs = await begin(fresh(free), { ...oneArm, promptsPerUpdate: 2 });
      return value(await ask(runs, "run", 0, 2)).tasks.map(({ key }) => key.name);
    };
    expect(await names(65)).toEqual(["0", "65"]);
    expect(await names(66)).toEqual(["0", "1"]);
  });

  test("of an arm that has run dry cost one new instance each", async () => {
    const asked: string[] = [];
    const runs = await begin(rows({ a: 5 }, asked));
    await train(runs, "run", 20);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeLessThanOrEqual(80 + 2 * 65);
  });
});

const without = { kind: "none", message: "there is none" } as const;

test("ordinals without an instance are passed over", async () => {
  const runs = await begin(sourceOf(({ ordinal }) => (ordinal % 3 < 2 ? without : made(String(ordinal)))));
  expect(value(await ask(runs, "run", 0, 4)).tasks.map(({ key }) => key.name)).toEqual(["2", "5", "8", "11"]);
});

describe("an arm that gives no tasks", () => {
  const arms = [arm("sound"), arm("barren")];
  /** Returns a source whose barren arm gives `first` tasks, and then none. */
  const dryFrom = (first: number, asked: number[] = []): TaskSource =>
    sourceOf(({ arm: { id }, ordinal }) => {
      if (id === "barren") asked.push(ordinal);
      return id === "barren" && ordinal >= first ? without : made(`${id}${ordinal}`);
    });

  test("is masked with the reason, and the others go on", async () => {
    const asked: number[] = [];
    const runs = await begin(dryFrom(0, asked), { arms, promptsPerUpdate: 64 });
    const { tasks } = value(await ask(runs, "run", 0, 64));
    expect(tasks.map(({ arm: of }) => of)).toEqual(new Array(64).fill(0));
    // The server asked for no more of the arm's tasks than it took to know that there are none.
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const { state } = value(await runs.get("run"));
    expect(state.arms.map(({ maskedReason }) => maskedReason)).toEqual([
      undefined,
      "it gave no task 8 times in a row: there is none",
    ]);
  });

  test("is masked where it runs dry later, and stays so when a resource is up again", async () => {
    const runs = await begin(dryFrom(5), { arms, promptsPerUpdate: 2 });
    await train(runs, "run", 12);
    await runs.maskArms("judge", "down");
    await runs.maskArms("judge", undefined);
    const { state } = value(await runs.get("run"));
    expect(state.arms.map(({ maskedReason }) => maskedReason === undefined)).toEqual([true, false]);
    expect(state.arms[1]?.issued).toBeGreaterThan(0);
  });

  test("is refused where it is the only one: waiting does not help", async () => {
    const runs = await begin(sourceOf(() => without));
    expect(await ask(runs, "run", 0, 4)).toEqual({
      kind: "failed_precondition",
      message: 'no arm can be drawn now; masked arms: "a": it gave no task 8 times in a row: there is none',
    });
  });

  test("is the same one whatever was asked for at a time", async () => {
    const drawn = async (counts: readonly number[]) => {
      const runs = await begin(dryFrom(5), { arms, promptsPerUpdate: 8 });
      const tasks: string[] = [];
      for (const count of counts) {
        const batch = value(await ask(runs, "run", tasks.length, count));
        tasks.push(...batch.tasks.map(({ key }) => key.name));
        await answer(runs, "run", batch.tasks);
      }
      return tasks;
    };
    expect(await drawn([8, 8, 8, 8])).toEqual(await drawn([4, 4, 4, 4, 4, 4, 4, 4]));
  });
});

test("a draw that nobody waits for any more ends, and what was made is kept", async () => {
  const held = Promise.withResolvers<void>();
  const asked: number[] = [];
  const signals: AbortSignal[] = [];
  const source: TaskSource = {
    ...freshTasks,
    make: async (places, signal) => {
      signals.push(signal);
      asked.push(...places.map(({ ordinal }) => ordinal));
      const first = made(`first ${places[0]?.ordinal}`);
      if (signals.length > 1) return places.map(({ ordinal }) => made(String(ordinal)));
      await held.promise;
      return [first, ...places.slice(1).map(() => ({ kind: "cancelled" }) as const)];
    },
  };
  const runs = await begin(source, { ...oneArm, promptsPerUpdate: 3 });
  const gone = [new AbortController(), new AbortController()];
  const calls = gone.map(({ signal }) => runs.nextBatch("run", { cursor: 0, count: 3, waitMs: 0, signal }));
  await settled();
  gone[0]?.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  gone[1]?.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  held.resolve();
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(["cancelled", "cancelled"]);
  await settled();
  const { tasks } = value(await ask(runs, "run", 0, 3));
  expect(tasks.map(({ key }) => key.name)).toEqual(["first 0", "1", "2"]);
  expect(asked).toEqual([0, 1, 2, 1, 2]);
});

test("what was drawn for a caller who left is given to the next one as new", async () => {
  const held = Promise.withResolvers<void>();
  const runs = await begin(
    {
      ...freshTasks,
      make: async (...wanted) => {
        await held.promise;
        return freshTasks.make(...wanted);
      },
    },
    { ...oneArm, promptsPerUpdate: 3 },
  );
  const gone = new AbortController();
  const call = { cursor: undefined, count: undefined, waitMs: 0 };
  const left = runs.nextBatch("run", { ...call, cursor: 0, signal: gone.signal });
  const stayed = runs.nextBatch("run", { ...call, signal: new AbortController().signal });
  await settled();
  gone.abort();
  held.resolve();
  expect((await left).kind).toBe("cancelled");
  expect(value(await stayed).tasks.map(({ cursor }) => cursor)).toEqual([0, 1, 2]);
});

test("instances are asked for by the run's seed, the arm and the ordinal", async () => {
  const requests = new Map<string, Place>();
  const runs = await begin(
    sourceOf((place) => {
      requests.set(`${place.arm.id}:${place.ordinal}`, place);
      return made(hashKey(place.seed));
    }),
    { arms: [arm("a"), arm("b")], seed: 2n ** 63n + 1n },
  );
  await train(runs, "run", 2);
  expect(new Set([...requests.values()].map(({ seed }) => seed)).size).toBe(requests.size);
  for (const { seed, runSeed } of requests.values()) {
    expect(runSeed).toBe(2n ** 63n + 1n);
    expect(seed >= 0n && seed < 2n ** 64n).toBe(true);
  }
});

describe("a source that is not available", () => {
  test("keeps what was made, and the draw is what it would have been", async () => {
    let left = 3;
    const times = new Map<string, number>();
    const flaky = sourceOf(({ arm: { id }, ordinal }) => {
      if (left-- <= 0) return { kind: "unavailable", message: "the queue is full", retryDelayMs: 5 };
      const name = `${id}${ordinal}`;
      times.set(name, (times.get(name) ?? 0) + 1);
      return made(name);
    });
    const runs = await begin(flaky, { arms: [arm("a"), arm("b")] });
    const refusal = { kind: "unavailable", message: "the queue is full", retryDelayMs: 5 };
    expect(await ask(runs, "run", 0, 6)).toEqual(refusal);
    left = 100;
    const { tasks } = value(await ask(runs, "run", 0, 6));
    expect([...times.values()]).toEqual([...times.values()].map(() => 1));
    const calm = await begin(
      sourceOf((place) => made(`${place.arm.id}${place.ordinal}`)),
      { arms: [arm("a"), arm("b")] },
    );
    expect(value(await ask(calm, "run", 0, 6)).tasks).toEqual(tasks);
    // Tasks that were drawn already are given, although the next batch cannot be drawn.
    left = 0;
    expect(value(await ask(runs, "run", 0, 12)).tasks).toEqual(tasks);
    expect(await ask(runs, "run", 6, 6)).toEqual(refusal);
  });

  test("does not stop feedback, and many callers share one draw", async () => {
    let release = (): void => undefined;
    let held: Promise<void> = Promise.resolve();
    let calls = 0;
    const slow = sourceOf(async ({ arm: { id }, ordinal }) => {
      calls++;
      await held;
      return made(`${id}${ordinal}`);
    });
    const runs = await begin(slow);
    const { tasks } = value(await ask(runs, "run", 0, 4));
    held = new Promise<void>((resolve) => (release = resolve));
    calls = 0;
    const waiting = [ask(runs, "run", 4, 4), ask(runs, "run", 4, 4), ask(runs, "run", 4, 4)];
    await settled();
    await answer(runs, "run", tasks);
    expect(value(await runs.get("run")).state.samplesRecorded).toBe(16);
    release();
    const [first, ...others] = await Promise.all(waiting);
    for (const other of others) expect(other).toEqual(first);
    expect(calls).toBe(4);
  });
});
