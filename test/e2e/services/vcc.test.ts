/** Commit scanning over the wire: hints, spans, commits and contrast pairs (Curriculum RLOO 3.3). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ContrastPair, GroupOutcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { groupOf, MALFORMED, right, wrong } from "./answers.ts";
import { openWire, type Wire } from "./wire.ts";

let wire: Wire;
let task: Task;
beforeAll(async () => {
  wire = await openWire({ maxCompletionBytes: "8KiB" });
  task = await reset("vcc");
});
afterAll(() => wire[Symbol.asyncDispose]());

async function reset(name: string, parameters: Readonly<Record<string, number>> = {}): Promise<Task> {
  const spec = { environment: "countdown", rewardScheme: { name, parameters } };
  const { task: made } = await wire.environments.reset({ spec, seed: 1n });
  if (made === undefined) throw new Error("no task");
  return made;
}

async function score(of: Task, texts: readonly string[], more: object = {}): Promise<GroupOutcome> {
  const { groups } = await wire.environments.batchStep({ groups: [groupOf(of, texts, more)] });
  return groups[0] as GroupOutcome;
}

function shown({ contrastPairs }: GroupOutcome): readonly (readonly number[])[] {
  const of = (pair: ContrastPair) => [pair.preferredSampleIndex, pair.rejectedSampleIndex];
  return contrastPairs.map(of);
}

test("no stop string is hinted, so that completions go on past their first answer", async () => {
  expect(task.hints?.stop).toEqual([]);
  expect((await reset("graded")).hints?.stop).toEqual(["</answer>"]);
});

test("an outcome names its commit", async () => {
  const text = `👍${right(task)} or ${wrong(task)}`;
  const { outcomes } = await score(task, [text]);
  const result = outcomes[0]?.result;
  if (result?.case !== "score") throw new Error("no score");
  const end = [...`👍${right(task)}`].length;
  expect(result.value).toMatchObject({ reward: 0.1, answers: 2, commit: { answer: 0, span: 0, end } });
  expect(result.value.spans.map(({ solved, markedEnd }) => [solved, markedEnd])).toEqual([
    [true, end],
    [false, [...text].length],
  ]);
});

describe("contrast pairs", () => {
  test("prefer a commit to what went on after it, and to completions without one", async () => {
    const lost = `${right(task)} or ${wrong(task)}`;
    const group = await score(task, [lost, wrong(task), right(task), MALFORMED]);
    expect(shown(group)).toEqual([
      [0, 0],
      [0, 1],
      [2, 3],
      [0, 3],
    ]);
    expect(group.contrastPairs[0]).toMatchObject({
      preferredEnd: [...right(task)].length,
      rejectedEnd: [...lost].length,
    });
    expect(group.contrastPairs[2]).toMatchObject({
      preferredEnd: [...right(task)].length,
      rejectedEnd: MALFORMED.length,
    });
  });

  test("are the same in whatever order the samples came", async () => {
    const texts = [wrong(task), `${right(task)} or not`, right(task), MALFORMED];
    const group = groupOf(task, texts);
    const turned = { ...group, completions: group.completions.toReversed() };
    const [one, other] = await Promise.all(
      [group, turned].map((each) => wire.environments.batchStep({ groups: [each] })),
    );
    expect(other?.groups[0]?.contrastPairs).toEqual(one?.groups[0]?.contrastPairs);
    expect(one?.groups[0]?.contrastPairs.length).toBe(4);
  });

  test("are as many as pairs_max", async () => {
    const many = [right, right, wrong, wrong, wrong].map((make) => make(task));
    expect((await score(await reset("vcc", { pairs_max: 64 }), many)).contrastPairs.length).toBe(6);
    expect((await score(await reset("vcc", { pairs_max: 3 }), many)).contrastPairs.length).toBe(3);
    expect((await score(await reset("vcc", { pairs_max: 0 }), many)).contrastPairs).toEqual([]);
  });

  test("are none of a group that is not whole, that has no commit, or whose commits are clean", async () => {
    expect(shown(await score(task, [`${right(task)} or not`], { numGenerations: 2 }))).toEqual([]);
    expect(shown(await score(task, [wrong(task), MALFORMED]))).toEqual([]);
    expect(shown(await score(task, [right(task), `${right(task)} \n`]))).toEqual([]);
    expect(shown(await score(await reset("graded"), [`${right(task)} or not`, wrong(task)]))).toEqual([]);
  });

  test("leave out samples without a reward, and those that were not scanned to their end", async () => {
    expect(shown(await score(task, [right(task), "x".repeat(9000)]))).toEqual([]);
    const few = await reset("vcc", { answers_max: 1 });
    expect(shown(await score(few, [right(few), `${wrong(few)}${right(few)}`]))).toEqual([]);
  });
});
