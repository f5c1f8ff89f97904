/** `gradus pools distract`, against a teacher on loopback that sometimes fails. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readOptions, readRightPlaces } from "../../envs/qa/distract.ts";
import { rows } from "../../envs/qa/question.ts";
import { type Behaviour, type ChatRequest, startChatServer } from "../support/chat-server.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";
import { writeRows } from "../support/rows-file.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const at = (name: string): string => join(folder.path, name);
const linesOf = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(at(name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ question: `What is ${i} + 1?`, answer: `${i + 1}`, extra: i }));
const write = (name: string, all: readonly object[]): string => writeRows(at(name), all);

const said = (content: string): Behaviour => ({
  kind: "answer",
  content,
  usage: { prompt_tokens: 10, completion_tokens: 5 },
});
const contentOf = ({ messages }: ChatRequest): string => messages.at(-1)?.content ?? "";
const isCheck = (content: string): boolean => content.startsWith("Which of these");
const sumOf = (content: string): number => Number(/What is (\d+) \+ 1/.exec(content)?.[1]) + 1;

function numbersOf(content: string, texts: readonly string[]): string {
  const options = [...content.matchAll(/^(\d+)\. (.*)$/gm)].filter(([, , option = ""]) => texts.includes(option));
  return `They are [${options.map(([, number]) => number).join(", ")}]`;
}

/** Wrong sums, the right one among them in another spelling, one that comes twice and one that names others. */
function honest(request: ChatRequest): Behaviour {
  const content = contentOf(request);
  const sum = sumOf(content);
  if (isCheck(content)) return said(numbersOf(content, [`${sum}`, `exactly ${sum}`]));
  const others = content.includes("give others") ? [`${sum + 50}`] : [`${sum + 10}`, `${sum + 20}.`, `${sum + 10} `];
  return said(`Here: ${JSON.stringify([...others, `**${sum}**`, `exactly ${sum}`, "Both A and B", 7])}`);
}

const distract = (url: string, file: string, out: string, ...more: readonly string[]) =>
  gradus(
    { cwd: folder.path },
    "pools",
    "distract",
    file,
    "--out",
    out,
    "--teacher-url",
    url,
    "--teacher-model",
    "t",
    ...more,
  );

test("questions get wrong options, of which none is right by the teacher's own word; and an account", async () => {
  await using teacher = await startChatServer(honest);
  write("plain.jsonl", numbered(4));
  const ended = await distract(teacher.url, "plain.jsonl", "qa.jsonl", "--count", "3", "--json");
  expect([ended.err, ended.code]).toEqual(["", 0]);
  const written = linesOf("qa.jsonl");
  expect(written.map(({ extra }) => extra)).toEqual([0, 1, 2, 3]);
  for (const row of written) {
    const read = rows.read(row);
    if (read.kind === "malformed") throw new Error(read.reason);
    const sum = sumOf(read.answer.question);
    const { options, right } = read.answer;
    expect(options[right]).toBe(`${sum}`);
    expect([...options].sort()).toEqual([`${sum}`, `${sum + 10}`, `${sum + 20}.`, `${sum + 50}`].sort());
  }
  const report = JSON.parse(ended.out) as Record<string, unknown>;
  expect(report).toMatchObject({
    accepted: 4,
    rejected: 0,
    requests: { useful: 16 },
    tokensIn: 160,
    tokensOut: 80,
    options: { accepted: 12, also_right: 4, excess: 4, is_the_answer: 8, names_others: 8, malformed: 8, duplicate: 4 },
  });
});

test("where the options cannot go is said in words, and before anything is asked", async () => {
  await using teacher = await startChatServer(honest);
  write("nowhere.jsonl", numbered(1));
  const ended = await distract(teacher.url, "nowhere.jsonl", "no/such/qa.jsonl", "--count", "3");
  expect(ended).toMatchObject({ code: 1, out: "" });
  expect(ended.err).toContain("--out must be a file that can be written; got 'no/such/qa.jsonl'");
});

test("a row whose answer the teacher does not find right, or that gets too few options, is rejected", async () => {
  await using teacher = await startChatServer((request) => {
    const content = contentOf(request);
    const sum = sumOf(content);
    if (isCheck(content)) return said(sum === 1 ? "[]" : numbersOf(content, [`${sum}`]));
    return said(sum === 2 ? "no list" : `["${sum + 3}", "${sum + 4}"]`);
  });
  write("disputed.jsonl", [...numbered(3), { question: "?" }]);
  const ended = await distract(teacher.url, "disputed.jsonl", "few.jsonl", "--count", "2", "--json");
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.out)).toMatchObject({
    accepted: 1,
    rejected: 3,
    reasons: {
      "the teacher does not find the answer right": 1,
      "the teacher gave 0 wrong options of 2": 1,
      "column answer must be a text": 1,
    },
  });
  expect(linesOf("few.jsonl").map(({ extra }) => extra)).toEqual([2]);
});

test("where the teacher is gone what is done is kept, and the same command asks for the rest alone", async () => {
  write("long.jsonl", numbered(6));
  const args = ["--count", "3", "--concurrency", "1"];
  await using leaving = await startChatServer((request, index) =>
    index < 8 ? honest(request) : { kind: "status", status: 401, message: "no more" },
  );
  const first = await distract(leaving.url, "long.jsonl", "long-out.jsonl", ...args);
  expect([first.code, first.err]).toEqual([1, expect.stringContaining("2 of 6 rows are done")]);
  expect([existsSync(at("long-out.jsonl")), existsSync(at("long-out.jsonl.partial"))]).toEqual([false, true]);
  const other = await distract(leaving.url, "long.jsonl", "long-out.jsonl", "--count", "4");
  expect([other.code, other.err]).toEqual([2, expect.stringContaining("belongs to another file, model or count")]);

  await using back = await startChatServer(honest);
  const second = await distract(back.url, "long.jsonl", "long-out.jsonl", ...args);
  expect(second.code).toBe(0);
  expect(back.requests.length).toBe(4 * 4);
  expect(linesOf("long-out.jsonl").map(({ extra }) => extra)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(existsSync(at("long-out.jsonl.partial"))).toBe(false);
});

test("the file that is read is not written to: rejected rows would be gone", async () => {
  write("own.jsonl", numbered(2));
  const { code, err } = await distract("http://127.0.0.1:9/v1", "own.jsonl", "own.jsonl");
  expect([code, err]).toEqual([2, expect.stringContaining("--out must not be the file that is read: choose another")]);
  expect(linesOf("own.jsonl")).toHaveLength(2);
});

describe("replies", () => {
  test("hold a list, whatever stands around it", () => {
    const texts = ['["a", "b"]', '<think>["x"]</think> ```json\n["a", "b"]\n```', 'Sure: ["a", "b"].'];
    for (const text of texts)
      expect(readOptions(text, "r", [], 9)).toEqual({ kind: "answer", answer: { options: ["a", "b"], rejected: [] } });
    for (const text of ["", "a, b", "[", "{}", `["${"x".repeat(70_000)}"]`])
      expect(readOptions(text, "r", [], 9).kind).toBe("malformed");
  });

  test("name places that there are", () => {
    expect(readRightPlaces("Not [1]. So [3, 1]", 3)).toEqual({ kind: "answer", answer: new Set([2, 0]) });
    expect(readRightPlaces("[]", 3)).toEqual({ kind: "answer", answer: new Set() });
    for (const text of ["[4]", "[0]", '["1"]', "[1.5]", "none"])
      expect(readRightPlaces(text, 3).kind).toBe("malformed");
  });
});
