import { expect, test } from "vitest";
import type { Thinking } from "../../../envs/answers/locate.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import { countdown } from "../../../envs/countdown/index.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { score, type ScoreTask } from "../../../envs/score.ts";

const environment = countdown as SyncEnvironment;
const resolved = resolveScheme(environment, "graded", {});
if (resolved.kind !== "ok") throw new Error(resolved.message);
const { scheme } = resolved;

function violation(completion: string, format: AnswerFormat, more: Partial<ScoreTask> = {}): string {
  const instance = { numbers: [1, 2, 3], target: 6 };
  const { verdict, violation: said } = score(
    { environment, instance, format, scheme, hasRemedies: true, ...more },
    completion,
  );
  expect(verdict).toBe("malformed");
  return said;
}

test("an answer without thoughts: both settings that would read it are named", () => {
  expect(violation("<answer>1 + 2 + 3</answer>", "think_answer")).toBe(
    "the thinking is never closed: there is no </think>; it contains an answer that thinking: stripped or answer_format: answer_tag would read",
  );
});

test("neither thoughts nor any mark: the settings of a model that does not think are named, where they exist", () => {
  for (const completion of ["6", "", "The sum is 1 + 2 + 3 = 6."])
    expect(violation(completion, "think_answer")).toMatch(
      /no <\/think>; a model that writes no thinking needs thinking: stripped or answer_format: answer_tag$/,
    );
  const strict: SyncEnvironment = { ...environment, answerFormats: ["think_answer"] };
  expect(violation("6", "think_answer", { environment: strict })).toMatch(/needs thinking: stripped$/);
});

test("an answer in each other form names the format that reads it, and settings so changed do read it", () => {
  const formats = environment.answerFormats;
  for (const format of formats)
    for (const written of formats) {
      if (written === format) continue;
      const completion = wrapAnswer("1 + 2 + 3", written, "I add.");
      const task = { environment, instance: { numbers: [1, 2, 3], target: 6 }, format, scheme, hasRemedies: true };
      const { verdict, violation: said } = score(task, completion);
      // An answer in the form of think_answer also has the form of answer_tag.
      if (verdict !== "malformed") continue;
      const named = [...said.matchAll(/(answer_format|thinking): (\w+)/g)];
      expect(named.length, `${written} under ${format}: ${said}`).toBeGreaterThan(0);
      for (const [, setting, value] of named) {
        const changed = setting === "thinking" ? { thinking: value as Thinking } : { format: value as AnswerFormat };
        expect(score({ ...task, ...changed }, completion).reward, `${said} on ${completion}`).toBe(1);
      }
    }
});

test("a format that the environment does not permit is not named", () => {
  const tags: SyncEnvironment = { ...environment, answerFormats: ["think_answer", "answer_tag"] };
  expect(violation("\\boxed{1 + 2 + 3}", "answer_tag", { environment: tags })).toBe(
    "no closed <answer> block with an answer in it",
  );
});

test("thoughts that a template moves: the setting is named in both directions", () => {
  expect(violation("<answer>1+2+3</answer>", "think_answer", { thinking: "prefilled" })).toContain(
    "thinking: stripped would read",
  );
  expect(violation("I add.</think><answer>1+2+3</answer>", "think_answer")).toContain("thinking: prefilled");
});

test("a completion that was cut, or that thinks to its end, gets no remedy: no setting finds an answer in it", () => {
  expect(violation("<answer>1 + 2 + 3</answer> and so", "think_answer", { wasCut: true })).not.toContain("thinking: ");
  expect(violation("<think>I add 1 and 2", "think_answer")).not.toContain("stripped");
});
