/** The limits that the contract's comments state are those of the code. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import {
  ARMS_MAX,
  EVALUATION_ARMS_MAX,
  KL_COEFFICIENT_MAX,
  LAG_MAX,
  OVERSAMPLE_MAX,
  PROMPTS_PER_UPDATE_MAX,
} from "../../../server/curriculum/check-config.ts";
import { ROWS_MAX } from "../../../server/curriculum/row-arms.ts";
import { EVALUATION_SAMPLES_MAX, OPEN_SAMPLES_MAX } from "../../../server/curriculum/state.ts";

const proto = readFileSync(resolve(import.meta.dirname, "../../../proto/gradus/v1/curriculum.proto"), "utf8");

/** Returns a field's comment in one line. */
function commentOf(message: string, field: string): string {
  const body = new RegExp(String.raw`^message ${message} \{\n([\s\S]*?)^\}`, "m").exec(proto)?.[1] ?? "";
  const found = new RegExp(String.raw`((?:^ +//.*\n)+) +(?:repeated |optional )?[\w.]+ ${field} = \d+;`, "m").exec(
    body,
  );
  return (found?.[1] ?? "").replaceAll(/\s*\/\/\s*/g, " ");
}

/** Numbers of four digits and more, with or without commas. */
const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([number]) => Number(number.replaceAll(",", "")));

test.each([
  ["RunConfig", "arms", ARMS_MAX],
  ["RunConfig", "prompts_per_update", PROMPTS_PER_UPDATE_MAX],
  ["RunConfig", "prompts_per_update", OPEN_SAMPLES_MAX],
  ["RunConfig", "feedback_lag", LAG_MAX],
  ["RunConfig", "evaluation_arms", EVALUATION_ARMS_MAX],
  ["RunConfig", "evaluation_arms", EVALUATION_SAMPLES_MAX],
  ["Arm", "kl_coefficient", KL_COEFFICIENT_MAX],
  ["DynamicSampling", "oversample_max", OVERSAMPLE_MAX],
  ["RowCurriculum", "count", ROWS_MAX],
])("%s.%s: %d", (message, field, limit) => {
  expect(numbersIn(commentOf(message, field))).toContain(limit);
});

test("how many arms a run may have is said once", () => {
  const said = [...proto.matchAll(/(?:[^\n]*\/\/[^\n]*\n)+/g)].filter(([text]) => /\b(?:1,?024|256) arms\b/.test(text));
  expect(said.map(([text]) => text)).toEqual([]);
  expect(commentOf("RunConfig", "arms")).toContain("1 to 1,024");
});
