/** An environment that has rows and nothing else: no generator, no solver, nothing that travels in a task id. */
import { defineEnvironment } from "../../../envs/define.ts";
import type { Parsed } from "../../../envs/facts.ts";
import { judged } from "./slow.ts";
import { type Sum, sums } from "./sums.ts";

function read(row: unknown): Parsed<Sum> {
  const { a, b } = row as Partial<Sum>;
  if (typeof a !== "number" || typeof b !== "number") return { kind: "malformed", reason: "a and b must be numbers" };
  return { kind: "answer", answer: { a, b } };
}

export const rowsOnly = defineEnvironment<Sum, number>({
  ...sums,
  id: "test/rows",
  version: 1,
  description: "Add the numbers of a row.",
  rows: {
    read,
    levels: [{ name: "only", description: "Every row." }],
    defaultPool: { name: "sums", file: new URL("./rows.jsonl", import.meta.url) },
  },
  verify: judged,
});
