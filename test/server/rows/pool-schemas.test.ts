/**
 * Tests of files of public schemas, as they are downloaded: each is read as its own schema, or refused in words. Rows
 * are made up.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CodeInstance } from "../../../envs/code/instance.ts";
import type { MathInstance } from "../../../envs/math/instance.ts";
import { type Pool, rowOf } from "../../../envs/pool.ts";
import { repeatedKey } from "../../../envs/lib/exact-json.ts";
import type { Question } from "../../../envs/qa/question.ts";
import { createRegistry, environments } from "../../../envs/registry.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import type { OpenPorts } from "../../../server/rows/checks.ts";
import { openPorts } from "../../../server/outside/open-ports.ts";
import { loadPools, type NamedColumn } from "../../../server/rows/pools.ts";

const registry = createRegistry(environments);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-schemas-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `columns`: as --column says them. */
async function read(rows: readonly object[], columns?: Readonly<Record<string, string>>): Promise<Pool | string> {
  writeFileSync(join(folder, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  return readFile("rows.jsonl", columns);
}

async function readFile(
  name: string,
  columns: Readonly<Record<string, string>> = {},
  openPorts?: OpenPorts,
): Promise<Pool | string> {
  const path = join(folder, name);
  const named = Object.entries(columns).map(([name, column]): NamedColumn => ({ pool: undefined, name, column }));
  const options = {
    threads: 1,
    environmentFiles: [],
    folder: undefined,
    columns: named,
    ...(openPorts && { openPorts }),
  };
  const result = await loadPools(registry, [{ name: "mine", path }], options);
  return result.kind === "invalid" ? result.message : (result.pools.get("mine") as Pool);
}

async function poolOf(rows: readonly object[], columns?: Readonly<Record<string, string>>): Promise<Pool> {
  const pool = await read(rows, columns);
  if (typeof pool === "string") throw new Error(pool);
  return pool;
}

const instances = <T>(pool: Pool): readonly T[] =>
  Array.from({ length: pool.size }, (_, place) => rowOf(pool, place).instance as T);

describe("math", () => {
  const cases: readonly (readonly [string, object, answer: string, level: string, columns?: Record<string, string>])[] =
    [
      ["GSM8K", { question: "How many?", answer: "It is 8*9=<<8*9=72>>72.\n#### 72" }, "72", "all"],
      ["GSM8K, with a comma", { question: "How many?", answer: "A thousand.\n#### 1,000" }, "1,000", "all"],
      [
        "MATH",
        { problem: "What is $x$?", level: "Level 3", type: "Algebra", solution: "So $x=\\boxed{\\frac{1}{2}}$." },
        "\\frac{1}{2}",
        "3",
      ],
      [
        "MATH-500",
        { problem: "What?", solution: "It is \\boxed{9}.", answer: "9", level: 5, subject: "Algebra" },
        "9",
        "5",
      ],
      [
        "DeepMath",
        { question: "Evaluate it.", final_answer: "\\pi", difficulty: 5, topic: "Calculus", r1_solution_1: "…" },
        "\\pi",
        "all",
      ],
      ["TRL", { prompt: [{ role: "user", content: "What is 1+1?" }], solution: "2" }, "2", "all"],
      ["open-r1", { problem: "What is 1+1?", solution: "We add: 1+1=2.\nSo it is \\boxed{2}." }, "2", "all"],
      [
        "OpenR1-Math",
        { problem: "P?", solution: "long", answer: "5", problem_type: "Algebra", question_type: "math-word-problem" },
        "5",
        "all",
      ],
      [
        "DAPO-17K",
        {
          prompt: [{ role: "user", content: "What is 3?" }],
          reward_model: { ground_truth: "3", style: "rule" },
          data_source: "x",
        },
        "3",
        "all",
      ],
      [
        "Skywork-OR1",
        { prompt: [{ role: "user", content: "P?" }], reward_model: { ground_truth: '["34"]' } },
        "34",
        "all",
      ],
      ["Big-Math", { problem: "P?", answer: "7", source: "x", domain: ["A"], llama8b_solve_rate: 0.25 }, "7", "all"],
      ["NuminaMath-CoT", { source: "x", problem: "P?", solution: "Thus $\\boxed{4}$.", messages: [] }, "4", "all"],
      ["OpenMathReasoning", { problem: "P?", expected_answer: "11", generated_solution: "…" }, "11", "all"],
      ["OlympiadBench", { question: "P?", final_answer: ["$2$"], solution: ["…"], image_1: null }, "$2$", "all"],
      ["MetaMathQA", { query: "P?", response: "Add 3 and 4 to get 7.\nThe answer is: 7" }, "7", "all"],
      ["AIME", { ID: "1", Problem: "P?", Solution: "…", Answer: 113 }, "113", "all"],
      [
        "verl's GSM8K, which asks for a format of its own",
        {
          prompt: [{ role: "user", content: 'P? Let\'s think step by step and output the final answer after "####".' }],
          reward_model: { ground_truth: "72", style: "rule" },
        },
        "72",
        "all",
      ],
      [
        "a table of texts",
        { prompt: '[{"role": "user", "content": "P?"}]', reward_model: '{"ground_truth": "3", "style": "rule"}' },
        "3",
        "all",
      ],
      ["without options", { question: "P?", choices: [], options: null, answer: "3" }, "3", "all"],
      [
        "named columns",
        { task: { text: "P?" }, meta: { gold: "8" }, answer: "9" },
        "8",
        "all",
        { problem: "task.text", answer: "meta.gold" },
      ],
    ];

  test.each(cases)("%s", async (...given) => {
    const [, row, answer, level, columns] = given as unknown as (typeof cases)[number];
    const pool = await poolOf([row], columns);
    expect(pool.environment).toBe("math");
    const [instance] = instances<MathInstance>(pool);
    expect(instance).toMatchObject({ answer, level });
    expect(pool.taken.map(({ field }) => field)).toContain("answer");
  });

  test.each([
    ["12345678901234567890", "12345678901234567890"],
    ["0.1234567890123456789", "0.1234567890123456789"],
    ["1e-7", "0.0000001"],
    ["1e21", "1000000000000000000000"],
    ["-123456789012345678901234567890.5", "-123456789012345678901234567890.5"],
    ["100000000000000000000", "100000000000000000000"],
    ["1.50", "1.5"],
  ])("keeps the digits of %s", async (written, answer) => {
    for (const [name, text] of [
      ["rows.jsonl", `{"problem":"P?","answer":${written}}`],
      ["rows.json", `[{"problem":"P?",\n"answer":${written}}]`],
      ["nested.jsonl", `{"problem":"P?","reward_model":{"ground_truth":${written}}}`],
    ] as const) {
      writeFileSync(join(folder, name), text);
      const named = [{ name: "mine", path: join(folder, name) }];
      const result = await loadPools(registry, named, { threads: 1, environmentFiles: [], folder: undefined });
      if (result.kind === "invalid") throw new Error(result.message);
      const [instance] = instances<MathInstance>(result.pools.get("mine") as Pool);
      expect(instance?.answer).toBe(answer);
    }
  });

  test.each<readonly [string, object, string]>([
    [
      "a worked text that marks no answer",
      { question: "P?", answer: "First we add three and four. Then we halve it." },
      "nothing says where its answer is",
    ],
    ["a sentence", { question: "P?", answer: "There are 12 apples in the basket, and 3 pears." }, "nothing says where"],
    ["several boxes", { problem: "P?", solution: "\\boxed{1} or \\boxed{2}" }, "2 different boxes"],
    ["several answers after marks", { question: "P?", answer: "#### 1\n#### 2" }, "2 different answers after ####"],
    ["several answers", { question: "P?", final_answer: ["1", "2"] }, "2 answers"],
    ["an empty answer", { question: "P?", answer: "Text.\n#### " }, "is empty"],
    ["no answer", { question: "P?", answer: "N/A" }, "holds no answer"],
    ["a list of aliases", { question: "Who?", answer: { value: "x", aliases: ["y"] } }, "must be a text"],
    ["a passage that is not shown", { question: "P?", passage: "It has 3 goals.", answer: "3" }, "holds context"],
    [
      "SVAMP, whose question is asked of its body",
      { Body: "Ann has 5 apples and eats 2.", Question: "How many are left?", Answer: 3 },
      "holds context",
    ],
    ["a picture in the text", { problem: "<image 1> What is it?", answer: "1" }, "shows a picture"],
    ["a picture of Markdown", { problem: "Find AB. ![](https://a.b/c.jpg)", answer: "1" }, "shows a picture"],
    ["HotpotQA", { question: "P?", answer: "1986", level: "hard", context: { title: ["a"] } }, "holds context"],
    ["DREAM", { dialogue: ["W: hi"], question: "P?", choice: ["red", "green"], answer: "red" }, "holds options"],
    ["NuminaMath-1.5, not found", { problem: "P?", answer: "notfound" }, "holds no answer"],
    [
      "NuminaMath-1.5, not whole",
      { problem: "P?", answer: "7", problem_is_valid: "Incomplete" },
      "says that the problem is not valid",
    ],
    [
      "messages as Python writes them",
      { prompt: "[{'content': 'P?', 'role': 'user'}]", answer: "3" },
      "chat messages with one from the user",
    ],
    ["a truth value", { question: "P?", answer: true }, "must be a text"],
    ["a picture", { question: "P?", answer: "1", image: "a.png" }, "holds a picture"],
    [
      "several turns",
      {
        prompt: [
          { role: "user", content: "a" },
          { role: "assistant", content: "b" },
          { role: "user", content: "c" },
        ],
        answer: "1",
      },
      "chat messages with one from the user",
    ],
  ])("refuses %s, and names file and row", async (_, row, reason) => {
    const refused = await read([row]);
    expect(refused).toContain(reason);
    expect(refused).toMatch(/rows\.jsonl.*line 1/s);
  });
});

describe("questions with options", () => {
  const options = ["red", "green", "blue", "grey"];
  const zero = { question: "Which is first?", choices: options, answer: 0 };
  const cases: readonly (readonly [string, readonly object[], right: string, columns?: Record<string, string>])[] = [
    ["cais/mmlu", [{ question: "Which?", subject: "art", choices: options, answer: 2 }, zero], "blue"],
    ["MMLU-Pro", [{ question: "Which?", options, answer: "B", answer_index: 1, category: "x" }], "green"],
    ["SuperGPQA", [{ question: "Which?", options, answer: "blue", answer_letter: "C", difficulty: "easy" }], "blue"],
    [
      "ARC",
      [{ id: "1", question: "Which?", choices: { text: options, label: ["A", "B", "C", "D"] }, answerKey: "D" }],
      "grey",
    ],
    [
      "ARC, by numbers",
      [{ question: "Which?", choices: { text: options, label: ["1", "2", "3", "4"] }, answerKey: "2" }],
      "green",
    ],
    [
      "OpenBookQA",
      [{ question_stem: "It is", choices: { text: options, label: ["A", "B", "C", "D"] }, answerKey: "A" }],
      "red",
    ],
    [
      "CommonsenseQA",
      [
        {
          question: { stem: "Which?", choices: options.map((text, i) => ({ text, label: "ABCD"[i] })) },
          answerKey: "C",
        },
      ],
      "blue",
    ],
    [
      "HellaSwag",
      [
        { ctx: "Then she", endings: options, label: "3" },
        { ctx: "Then he", endings: options, label: "0" },
      ],
      "grey",
    ],
    [
      "an object by letter",
      [{ question: "Which?", options: { A: "red", B: "green", C: "blue" }, answer: "B" }],
      "green",
    ],
    ["columns A to D", [{ Question: "Which?", A: "red", B: "green", C: "blue", D: "grey", Answer: "D" }], "grey"],
    [
      "MedMCQA",
      [
        { question: "Which?", opa: "red", opb: "green", opc: "blue", opd: "grey", cop: 1 },
        { question: "And?", opa: "red", opb: "green", opc: "blue", opd: "grey", cop: 0 },
      ],
      "green",
    ],
    [
      "SciQ",
      [
        {
          question: "Which?",
          distractor1: "red",
          distractor2: "grey",
          distractor3: "blue",
          correct_answer: "green",
          support: "…",
        },
      ],
      "green",
    ],
    [
      "GPQA",
      [
        {
          Question: "Which?",
          "Correct Answer": "blue",
          "Incorrect Answer 1": "red",
          "Incorrect Answer 2": "grey",
          "Incorrect Answer 3": "green",
        },
      ],
      "blue",
    ],
    ["TruthfulQA", [{ question: "Which?", mc1_targets: { choices: options, labels: [0, 1, 0, 0] } }], "green"],
    ["AQuA", [{ question: "Which?", options: ["A)red", "B)green", "C)blue"], correct: "C" }], "blue"],
    ["RACE", [{ article: "A text.", question: "Which?", options, answer: "A" }], "red"],
    [
      "TruthfulQA's table",
      [{ Question: "Which?", "Best Answer": "red", "Incorrect Answers": "green; blue", Source: "u" }],
      "red",
    ],
    ["MCTest", [{ story: "S.", question: "Which?", answer_options: { A: "red", B: "green" }, answer: "A" }], "red"],
    [
      "MedQA's lists",
      [
        {
          question: "Which?",
          answer: "green",
          options: [
            { key: "A", value: "red" },
            { key: "B", value: "green" },
          ],
        },
      ],
      "green",
    ],
    [
      "MMLU-Redux",
      [
        { question: "Which?", choices: options, answer: 1, error_type: "ok" },
        { ...zero, error_type: "ok" },
      ],
      "green",
    ],
    [
      "an index that is said to count from 1",
      [{ question: "Which?", choices: options, answer: 2 }],
      "green",
      { answer_number: "answer" },
    ],
    [
      "an index that is said to count from 0",
      [{ question: "Which?", choices: options, answer: 2 }],
      "blue",
      { answer_index: "answer" },
    ],
    [
      "Winogrande, told so",
      [{ sentence: "The _ is.", option1: "red", option2: "blue", answer: "2" }],
      "blue",
      { answer_number: "answer" },
    ],
    ["numbers", [{ question: "Which?", choices: ["0", "4", "2", "6"], answer: 1 }, zero], "4"],
  ];

  test.each(cases)("%s", async (...given) => {
    const [, rows, right, columns] = given as unknown as (typeof cases)[number];
    const pool = await poolOf(rows, columns);
    expect(pool.environment).toBe("qa");
    expect(pool.rejected).toBe(0);
    const [first] = instances<Question>(pool);
    expect(first?.options[first.right]).toBe(right);
  });

  test("a passage stands before its question", async () => {
    const [first] = instances<Question>(
      await poolOf([{ article: "A text.", question: "Which?", options, answer: "A" }]),
    );
    expect(first?.question).toBe("A text.\n\nWhich?");
  });

  test.each<readonly [string, readonly object[], string]>([
    [
      "indices without a 0",
      [{ question: "Which?", choices: options, answer: 2 }],
      "may count from 1: say --column answer_index=answer",
    ],
    [
      "a row that MMLU-Redux calls faulty",
      [{ question: "Which?", choices: options, answer: 0, error_type: "wrong_groundtruth" }],
      "says that the row is faulty",
    ],
    ["indices past the last", [{ question: "Which?", choices: options, answer: 4 }], "past the last of 4"],
    [
      "a text that is another's index",
      [{ question: "Which?", choices: ["1", "2", "3"], answer: "1" }],
      "can be read as options' texts and as their indices",
    ],
    [
      "a text that is another's letter",
      [{ question: "Which?", options: ["B", "A", "C"], answer: "A" }],
      "the text of one option and the letter of another",
    ],
    [
      "no key",
      [{ question: "Which?", choices: { text: options, label: ["A", "B", "C", "D"] }, answerKey: "" }],
      "must be one of the options",
    ],
    [
      "several right ones",
      [{ question: "Which?", options, answer: ["A", "B"] }],
      "must be a text, a letter or an index",
    ],
    [
      "options in one text",
      [{ question: "Which?", options: "a ) 1 , b ) 2", answer: "a" }],
      "must be a list of 2 to 26 texts",
    ],
    ["a picture", [{ question: "Which?", options, answer: "A", image: { bytes: "x" } }], "holds a picture"],
    ["a column that is not there", [{ question: "Which?", options, result: "A" }], "no row has a column 'key'"],
  ])("refuses %s", async (name, rows, reason) => {
    expect(await read(rows, name.startsWith("a column") ? { answer: "key" } : {})).toContain(reason);
  });
});

test("TruthfulQA's table holds several wrong options in one text", async () => {
  const row = { Question: "Which?", "Best Answer": "red", "Incorrect Answers": "green; blue" };
  expect(instances<Question>(await poolOf([row]))[0]?.options).toHaveLength(3);
});

describe("programs", () => {
  test("LeetCodeDataset asks by its description, not by the imports that it calls its prompt", async () => {
    const test = "def check(candidate):\n    assert candidate(a = 1, b = 2) == 3\n";
    const row = { problem_description: "Add two numbers.", prompt: "import math", entry_point: "Solution().add", test };
    const rows = [{ ...row, starter_code: "class Solution:\n    ..." }];
    expect(await read(rows)).toContain("tests in Python, which only a sandbox reads: there is no sandbox");
    const sandbox = { kind: "embedded", python: "python3", concurrency: 1 } as const;
    const opened = await openPorts({ sandbox }, { clock: systemClock });
    try {
      const pool = await readFile("rows.jsonl", {}, async () => opened);
      const [first] = instances<CodeInstance>(pool as Pool);
      expect(first?.prompt).toBe("Add two numbers.");
      expect(first?.tests[0]).toMatchObject({ name: "Solution.add", expected: { value: { int: "3" } } });
    } finally {
      await opened.close();
    }
  });

  const functional = { input: "1\n2", output: "3", testtype: "functional" };
  test("a test of a function is none of a script", async () => {
    const named = { ...functional, metadata: { func_name: "add" } };
    const [first] = instances<CodeInstance>(await poolOf([{ problem: "Add.", tests: [named] }]));
    expect(first?.tests[0]).toMatchObject({ kind: "call", name: "add" });
    expect(await read([{ problem: "Add.", tests: [functional] }])).toContain("no column names the function");
  });
});

describe("which of two is meant is not guessed", () => {
  test.each([
    ["a key", '{"problem":"P?","answer":"1","answer":"2"}', 'line 1: it has the key "answer" twice'],
    ["a key with an escape", '{"problem":"P?","answer":"1","\\u0061nswer":"2"}', 'the key "answer" twice'],
    ["a key within", '{"problem":"P?","reward_model":{"ground_truth":1,"ground_truth":2}}', '"ground_truth" twice'],
    ["columns that are one", '{"problem":"P?","Answer":"1","ANSWER":"2"}', "choose one with --column answer=Answer or"],
    ["columns but for a hyphen", '{"problem":"P?","Final Answer":"1","final-answer":"2"}', "both be its final_answer"],
  ])("%s", async (_, line, reason) => {
    writeFileSync(join(folder, "twice.jsonl"), line);
    expect(await readFile("twice.jsonl")).toContain(reason);
  });

  test("and what is no key, is empty, or is named, is", async () => {
    const lines = [
      '{"prompt":[{"role":"system","content":"S"},{"role":"user","content":"P1?"}],"answer":"a\\"b\\\\","note":"\\"answer\\":"}',
      '{"problem":"P2? {\\"answer\\": 1, \\"answer\\": 2}","answer":"3"}',
      '{"problem":"P3?","Answer":"1","ANSWER":null}',
      '{"problem":"P4?","answer":"1","Answer":"2"}',
    ];
    writeFileSync(join(folder, "once.jsonl"), lines.slice(1).join("\n"));
    const pool = (await readFile("once.jsonl")) as Pool;
    expect(instances<MathInstance>(pool).map(({ answer }) => answer)).toEqual(["3", "1", "1"]);
    expect(repeatedKey(lines[0]!)).toBeUndefined();
    expect(await poolOf([{ problem: "P?", Answer: "1", ANSWER: "2" }], { answer: "ANSWER" })).toMatchObject({
      size: 1,
    });
  });
});

test("numbers that JavaScript would change are options, answers and labels as others are", async () => {
  const lines = [
    '{"question":"A?","options":[9007199254740993,9007199254740992],"answer":9007199254740993}',
    '{"question":"B?","choices":{"label":[9007199254740993,9007199254740992],"text":["a1","b1"]},"answerKey":9007199254740993}',
    '{"question":"C?","options":["a1","b1"],"answer":"a1","difficulty":0.1000000000000000055}',
    '{"question":"D?","options":["a1","b1"],"answer":"a1","difficulty":"0.5"}',
  ];
  writeFileSync(join(folder, "long.jsonl"), lines.join("\n"));
  const pool = (await readFile("long.jsonl")) as Pool;
  const right = instances<Question>(pool).map(({ options, right: place }) => options[place]);
  expect(right).toEqual(["9007199254740993", "a1", "a1", "a1"]);
});

test("a list as Python prints it is refused with what to do", async () => {
  expect(await read([{ question: "Q?", choices: "['a1' 'b1']", answer: "0" }])).toContain("save the table as JSONL");
});

test("the same question with another answer is told, and with the same in other words is not", async () => {
  const rows = [
    { problem: "What is  X?", answer: "\\frac12" },
    { problem: "what is x?", answer: "0.5" },
    { problem: "What is x?", answer: "2" },
  ];
  const { contradictions, size } = await poolOf(rows);
  expect([size, contradictions]).toEqual([3, { rows: 1, first: [2, 0] }]);
  const asked = { question: "Which?", options: ["a1", "b1", "c1"] };
  const qa = await poolOf([
    { ...asked, answer: "a1" },
    { ...asked, answer: "b1" },
    { ...asked, options: ["a1", "x1"], answer: "a1" },
  ]);
  expect(qa.contradictions).toEqual({ rows: 1, first: [1, 0] });
});

describe("ranks name their source", () => {
  const row = (i: number, more: object) => ({ problem: `What is ${i}?`, answer: `${i}`, ...more });
  test.each<readonly [string, readonly object[], string | undefined]>([
    ["a pass rate", [row(1, { pass_rate: 0.5 }), row(2, { pass_rate: "0.25" })], "column pass_rate (a pass rate)"],
    ["a column", [row(1, { difficulty: 5.5 }), row(2, { difficulty: 3 })], "column difficulty"],
    ["a count", [{ nums: [1, 2, 3], target: 6 }], "the count of solutions, then the target"],
    ["levels are none", [row(1, { level: 3 }), row(2, { level: 4 })], undefined],
    ["rates of some", [row(1, { pass_rate: 0.5 }), row(2, {})], undefined],
    ["rates of no share", [row(1, { pass_rate: 50 })], undefined],
    [
      "a pass rate of questions",
      [{ question: "Which?", options: ["a1", "b1"], answer: "a1", solve_rate: 0.5 }],
      "column solve_rate (a pass rate)",
    ],
  ])("%s", async (_, rows, source) => {
    const pool = await poolOf(rows);
    expect(pool.ranking.source).toBe(source);
    expect(pool.columns.ranks.length).toBe(source === undefined ? 0 : pool.size);
    if (source === undefined) expect(pool.ranking.reason).not.toBe("");
  });
});
