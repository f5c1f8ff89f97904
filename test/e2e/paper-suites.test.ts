/** The suite files of examples/suites: one command gives each table of the papers. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "../cli/gradus.ts";

const suites = resolve(import.meta.dirname, "../../examples/suites");
const folder = temporaryFolder();
let model: ChatServer;

/** An expression of three numbers that equals the target. */
function solved(numbers: readonly number[], target: number): string {
  const orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]; // prettier-ignore
  const apply = { "+": (a: number, b: number) => a + b, "-": (a: number, b: number) => a - b, "*": (a: number, b: number) => a * b, "/": (a: number, b: number) => a / b }; // prettier-ignore
  const kinds = Object.keys(apply) as (keyof typeof apply)[];
  for (const order of orders) {
    const [a, b, c] = order.map((i) => numbers[i] ?? NaN) as [number, number, number];
    for (const one of kinds)
      for (const two of kinds) {
        if (Math.abs(apply[two](apply[one](a, b), c) - target) < 1e-9) return `(${a} ${one} ${b}) ${two} ${c}`;
        if (Math.abs(apply[two](a, apply[one](b, c)) - target) < 1e-9) return `${a} ${two} (${b} ${one} ${c})`;
      }
  }
  throw new Error(`no expression of ${numbers.join()} equals ${target}`);
}

/** Right where there are three numbers, and a wrong expression where there are more. */
function answerTo(prompt: string): string {
  const [, list = "", target = ""] = /numbers (.*?), write .* equals (\d+)/.exec(prompt) ?? [];
  const numbers = list.split(/, | and /).map(Number);
  return `<think>…</think><answer>${numbers.length === 3 ? solved(numbers, Number(target)) : "1 + 1"}</answer>`;
}

beforeAll(async () => {
  model = await startChatServer(({ messages }) => ({
    kind: "answer",
    content: answerTo(messages.at(-1)?.content ?? ""),
  }));
});
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Row {
  readonly name: string;
  readonly tasks: string;
  readonly figures: Readonly<Record<string, number>>;
}

async function evaluated(suite: string) {
  const file = join(suites, `${suite}.json`);
  const asked = ["--suite", suite, "--suite-file", file, "--endpoint", model.url, "--model", "m", "--samples", "16"];
  const { code, err, out } = await gradus({ cwd: folder.path }, "eval", ...asked, "--out", suite);
  expect([code, err]).toEqual([0, expect.any(String)]);
  const { report } = JSON.parse(readFileSync(join(folder.path, suite, "report.json"), "utf8")) as {
    readonly report: { readonly overall: Row; readonly categories: readonly Row[] };
  };
  return { out, ...report };
}

const close = (value: number): unknown => expect.closeTo(value, 9);
const shares = ({ name, tasks, figures }: Row) => [name, tasks, figures["exact_rate"], figures["pass@16"]];

test("each file is of a table that is checked here", () => {
  const files = readdirSync(suites).filter((name) => name.endsWith(".json"));
  expect(files.toSorted()).toEqual(["adsc-table-3.json", "adsc-table-4.json", "curriculum-rloo-table-1.json"]);
});

test("table 1 of Curriculum RLOO: pass@k of 50 rows, each of which counts once", async () => {
  const { out, overall, categories } = await evaluated("curriculum-rloo-table-1");
  expect(categories.map(({ name, tasks }) => [name, tasks])).toEqual([["3 numbers", "24"], ["4 numbers", "26"]]); // prettier-ignore
  const passes = ["pass@avg", "pass@1", "pass@2", "pass@4", "pass@8", "pass@16"];
  expect(passes.map((name) => overall.figures[name])).toEqual(passes.map(() => close(24 / 50)));
  expect(out).toMatch(/^overall +800 +48\.0%/m);
});

test("tables 2 and 3 of ADSC: 50 rows, and their split by how many numbers they have", async () => {
  const { overall, categories } = await evaluated("adsc-table-3");
  expect(categories.map(shares)).toEqual([["3 numbers", "24", 1, 1], ["4 numbers", "26", 0, 0]]); // prettier-ignore
  expect(shares(overall)).toEqual(["overall", "50", close(24 / 50), close(24 / 50)]);
  expect(overall.figures["mean_score"]).toBeCloseTo((24 + 26 * 0.1) / 50);
});

test("table 4 of ADSC: 50 tasks of five numbers", async () => {
  const { overall, categories } = await evaluated("adsc-table-4");
  expect(categories.map(shares)).toEqual([["5 numbers", "50", 0, 0]]);
  expect(overall.figures["nonzero_pass@n"]).toBe(1);
});
