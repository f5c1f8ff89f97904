/** Commit scanning (Curriculum RLOO 3.3): [44, 19, 35] → 98 is the paper's own example of an abandoned answer. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countdown } from "../../envs/countdown/index.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { score, type Score } from "../../envs/score.ts";

const instance = { numbers: [44, 19, 35], target: 98 };
const RIGHT = "<answer>(44 + 19) + 35</answer>";
const WRONG = "<answer>(35 + 19) + (44 - 35)</answer>";

function scan(
  completion: string,
  parameters: Readonly<Record<string, number>> = {},
  format: AnswerFormat = "answer_tag",
): Score {
  const resolved = resolveScheme(countdown, "vcc", parameters);
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  return score({ environment: countdown, instance, format, scheme: resolved.scheme }, completion);
}

const commitOnly = { correctness: 0, commit: 1 };

function componentOf({ components }: Score, name: string): number | undefined {
  return components.find((component) => component.name === name)?.value;
}

describe("a commit", () => {
  test("is clean where the completion ends with its closing tag: it earns 1", () => {
    const text = `So it is ${RIGHT}`;
    const found = scan(text, commitOnly);
    expect(found.reward).toBe(1);
    expect(found.scan).toMatchObject({ answers: 1, commit: { answer: 0, span: 0, end: text.length, goesOn: false } });
    expect(found.spans).toEqual([{ start: 17, end: 31, markedEnd: text.length, verdict: "feasible", solved: true }]);
  });

  test("earns e/L where the completion goes on, and the outcome is that of the last answer", () => {
    const text = `${RIGHT} But maybe ${WRONG}`;
    const found = scan(text, { correctness: 1, commit: 1 });
    expect(found.scan?.commit).toMatchObject({ answer: 0, end: RIGHT.length, goesOn: true });
    expect(componentOf(found, "correctness")).toBe(0.1);
    expect(componentOf(found, "commit")).toBe(RIGHT.length / text.length);
    expect(found.reward).toBe(0.1 + RIGHT.length / text.length);
    expect(found).toMatchObject({ verdict: "infeasible", solved: false });
  });

  test("earns the format score at least", () => {
    expect(scan(`${RIGHT}${"x".repeat(10_000)}${WRONG}`, commitOnly).reward).toBe(0.1);
    expect(scan(`${RIGHT}${"x".repeat(10_000)}${WRONG}`, { ...commitOnly, format_score: 0.3 }).reward).toBe(0.3);
  });

  test("is the first right answer of several, after wrong and unreadable ones", () => {
    const found = scan(`${WRONG}<answer>no idea</answer>${RIGHT}${RIGHT}`);
    expect(found.scan?.commit).toMatchObject({ answer: 2, span: 2 });
    expect(found.spans.map(({ verdict }) => verdict)).toEqual(["infeasible", "malformed", "feasible", "feasible"]);
  });

  test.each(["<ANSWER>(44 + 19) + 35</Answer >", '𝟙< answer id="é">(44 + 19) + 35</ answer >'])(
    "may be in other tags, and ends where these end: %s",
    (text) => {
      const found = scan(`${text} 𝟙`, commitOnly);
      const [span] = found.spans;
      const points = [...text];
      expect(points.slice(span?.start, span?.end).join("")).toBe("(44 + 19) + 35");
      expect(found.scan?.commit?.end).toBe(points.length);
    },
  );

  test("may be one whose closing tag is missing at the end, if no answer is closed", () => {
    const open = RIGHT.replace("</answer>", "");
    const found = scan(`<think>${WRONG}</think>é𝟙${open}`, { correctness: 1, commit: 1 });
    expect(found).toMatchObject({ solved: true, scan: { answers: 2, commit: { answer: 1, span: 1, goesOn: false } } });
    expect(scan(`${WRONG}${open}`)).toMatchObject({ solved: false, verdict: "infeasible" });
  });

  test("may stand in the thoughts, where no answer counts", () => {
    const found = scan(`<think>${RIGHT}</think>${WRONG}`, {}, "think_answer");
    expect(found.scan?.commit).toMatchObject({ answer: 0, end: "<think>".length + RIGHT.length });
    expect(found).toMatchObject({ reward: 0.1, solved: false });
    expect(scan(`<think>${RIGHT}`, {}, "think_answer")).toMatchObject({ reward: 0, verdict: "malformed" });
  });

  test("is kept among the spans however many answers follow", () => {
    const found = scan(RIGHT + WRONG.repeat(200));
    expect(found.spans.length).toBe(16);
    expect(found.spans[0]).toMatchObject({ start: 8, markedEnd: RIGHT.length, solved: true });
    expect(found.spans.slice(1).every(({ solved }) => !solved)).toBe(true);
    expect(found.scan).toMatchObject({ answers: 201, commit: { answer: 0, span: 0 } });
    const late = scan(WRONG.repeat(200) + RIGHT + WRONG.repeat(3));
    expect(late.scan?.commit).toMatchObject({ answer: 200, span: 12 });
    expect(late.spans[12]?.solved).toBe(true);
  });

  test("ends at code points, as Python counts them", () => {
    const text = `𝟙é👍 ${RIGHT} 👍👍`;
    const found = scan(text, commitOnly);
    const [span] = found.spans;
    const points = [...text];
    expect(points.slice(span?.start, span?.end).join("")).toBe("(44 + 19) + 35");
    expect(points.slice(0, span?.markedEnd).join("")).toBe(`𝟙é👍 ${RIGHT}`);
    expect(found.reward).toBe(span!.markedEnd! / points.length);
  });

  test.each([
    ["boxed" as const, "\\boxed{44 + 19 + 35}"],
    ["answer_line" as const, "Answer: 44 + 19 + 35"],
  ])("in the format %s", (format, right) => {
    expect(scan(`Hm.\n${right}`, commitOnly, format).reward).toBe(1);
    const wrong = right.replace("+ 19", "- 19");
    const found = scan(`${right}\nNo.\n${wrong}`, { correctness: 1, commit: 0 }, format);
    expect(found.scan?.commit).toMatchObject({ answer: 0, end: right.length, goesOn: true });
    expect(found.reward).toBe(0.1);
  });

  test("by default the reward is that of graded", () => {
    for (const text of [RIGHT, WRONG, "", `${RIGHT}${WRONG}`, `${WRONG}${RIGHT}`, "<answer>x</answer>"]) {
      const graded = resolveScheme(countdown, "graded", {});
      if (graded.kind !== "ok") throw new Error(graded.message);
      const plain = score({ environment: countdown, instance, format: "answer_tag", scheme: graded.scheme }, text);
      expect(scan(text).reward, text).toBe(plain.reward);
    }
  });
});

describe("nothing wrong gets a reward through scanning", () => {
  test.each([
    ["an open answer after a closed one", "<answer>98</answer><answer>(44 + 19) + 35"],
    ["a closed one that is not opened", "(44 + 19) + 35</answer>"],
    ["words beside it", "<answer>it is (44 + 19) + 35</answer>"],
    ["an expression and a comment", "<answer>98 # 44 19 35</answer>"],
    ["the target", "<answer>98</answer>"],
    ["a number twice", "<answer>44 + 19 + 35 + 44 - 44</answer>"],
    ["one number too few", "<answer>63 + 35</answer>"],
    ["halves in two answers", "<answer>(44 + 19)</answer><answer>+ 35</answer>"],
    ["tags in an answer's middle", "<answer>(44 + <answer>19) + 35</answer>"],
    ["another word", "<answers>(44 + 19) + 35</answers>"],
    ["a false claim", "<answer>(44 + 19) + 35 = 99</answer>"],
    ["an instruction to the verifier", "<answer>process.exit()</answer><answer>eval('98')</answer>"],
    ["a mention", "(in <answer>…</answer> tags)"],
    ["nothing", ""],
  ])("%s", (_, text) => {
    const found = scan(`${text}`, { correctness: 1, commit: 1 });
    expect(found.scan?.commit).toBeUndefined();
    expect(found.reward).toBeLessThanOrEqual(0.2);
    expect(found.spans.some(({ solved }) => solved)).toBe(false);
  });

  test("a right answer past the last one that is verified is no commit", () => {
    const found = scan(WRONG.repeat(5) + RIGHT + WRONG, { ...commitOnly, answers_max: 5 });
    expect(found.scan).toMatchObject({ answers: 7, complete: false });
    expect(found.scan?.commit).toBeUndefined();
    expect(found.reward).toBe(0.1);
    expect(scan(WRONG.repeat(4) + RIGHT, { ...commitOnly, answers_max: 5 }).reward).toBe(1);
  });

  test("whatever is put together: what is found is what a plain reading finds", () => {
    const part = fc.constantFrom(
      ...[RIGHT, WRONG, "<answer>", "</answer>", "<answer></answer>", "<answer> … </answer>", " 👍 ", "<think>"],
      ...["</think>", "44 + 19 + 35", "<answer>x</answer>", "\n", "<answer>44 + 19 + 35 = 98</answer>"],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join("");
        const found = scan(text, commitOnly);
        const blocks = [...text.matchAll(/<answer>((?:(?!<\/?answer>)[^])*)<\/answer>/gu)].filter(
          ([, inner = ""]) => inner.replace(/[\s.…]/gu, "") !== "",
        );
        expect(found.scan?.answers).toBe(blocks.length);
        const first = blocks.findIndex(([, inner = ""]) => /^\(?44 \+ 19\)? \+ 35( = 98)?$/u.test(inner.trim()));
        expect(found.scan?.commit?.answer ?? -1).toBe(first);
        const block = blocks[first];
        const end = [...text.slice(0, (block?.index ?? 0) + (block?.[0].length ?? 0))].length;
        const least = found.verdict === "malformed" ? 0 : 0.1;
        expect(found.reward).toBe(first < 0 ? least : Math.max(0.1, end / [...text].length));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test("of long and hostile completions no more is verified than the limit", () => {
    const texts = [
      "<answer>".repeat(30_000),
      "</answer>".repeat(30_000),
      "<answer>1</answer>".repeat(14_000),
      `<answer>${"(".repeat(2000)}</answer>`.repeat(100),
      "\\boxed{".repeat(30_000),
      "Answer: 1\n".repeat(20_000),
      " ".repeat(262_144),
    ];
    for (const format of ["answer_tag", "think_answer", "boxed", "answer_line"] as const)
      for (const text of texts) {
        const found = scan(text, commitOnly, format);
        expect(found.reward).toBeLessThanOrEqual(0.1);
        expect(found.spans.length).toBeLessThanOrEqual(16);
      }
  });
});
