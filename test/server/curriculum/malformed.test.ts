/** Runs whose samples are nearly all malformed warn, and take the warning back. */
import { describe, expect, test } from "vitest";
import { formatWarning } from "../../../server/curriculum/malformed-samples.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import { ask, bench, type Bench, feedbackFor, runConfig, type Runs, value } from "./support.ts";

const MISSED = "the thinking is never closed: there is no </think>; a model needs thinking: stripped";

/** Twenty samples in each update batch; `violationAt` gives the violation of the n-th sample of all, if it has one. */
async function trainOn(
  runs: Runs,
  batches: number,
  violationAt: (n: number) => string | undefined,
  from = 0,
): Promise<void> {
  for (let i = 0; i < batches; i++) {
    const { tasks } = value(await ask(runs, "run", 5 * (from + i), 5));
    const items = tasks.flatMap((task, place) =>
      Array.from({ length: 4 }, (_, sample) => {
        const malformed = violationAt(20 * (from + i) + 4 * place + sample);
        const item = feedbackFor(task, sample);
        return malformed === undefined ? item : { ...item, result: { ...item.result, malformed } };
      }),
    );
    value(await runs.recordFeedback("run", items));
  }
}

async function created(of: Bench = bench(), length = 0): Promise<Runs> {
  value(await of.runs.create("run", runConfig({ promptsPerUpdate: 5, length })));
  return of.runs;
}

async function warningOf(runs: Runs) {
  return formatWarning(value(await runs.get("run")).state.malformed);
}

const all = () => MISSED;

test("after 200 samples and not before; the log says it once, with the most frequent violation", async () => {
  const logged: object[] = [];
  const log = {
    info: () => undefined,
    warn: (details: object) => logged.push(details),
    error: () => undefined,
  };
  const runs = await created(bench({ log }));
  await trainOn(runs, 9, all);
  expect(await warningOf(runs)).toBeUndefined();
  await trainOn(runs, 1, all, 9);
  expect(await warningOf(runs)).toEqual({ samples: 200, malformed: 200, violation: MISSED });
  await trainOn(runs, 15, all, 10);
  expect(logged).toEqual([{ run: "run", samples: 200, malformed: 200, violation: MISSED }]);
});

test.each([
  [190, true],
  [189, false],
])("%d of 200 malformed: %s", async (malformed, warns) => {
  const runs = await created();
  await trainOn(runs, 10, (n) => (n < malformed ? MISSED : undefined));
  expect((await warningOf(runs)) !== undefined).toBe(warns);
});

test("the warning ends with 200 samples that are read, and comes back", async () => {
  const logged: string[] = [];
  const log = { info: () => undefined, warn: () => logged.push("warned"), error: () => undefined };
  const runs = await created(bench({ log }));
  await trainOn(runs, 30, (n) => (n < 200 || n >= 400 ? MISSED : undefined));
  expect(await warningOf(runs)).toBeDefined();
  expect(logged).toEqual(["warned", "warned"]);
});

test("samples without a reward are left out", async () => {
  const runs = await created();
  const { tasks } = value(await ask(runs, "run", 0, 5));
  const items = tasks.map((task) => {
    const item = feedbackFor(task, 0);
    return { ...item, result: { kind: "terminal", reason: "too_large" } as const };
  });
  value(await runs.recordFeedback("run", items));
  await trainOn(runs, 10, all);
  // In the first update batch five samples had no reward, so that the 200th comes with the next.
  expect(await warningOf(runs)).toBeUndefined();
  await trainOn(runs, 1, all, 10);
  expect(await warningOf(runs)).toMatchObject({ samples: 200, malformed: 200 });
});

test("like violations count together, and of very many kinds the first is still the most frequent", async () => {
  const runs = await created();
  const words = (n: number) => (n % 2 === 0 ? `expected '[', found '${n}' at character ${n}` : "x".repeat(n));
  await trainOn(runs, 10, words);
  expect(await warningOf(runs)).toEqual({
    samples: 200,
    malformed: 200,
    violation: "expected …, found … at character …",
  });
});

test("a run that is done before 200 samples is judged by all of them", async () => {
  const runs = await created(bench(), 40);
  await trainOn(runs, 7, all);
  expect(await warningOf(runs)).toBeUndefined();
  await trainOn(runs, 1, all, 7);
  expect(await warningOf(runs)).toMatchObject({ samples: 160, malformed: 160 });
});

describe("is kept", () => {
  test("over a restart, in the middle of a window", async () => {
    const store = memoryStore(() => 1_000_000);
    const first = await created(bench({ store }));
    await trainOn(first, 7, all);
    const { runs } = bench({ store });
    await trainOn(runs, 3, () => "no closed \\boxed{}", 7);
    expect(await warningOf(runs)).toEqual({ samples: 200, malformed: 200, violation: MISSED });
    expect(await warningOf(bench({ store }).runs)).toEqual(await warningOf(runs));
  });

  test("in an export, with the samples that it goes on from", async () => {
    const runs = await created();
    await trainOn(runs, 12, all);
    const { state } = value(await runs.export("run"));
    const other = bench().runs;
    value(await other.import(state, "run"));
    expect(await warningOf(other)).toEqual({ samples: 200, malformed: 200, violation: MISSED });
    await trainOn(other, 8, () => undefined, 12);
    // 40 of the second 200 were malformed.
    expect(await warningOf(other)).toBeUndefined();
  });
});
