/** Public reports of verdicts that were wrong elsewhere, each played here; README.md lists them. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rewardOf } from "../../clients/ts/src/index.ts";
import { compareMath, readMath } from "../../envs/math/value.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { writeRows } from "../support/rows-file.ts";

/** Returns math's verdict on an answer for a gold. */
function judged(gold: string, answer: string): string {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed") throw new Error(`the gold ${gold} cannot be read: ${expected.reason}`);
  return given.kind === "malformed" ? "malformed" : compareMath(expected.answer, given.answer).kind;
}

describe("math", () => {
  test.each([
    [String.raw`\frac{1}{2004!}`, String.raw`\frac{1}{2006!}`],
    [String.raw`\frac{1}{2^{99}}`, String.raw`\frac{1}{2^{98}}`],
    ["n=2, 3, 4", "n=1, 2, 3"],
    ["D = (0, 1)", "D = (0, 1.5)"],
    [String.raw`F_n = \sum_{k=0}^{n-1} F_k F_{n-k-1}`, String.raw`F_n = \sum_{k=0}^{n-2} F_k F_{n-k-2}`],
    [String.raw`19, 46, \text{ and } 82`, "21, 36, and 82"],
    [String.raw`\frac{2^{2005}+1}{3 \cdot 2^{2006}}`, String.raw`\frac{1}{3 \cdot 2^{2006}}`],
    [String.raw`1 - \frac{1}{\mathrm{e}}`, String.raw`1 + \frac{1}{\mathrm{e}}`],
    [String.raw`\pm 2021`, "2021"],
    ["12:00", "1:00"],
    [String.raw`1, 2, \ldots, n`, String.raw`1, 3, 5, \ldots, 2n-1`],
    [String.raw`1:2:3:\ldots`, String.raw`1:4:9:\ldots`],
  ])("huggingface/Math-Verify#14: %s is itself, and not %s", (gold, answer) => {
    expect(judged(gold, gold)).toBe("equal");
    expect(judged(gold, answer)).not.toBe("equal");
  });

  test("huggingface/Math-Verify#60: two lines are not equal because both end in = 0", () => {
    expect(judged("3*x-1*y+13=0", "3x + 4y + 14=0")).toBe("different");
    expect(judged("3*x-1*y+13=0", "y = 3x + 13")).toBe("equal");
  });

  test.each([
    ["0", "x!"],
    ["0", "17^x"],
    ["17^x", "18^x"],
  ])("Doenet/math-expressions#4: %s is not %s", (gold, answer) => {
    expect(judged(gold, answer)).not.toBe("equal");
  });

  test.each(["nan", "inf", "\\infty", "1e999", "-1e999", "0/0", "1/0"])(
    "marin-community/marin#9163: %s is within no tolerance of a number",
    (answer) => {
      expect(judged("3.14", answer)).not.toBe("equal");
      expect(judged("10^{400}", answer)).not.toBe("equal");
    },
  );
});

/** Rows, each of which stands for one report. */
const ROWS = {
  sums: { problem: "What is six times seven?", answer: 42 },
  twin: { problem: "What is six times eight?", answer: 48, id: "q1" },
  other: { problem: "What is six times nine?", answer: 54, id: "q1" },
  gears: {
    question: "Which gears turn anticlockwise?",
    options: [
      "All gears turn",
      "Gear A turns",
      "Gear C turns",
      "Gears B, D and F turn",
      "No gear turns",
      "Gear E turns",
    ],
    answer: "Gears B, D and F turn",
    answer_letter: "D",
  },
  twice: { prompt: "Print twice the number.", tests: [{ input: "2\n", output: "4\n" }] },
} as const;
const ENVIRONMENTS = { sums: "math", twin: "math", other: "math", gears: "qa/letter", twice: "code" } as const;

describe("a server", () => {
  const folder = temporaryFolder();
  let server: TestServer;
  const fileOf = (name: string, rows: readonly object[]): string => writeRows(join(folder.path, `${name}.jsonl`), rows);
  beforeAll(async () => {
    const pool = Object.entries(ROWS).map(([name, row]) => `${name}=${fileOf(name, [row])}@train`);
    server = await openServer({ pool, sandbox: "embedded" });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function asked(pool: keyof typeof ROWS) {
    const spec = {
      environment: ENVIRONMENTS[pool],
      source: "real",
      pool,
      answerFormat: "answer_tag",
      seed: 0n,
    } as const;
    const task = await server.client.reset(spec);
    const rewardFor = async (answer: string) => rewardOf(await server.client.step(task, `<answer>${answer}</answer>`));
    return { prompt: task.prompt.map(({ content }) => content).join("\n"), rewardFor };
  }
  const rewardFor = async (pool: keyof typeof ROWS, answer: string) => (await asked(pool)).rewardFor(answer);

  test("PrimeIntellect-ai/verifiers#401: a row may have its answer as a number", async () => {
    expect(await rewardFor("sums", "42")).toBe(1);
    expect(await rewardFor("sums", "41")).toBe(0);
  });

  test("LongHorizonReasoning/longcot#5: two data sets that share a row's id keep their own answers", async () => {
    expect([await rewardFor("twin", "48"), await rewardFor("other", "54")]).toEqual([1, 1]);
    expect([await rewardFor("twin", "54"), await rewardFor("other", "48")]).toEqual([0, 0]);
  });

  test("modelscope/evalscope#1556: of a letter and its option's text the letter counts, not the last capital", async () => {
    const gears = await asked("gears");
    const letterOf = (option: string) => new RegExp(`^([A-F])\\) ${option}$`, "m").exec(gears.prompt)?.[1] ?? "none";
    const [right, wrong] = ["Gears B, D and F turn", "Gear E turns"];
    expect(await gears.rewardFor(`(${letterOf(right)}) ${right}`)).toBe(1);
    expect(await gears.rewardFor(`(${letterOf(wrong)}) ${wrong}`)).toBe(0);
  });

  test.each([
    ["codewars/codewars.com#2179", "print(4)\nexit(0)\nprint('no')"],
    ["a right one", "print(2 * int(input()))"],
  ])("%s: what is printed counts, however the program ends", async (_, program) => {
    expect(await rewardFor("twice", `\`\`\`python\n${program}\n\`\`\``)).toBe(1);
  });

  test.each([
    "import sys; sys.exit(0)",
    "import os; os._exit(0)",
    "raise SystemExit(0)",
    "import atexit, os; atexit.register(os._exit, 0)",
    "quit()",
  ])("promptdriven/pdd#605: `%s` ends with status 0, and passes no test", async (program) => {
    expect(await rewardFor("twice", `\`\`\`python\n${program}\n\`\`\``)).toBe(0);
  });

  test("NVIDIA-NeMo/Gym#2142: a row without a test pays nobody: the pool does not load", async () => {
    const path = fileOf("untested", [{ prompt: "Print twice the number.", tests: [] }]);
    await expect(openServer({ pool: [`untested=${path}@train`] })).rejects.toThrow(/no usable rows|tests/);
  });

  test("open-thought/reasoning-gym#265: a number that was not given earns nothing, even if the value is right", async () => {
    const task = await server.client.reset({
      environment: "countdown",
      level: "T0",
      seed: 7n,
      answerFormat: "answer_tag",
    });
    const { target = "" } = task.hints?.metadata ?? {};
    const earned = async (answer: string) => rewardOf(await server.client.step(task, `<answer>${answer}</answer>`));
    expect(await earned(`${target} + 0`)).toBeLessThan(1);
    expect(await earned(`${target}`)).toBeLessThan(1);
    expect(await earned(`${Number(target) - 1} + 1`)).toBeLessThan(1);
  });

  test("NVIDIA-NeMo/RL#3635: answers that cannot be read shift no reward of their neighbours", async () => {
    const task = await server.client.reset({
      environment: "countdown",
      level: "T0",
      seed: 7n,
      answerFormat: "answer_tag",
    });
    const right = "<answer>82 - (97 - 44)</answer>";
    const completions = ["I don't know.", right, "", "<answer>44 + 97 + 82</answer>", right];
    const [group] = await server.client.batchStep([{ task, completions }]);
    expect(group?.outcomes.map(({ sampleIndex }) => sampleIndex)).toEqual([0, 1, 2, 3, 4]);
    expect(group?.outcomes.map(rewardOf)).toEqual([0, 1, 0, 0.1, 1]);
  });

  test("huggingface/chat-ui#2383: a completion that reached its length is not told as one that ended", async () => {
    const task = await server.client.reset({
      environment: "countdown",
      level: "T0",
      seed: 7n,
      answerFormat: "answer_tag",
    });
    const completions = (["length", "stop"] as const).map((finishReason, sampleIndex) => {
      return { sampleIndex, text: "82 - (97", finishReason };
    });
    const [group] = await server.client.batchStep([{ task, completions }]);
    expect(group?.outcomes).toMatchObject([{ truncated: true }, { truncated: false }]);
  });
});
