/** Answers: the right option in every wrapping is right, and nothing else ever is. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import { loadPool, rowOf } from "../../../envs/pool.ts";
import { qa, qaLetter } from "../../../envs/qa/index.ts";
import { type Question, rows } from "../../../envs/qa/question.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { score, type Score } from "../../../envs/score.ts";
import { LABELS, MARKINGS, type Way, WRAPPINGS } from "../answers/wrappings.ts";
import { mutated } from "../mutated.ts";

const pool = loadPool(qa, "qa", readFileSync(rows.defaultPool.file, "utf8"));
const questions = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place).instance);

function scored(environment: SyncEnvironment, question: Question, completion: string, name = ""): Score {
  const resolved = resolveScheme(environment, name, {});
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  return score({ environment, instance: question, format: "answer_tag", scheme: resolved.scheme }, completion);
}

const given = (environment: SyncEnvironment, question: Question, text: string, name?: string): Score =>
  scored(environment, question, wrapAnswer(text, "answer_tag"), name);

const SODIUM = questions.find(({ question }) => question.includes("sodium")) as Question;
const MEGAWATT = questions.find(({ options }) => options.includes("MW")) as Question;
const letterOf = (question: Question, option: string): string => "ABCDEFGHIJ"[question.options.indexOf(option)] ?? "?";

const ENVIRONMENTS = [
  ["qa", qa, (_: Question, option: string) => option],
  ["qa/letter", qaLetter, letterOf],
] as const;

describe.each(ENVIRONMENTS)("%s", (_, environment: SyncEnvironment, write) => {
  test("every right answer in every wrapping, label and marking is right", () => {
    const refused: string[] = [];
    const ways: readonly Way[] = [...WRAPPINGS, ...LABELS];
    for (const question of questions) {
      const text = write(question, question.options[question.right] as string);
      const completions = [
        ...ways.map((way) => wrapAnswer(way.write(text) ?? text, "answer_tag")),
        ...MARKINGS.answer_tag.map((marking) => marking.write(text) as string),
      ];
      for (const completion of completions)
        if (!scored(environment, question, completion).solved) refused.push(completion);
    }
    expect(refused).toEqual([]);
  });

  test("no other option ever is, in any wrapping", () => {
    const accepted: string[] = [];
    for (const question of questions)
      for (const [place, option] of question.options.entries()) {
        if (place === question.right) continue;
        const text = write(question, option);
        for (const way of [...WRAPPINGS, ...LABELS]) {
          const { solved, verdict } = given(environment, question, way.write(text) ?? text);
          if (solved || verdict !== "graded") accepted.push(`${question.question} ${way.name} ${text}`);
        }
      }
    expect(accepted).toEqual([]);
  });

  test("a right answer is 1, a wrong one 0, and with the exact scheme 0.1", () => {
    const [right, wrong] = [write(SODIUM, "Na"), write(SODIUM, "Ni")];
    expect(given(environment, SODIUM, right)).toMatchObject({
      reward: 1,
      verdict: "graded",
      solved: true,
      violation: "",
      spans: [{ verdict: "graded", solved: true }],
    });
    expect(given(environment, SODIUM, wrong)).toMatchObject({ reward: 0, solved: false });
    expect(given(environment, SODIUM, wrong).components[0]).toEqual({ name: "correctness", value: 0, weight: 1 });
    expect([right, wrong].map((text) => given(environment, SODIUM, text, "graded").reward)).toEqual([1, 0.1]);
  });

  test("what is wrong with an answer does not say what is right", () => {
    for (const question of questions)
      for (const [place, option] of question.options.entries()) {
        if (place === question.right) continue;
        const { violation } = given(environment, question, write(question, option));
        expect(violation).toBe(`'${write(question, option)}' is not the right option`);
      }
  });
});

describe("by text", () => {
  test("what is no option is wrong: the primary component has its value, for the text could be read", () => {
    for (const text of [
      "B",
      "(C) Na",
      "C. Na",
      "A",
      "Na or Ni",
      "It is not Na",
      "Natrium",
      "Na\nNi",
      "sodium",
      "NaN",
    ]) {
      expect(given(qa, SODIUM, text), text).toMatchObject({ reward: 0, verdict: "graded", solved: false });
      expect(given(qa, SODIUM, text).components[0]?.value, text).toBe(0);
    }
    expect(given(qa, SODIUM, "Natrium").violation).toBe("not one of the options: 'Natrium'");
    expect(given(qa, SODIUM, "x".repeat(1e6)).violation.length).toBeLessThan(200);
  });

  test.each([
    ...["- Na", "* Na", "+ Na", "• Na", "– Na", "◦ **Na**", "**- Na**", "- `Na`.", "- Answer: Na", "✅ Na", "- [x] Na"],
    ...[
      "1. Na",
      "1) Na",
      `${SODIUM.options.indexOf("Na") + 1}. Na`,
      `- ${letterOf(SODIUM, "Na")}) Na`,
      "Answer:\n- Na",
    ],
  ])("%j, an option behind a bullet, is the option", (text) =>
    expect(given(qa, SODIUM, text)).toMatchObject({ solved: true, reward: 1 }),
  );

  test.each([
    ...[
      "- Ni",
      "- Na\n- Ni",
      "- Na or Ni",
      "- not Na",
      "-Na",
      "- - - Ni",
      "9. Na",
      "- [ ] Na",
      "❌ Na",
      "1. Ni",
      "-",
      "1.",
    ],
    ...["0. Na", "1.5 Na"],
  ])("%j is not the option Na", (text) => expect(given(qa, SODIUM, text).solved).toBe(false));

  test("bullets in a row are read once", () => {
    for (const [environment, answer] of [
      [qa, "Na"],
      [qaLetter, letterOf(SODIUM, "Na")],
    ] as const)
      for (const count of [2, 3, 4000])
        expect(given(environment, SODIUM, `${"- ".repeat(count)}${answer}`).solved).toBe(false);
  });

  test("a sign that options begin with is no bullet", () => {
    const asked = { ...SODIUM, options: ["-5", "5", "* 7", "7"], right: 1 };
    expect(["5", "- 5", "-5"].map((text) => given(qa, asked, text).solved)).toEqual([true, false, false]);
    expect(["7", "• 7", "* 7"].map((text) => given(qa, { ...asked, right: 3 }, text).solved)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("no answer at all leaves the primary out", () => {
    expect(scored(qa, SODIUM, "I do not know")).toMatchObject({ verdict: "malformed", reward: 0 });
    expect(scored(qa, SODIUM, "I do not know").components[0]).toMatchObject({ value: undefined });
  });

  test("case counts only where an option differs in nothing else", () => {
    expect(["MW", "mW", "mw", "Mw"].map((text) => given(qa, MEGAWATT, text).solved)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(["Na", "NA", "na"].map((text) => given(qa, SODIUM, text).solved)).toEqual([true, true, true]);
  });

  test("a text changed is right only where its normal form is the right option's, by an oracle of its own", () => {
    // In options of letters, digits and spaces no mark can be stripped, and NFKC changes nothing.
    const plain = questions.filter(({ options }) => options.every((option) => /^[a-z0-9 ]+$/i.test(option)));
    expect(plain.length).toBeGreaterThan(20);
    const words = (text: string): string => text.toLowerCase().split(/\s+/).filter(Boolean).join(" ");
    for (const question of plain) {
      const right = question.options[question.right] as string;
      const property = fc.property(mutated(right), (text) => {
        fc.pre(/^[a-z0-9 ]*$/i.test(text));
        if (given(qa, question, text).solved) expect(words(text)).toBe(words(right));
      });
      fc.assert(property, { seed: 3, numRuns: 60 });
    }
  });
});

describe("by letter", () => {
  const [right, wrong] = [letterOf(SODIUM, "Na"), letterOf(SODIUM, "Ni")];

  test.each([
    ...[right, right.toLowerCase(), `(${right})`, `${right})`, `${right}.`, `${right}:`, `option ${right}`],
    ...[
      `Option (${right})`,
      `choice ${right}.`,
      `${right}) Na`,
      `(${right}) Na`,
      `${right}. na`,
      `${right}: **Na**`,
      `${right}, Na`,
      `${right} - Na`,
    ],
    ...[`${right}!`, `[${right}]`, `**${right}.** Na`, `**${right}**. Na`, `It is ${right}.`, `${right} is correct`],
    ...["- ", "* ", "+ ", "• ", "– ", "1. ", "1) ", "- [x] "].map((bullet) => `${bullet}${right}`),
    ...[
      `* ${right})`,
      `• (${right})`,
      `- **${right}**`,
      `**- ${right}**`,
      `- ${right.toLowerCase()}`,
      `- ${right}. Na`,
    ],
    ...[`- Answer: ${right}`, `- option ${right}`, `${SODIUM.options.indexOf("Na") + 1}. ${right}`],
    ...[`The correct answer is ${right}.`, `Answer ${right}`, `${right} is the right answer.`, `正确答案是${right}。`],
  ])("%j is right", (text) => expect(given(qaLetter, SODIUM, text).solved).toBe(true));

  test.each([
    ...[
      "Na",
      `${right} Na`,
      `${right}, Ni`,
      `${wrong}, Na`,
      `${right}) Ni`,
      `${wrong}) Na`,
      `${right} or ${wrong}`,
      `${right}${wrong}`,
      `${right}, ${wrong}`,
    ],
    ...[
      `- not ${right}`,
      `- ${right}\n- ${wrong}`,
      `-${right}`,
      `9. ${right}`,
      `- [ ] ${right}`,
      `❌ ${right}`,
      "- Na",
    ],
    ...[`not ${right}`, "Z", "?", "1", `${right}?`, `It is not ${right}`, `${right}) Na or Ni`, "В"],
    ...[
      `${right}/${wrong}`,
      `\\frac{${right}}`,
      `${right}\n${wrong}`,
      `${right}:${right}`,
      `((${right}))`,
      `(${right}`,
    ],
  ])("%j is no letter of an option", (text) => {
    expect(given(qaLetter, SODIUM, text)).toMatchObject({ verdict: "malformed", solved: false, reward: 0 });
  });

  test("a letter past the last one names the last one", () => {
    expect(given(qaLetter, SODIUM, "Z").violation).toBe("there is no option Z: the last one is G");
  });
});
