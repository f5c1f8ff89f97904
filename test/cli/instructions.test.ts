/**
 * Tests rows that demand an answer format of their own: the checks find them, and the policy sees the prompt without
 * it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { createRegistry, environments } from "../../envs/registry.ts";
import { formatInstruction } from "../../envs/answers/wording.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path };
const BOXED = "Please reason step by step, and put your final answer within \\boxed{}.";
const LEFT = "With your final answer as \\boxed{n}, n being the number of primes below 100, what is n?";

beforeAll(() => {
  const problems = Array.from({ length: 5 }, (_, i) => `What is ${i} + ${i}?${i > 1 ? `\n${BOXED}` : ""}`);
  const rows = [...problems, LEFT].map((problem, i) => JSON.stringify({ problem, answer: `${2 * i}` }));
  writeFileSync(join(folder.path, "boxed.jsonl"), rows.join("\n"));
  const run = { arms: [{ id: "m", environment: "math", source: "real", pool: "boxed" }], policy: { kind: "mixture" } };
  writeFileSync(join(folder.path, "run.yaml"), JSON.stringify(run));
});

test("gradus pools check names the instruction, its rows and the first of them", async () => {
  const { code, out } = await gradus(here, "pools", "check", "math:boxed.jsonl");
  expect(code).toBe(0);
  expect(out).toMatch(/^3 +line 3 +cut from the prompt: Please reason step by step, and put your final answer within/m);
  expect(out).toMatch(
    /^1 +line 6 +left in the prompt, because it may be part of the problem: With your final answer as/m,
  );
  const json = JSON.parse((await gradus(here, "pools", "check", "math:boxed.jsonl", "--json")).out) as object;
  expect(json).toMatchObject({
    instructions: [
      { rows: 3, first: "line 3", reason: `cut from the prompt: ${BOXED}` },
      { rows: 1, first: "line 6", reason: `left in the prompt, because it may be part of the problem: ${LEFT}` },
    ],
  });
});

test("gradus run check warns of it at the row", async () => {
  const { err } = await gradus(here, "run", "check", "run.yaml", "--pool", "boxed=math:boxed.jsonl");
  expect(err).toContain(`boxed.jsonl:3: cut from the prompt: ${BOXED} (and 2 more rows)`);
});

test("the prompt has one instruction, and the row the identity that it had", () => {
  const found = createRegistry(environments).find("math");
  if (found.kind !== "found" || found.environment.rows === undefined) throw new Error("no math");
  const read = found.environment.rows.read({
    problem: "What is 2 + 2?\nReturn your final response within \\boxed{}.",
    answer: "4",
  });
  if (read.kind !== "answer") throw new Error(read.reason);
  expect(found.environment.render(read.answer, "answer_tag")).toEqual([
    { role: "user", content: `What is 2 + 2?\n\n${formatInstruction("answer_tag")}` },
  ]);
  expect(found.environment.canonical(read.answer)).toContain("boxed");
});
