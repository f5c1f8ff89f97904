/**
 * Tests `gradus run check`, which calls CheckRun, on a run's rows: their requirements, and overlap with evaluation
 * rows.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/server-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);

const problems = (count: number, more: (i: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, i) => ({ problem: `What is ${i} + 1?`, answer: `${i + 1}`, ...more(i) }));
const write = (name: string, rows: readonly object[]): void =>
  writeFileSync(at(name), rows.map((row) => JSON.stringify(row)).join("\n"));

const arm = (id: string, pool: string) => ({ id, spec: { environment: "math", source: "SOURCE_REAL", pool } });
const run = (more: object) => ({
  arms: [arm("a", "train")],
  policy: { mixture: {} },
  num_generations: 2,
  prompts_per_update: 2,
  ...more,
});

beforeAll(() => {
  write("plain.jsonl", problems(30));
  write(
    "rated.jsonl",
    problems(30, (i) => ({ pass_rate: i / 30 })),
  );
  // Ten of the thirty, written in another way, one of them with another answer.
  write(
    "held.jsonl",
    Array.from({ length: 20 }, (_, i) => ({ problem: `what is  ${i + 20} + 1?`, answer: i === 0 ? "5" : `${i + 21}` })),
  );
  write("cards.jsonl", [{ question: "Which?", options: ["a1", "b1"], answer: "a1" }]);
  writeFileSync(
    at("suite.json"),
    JSON.stringify({
      id: "held",
      version: 1,
      parts: [{ environment: "math", level: "all", split: "eval", tasks: "all", pool: "held" }],
    }),
  );
});

async function check(config: object, ...flags: readonly string[]): Promise<Ended> {
  writeFileSync(at("run.json"), JSON.stringify(config));
  return gradus({ cwd: folder.path }, "run", "check", "run.json", ...flags);
}

const PLAIN = ["--pool", "train=plain.jsonl@train"] as const;
const RATED = ["--pool", "train=rated.jsonl@train"] as const;
const HELD = ["--pool", "held=held.jsonl@eval"] as const;
const staged = { staged: { stages: [{ share: 0.5, ranks: { max: 0.3 } }, {}] } };
const filtered = { mixture: {}, filter: { ranks: { max: 0.5 } } };

describe("a range of ranks", () => {
  test("is refused for rows without ranks, with the field, the pool and the remedy", async () => {
    const { code, err } = await check(run({ policy: staged, length: 100 }), ...PLAIN);
    expect(code).not.toBe(0);
    expect(err).toContain("policy.staged.stages[0].ranks");
    expect(err).toContain(
      "arm 'a' draws from pool 'train', whose rows have no ranks, for no row has a column pass_rate",
    );
    const filter = await check(run({ policy: filtered }), ...PLAIN);
    expect(filter.err).toContain("policy.filter.ranks");
  });

  test("is taken where a column ranks them, and for the arms of its stage alone", async () => {
    expect((await check(run({ policy: staged, length: 100 }), ...RATED)).code).toBe(0);
    expect((await check(run({ policy: filtered }), ...RATED)).code).toBe(0);
    const stages = [{ share: 0.5, weights: { b: 1 }, ranks: { max: 0.3 } }, { weights: { a: 1 } }];
    const arms = [arm("a", "other"), arm("b", "train")];
    const two = run({ arms, policy: { staged: { stages } }, length: 100 });
    expect((await check(two, ...RATED, "--pool", "other=held.jsonl@train")).code).toBe(0);
  });

  test("is refused where no arm draws rows", async () => {
    const arms = [{ id: "a", spec: { environment: "countdown" } }];
    expect((await check(run({ arms, policy: filtered }))).err).toContain("none of its arms draws rows of a pool");
  });
});

describe("what is evaluated", () => {
  const evaluation = { ...arm("held-out", "held"), tasks: 5 };

  test("is not trained on by the same run, unless that is asked for", async () => {
    const config = run({ evaluation_arms: [evaluation] });
    const { code, err } = await check(config, ...PLAIN, ...HELD);
    expect(code).not.toBe(0);
    expect(err).toContain("10 of its 30 rows are evaluated by evaluation arm 'held-out'");
    expect(err).toContain("(line 21 of pool 'train' is line 1 of pool 'held')");
    expect(err).toContain("or set train_on_evaluated");
    const asked = await check({ ...config, train_on_evaluated: true }, ...PLAIN, ...HELD);
    expect(asked.code).toBe(0);
    expect(asked.err).toContain(
      "warning: run.json: arm 'a': 10 of its 30 rows are evaluated by evaluation arm 'held-out'",
    );
  });

  test("is not trained on where a suite evaluates it", async () => {
    const { code, err } = await check(run({}), ...PLAIN, ...HELD);
    expect([code, err]).toEqual([0, ""]);
    const suited = await check(run({}), ...PLAIN, ...HELD, "--suite-file", "suite.json");
    expect(suited.err).toContain("10 of its 30 rows are evaluated by part 'math parts[0]' of suite 'held' version 1");
  });

  test("may be the same pool's rows of another split", async () => {
    const config = run({ evaluation_arms: [{ ...arm("held-out", "train"), tasks: 5 }] });
    expect((await check(config, "--pool", "train=plain.jsonl@train[5:],eval[:5]")).code).toBe(0);
  });
});

test("problems that two pools of a run share are told, and how many have another answer", async () => {
  const config = run({ arms: [arm("a", "train"), arm("b", "more")] });
  const { code, err } = await check(config, ...PLAIN, "--pool", "more=held.jsonl@train");
  expect(code).toBe(0);
  expect(err).toContain("arms 'a' and 'b' share 10 of the 30 problems of the first arm, 1 of them with another answer");
});

test("a level that is not named is the easiest that the pool has", async () => {
  const { code, out } = await gradus(
    { cwd: folder.path },
    ...["reset", "math", "--pool", "p=plain.jsonl@train", "--pool-name", "p", "--json"],
  );
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ environment: "math", level: "all" });
});

test("columns are named for all pools, or for one", async () => {
  write("odd.jsonl", [{ task: "What is 2?", gold: "2" }]);
  const names = ["--column", "p:problem=task", "--column", "answer=gold"];
  const named = await gradus(
    { cwd: folder.path },
    "reset",
    "math",
    "--pool",
    "p=odd.jsonl@train",
    "--pool-name",
    "p",
    ...names,
  );
  expect(named.out).toContain("What is 2?");
  const wrong = await gradus(
    { cwd: folder.path },
    "reset",
    "math",
    "--pool",
    "p=odd.jsonl",
    "--column",
    "q:answer=gold",
  );
  expect(wrong.err).toContain("--column q:answer=gold: there is no --pool q");
});

test("gradus pools check tells what was taken from where, an example, ranks and contradictions", async () => {
  write("told.jsonl", [
    { question: "What is 1 + 1?", final_answer: "2" },
    { question: "what is 1 + 1?", final_answer: "3" },
    { question: "What is 1 + 1?", final_answer: "2" },
  ]);
  const { out } = await gradus({ cwd: folder.path }, "pools", "check", "told.jsonl");
  expect(out).toMatch(/rejected +1, of which 1 hold a task that came before/);
  expect(out).toMatch(/contradictions +1 rows have the question of another row .* line 2 and line 1/);
  expect(out).toMatch(/ranked by +nothing: no row has a column pass_rate/);
  expect(out).toMatch(/answer +final_answer +3/);
  expect(out).toMatch(/An example, line 1, .*What is 1 \+ 1\?.*--- its answer\n2/s);
  const { out: json } = await gradus({ cwd: folder.path }, "pools", "check", "rated.jsonl", "--json");
  expect(JSON.parse(json)).toMatchObject({
    ranks: { by: "column pass_rate (a pass rate)" },
    example: { answer: "1" },
    contradictions: { rows: 0 },
  });
});
