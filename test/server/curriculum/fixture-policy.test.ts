/**
 * A policy from outside the server: it reads the run's progress and solved instances, refuses tasks, and advances when
 * told to.
 */
import { expect, test } from "vitest";
import { readList, readNumber, readText } from "../../../server/curriculum/json.ts";
import { fieldsOf } from "../../../server/curriculum/policies/fields.ts";
import type * as policy from "../../../server/curriculum/policies/policy.ts";
import { registerPolicy } from "../../../server/curriculum/policies/registry.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import { answer, arm, ask, bench, feedbackFor, runConfig, sourceOf, type Task, value } from "./support.ts";

interface State {
  /** Number of times that Advance was called on the policy. */
  readonly moves: number;
  /** Instances that every sample solved. */
  readonly solved: readonly string[];
}

const views: policy.View[] = [];
const observed: policy.ObservedGroup[] = [];

/**
 * Draws from the easiest share of a pool, which grows by `width` with each advance. It never repeats an instance that
 * all samples solved.
 */
const slice: policy.PolicyDefinition<{ readonly width: number }, State> = {
  kind: "slice",
  read: (parameters) => ({ width: fieldsOf(parameters, ["width"]).number("width") ?? 1 }),
  write: ({ width }) => ({ width }),
  check: () => undefined,
  takesFeedback: true,
  initial: () => ({ moves: 0, solved: [] }),
  state: {
    encode: ({ moves, solved }) => [moves, solved],
    decode(json) {
      const [moves, solved] = readList(json);
      return { moves: readNumber(moves), solved: readList(solved).map(readText) };
    },
  },
  probabilities(_config, _state, view) {
    views.push(view);
    return view.arms.map(() => 1 / view.arms.length);
  },
  observe(_config, state, groups) {
    observed.push(...groups);
    const solved = groups.filter(({ solvedShare }) => solvedShare === 1).map(({ hash }) => hash);
    return { ...state, solved: [...state.solved, ...solved] };
  },
  accepts: ({ width }, { moves, solved }, { hash, rank }) =>
    !solved.includes(hash) && (rank ?? 0) < width * (1 + moves),
  advance: (_config, state) => ({ kind: "advanced", state: { ...state, moves: state.moves + 1 } }),
};

registerPolicy(slice);

function sliceOf(width: number): Policy {
  const none = { realShareMin: 0, syntheticShareMax: 1, hardShareMin: 0, hardWarmupBatches: 0 };
  return { kind: "slice", config: { width }, constraints: none };
}

const rankOf = ({ key }: Task): number => key.rank ?? NaN;

/** A pool of 100 rows gone through again and again, row i of rank i / 100. */
const pool = sourceOf(({ ordinal }) => {
  const row = (ordinal * 37) % 100;
  return { kind: "task", key: { hash: `row ${row}`, name: `row ${row}`, rank: row / 100 } };
});

const config = runConfig({
  arms: [arm("pool", { source: "real" })],
  policy: sliceOf(0.1),
  length: 60,
  promptsPerUpdate: 5,
  lag: { kind: "batches", count: 0 },
  numGenerations: 2,
});

async function solveAll(runs: ReturnType<typeof bench>["runs"], tasks: readonly Task[]): Promise<void> {
  const items = tasks.flatMap((task) => [0, 1].map((sample) => feedbackFor(task, sample, 1)));
  value(await runs.recordFeedback("run", items));
}

test("it sees the run's progress and records, and its filter holds in every draw, in a new process too", async () => {
  const { runs, store, clock } = bench({ source: pool });
  value(await runs.create("run", config));
  const first = value(await ask(runs, "run", 0, 5)).tasks;
  expect(first.every((task) => rankOf(task) < 0.1)).toBe(true);
  await answer(runs, "run", first.slice(0, 3));
  await solveAll(runs, first.slice(3));
  const second = value(await ask(runs, "run", 5, 5)).tasks;
  expect(second.every((task) => rankOf(task) < 0.1)).toBe(true);
  expect(views.at(-1)).toMatchObject({
    progress: { batch: 1, cursor: 5, length: 60 },
    arms: [{ id: "pool", source: "real", weight: 1, issued: 5, groups: 5 }],
  });
  expect(observed.map(({ hash, rank }) => [hash, rank])).toEqual(first.map((task) => [task.key.hash, rankOf(task)]));
  expect(observed.slice(3)).toMatchObject([
    { rewardMean: 1, rewardDeviation: 0, solvedShare: 1, signal: 0 },
    { rewardMean: 1, rewardDeviation: 0, solvedShare: 1, signal: 0 },
  ]);
  // Each of the ten rows, except those that all samples solved, was drawn at most once. Now rows repeat.
  await answer(runs, "run", second);
  const again = bench({ source: pool, store, clock }).runs;
  const third = value(await ask(again, "run", 10, 5));
  const solved = first.slice(3).map(({ key }) => key.hash);
  expect(third.tasks.some(({ key }) => solved.includes(key.hash))).toBe(false);
  expect(third.tasks.some(({ repeat }) => repeat)).toBe(true);
  expect(third.tasks.every((task) => rankOf(task) < 0.1)).toBe(true);
});

test("Advance moves it on from the next batch not yet drawn, and the journal has it", async () => {
  const { runs, store, clock } = bench({ source: pool });
  value(await runs.create("run", config));
  await answer(runs, "run", value(await ask(runs, "run", 0, 5)).tasks);
  expect(value(await runs.advance("run"))).toMatchObject({ appliesFromCursor: 5 });
  const again = bench({ source: pool, store, clock }).runs;
  const { tasks } = value(await ask(again, "run", 5, 5));
  expect(tasks.every((task) => rankOf(task) < 0.2)).toBe(true);
  expect(tasks.some((task) => rankOf(task) >= 0.1)).toBe(true);
  const { items } = value(await again.history("run", 1, 1));
  expect(items).toMatchObject([{ kind: "control", control: "advance", cursor: 5, reason: "" }]);
});

test("a filter that leaves nothing is said by the arm's name", async () => {
  const { runs } = bench({ source: pool });
  value(await runs.create("run", { ...config, policy: sliceOf(0) }));
  expect(await ask(runs, "run", 0, 5)).toEqual({
    kind: "failed_precondition",
    message: 'arm "pool" gave no task that the policy accepts in 16385 tries: widen the filter of the policy',
  });
});
