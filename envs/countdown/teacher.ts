/**
 * Builds the prompt that asks a teacher model for tasks, and reads its reply. The tasks are rows and are checked like
 * those of a pool.
 */
import type { Level, Teaching } from "../environment.ts";
import { malformed, type Parsed } from "../facts.ts";
import type { ChatMessage } from "../prompt.ts";
import type { Rng } from "../lib/rng.ts";
import { LIMITS } from "./instance.ts";

/** Maximum length of a teacher model's reply, in UTF-16 units. Correct replies have a few hundred. */
const REPLY_LENGTH_MAX = 64 * 1024;

/** Largest number that teachers are asked to use in a task. Generated tasks have the same limit. */
const NUMBER_MAX = 99;

export const teacher: Teaching = { prompt, read };

/**
 * Returns the prompt. Asks that each task contain a given random number. Otherwise a model would answer an equal prompt
 * with the same tasks again.
 */
function prompt({ description }: Level, count: number, rng: Rng): readonly ChatMessage[] {
  const given = Array.from({ length: count }, () => rng.int(1, NUMBER_MAX));
  const content = [
    `Make ${count} Countdown tasks. A task is a list of whole numbers from 1 to ${NUMBER_MAX} and a whole target from 1 to ${LIMITS.targetMax}. It is solved by an expression that uses each of the numbers exactly once, with +, -, *, / and parentheses, and equals the target; division is exact.`,
    `All tasks must be of this difficulty: ${description}. A task is sparse if it has 4 numbers or more and few ways to the target.`,
    "Each task must have a solution: choose an expression first, and let the target be its value. No two tasks may be the same.",
    `The n-th task should have the n-th of these numbers among its own: ${given.join(", ")}.`,
    "",
    'Reply with a JSON list and nothing else, without the solutions: [{"nums": [50, 3, 8, 4], "target": 70}, …]',
  ].join("\n");
  return [{ role: "user", content }];
}

/**
 * Returns the list in a reply. Ignores everything around the list: thoughts, a code fence, an object that contains it.
 */
function read(text: string): Parsed<readonly unknown[]> {
  if (text.length > REPLY_LENGTH_MAX) {
    return malformed(`it has ${text.length} characters, and the limit is ${REPLY_LENGTH_MAX}`);
  }
  const said = text.slice(text.lastIndexOf("</think>") + 1);
  const [start, end] = [said.indexOf("["), said.lastIndexOf("]")];
  if (start < 0 || end < start) return malformed("it holds no JSON list");
  try {
    const rows: unknown = JSON.parse(said.slice(start, end + 1));
    return Array.isArray(rows) ? { kind: "answer", answer: rows } : malformed("it holds no JSON list");
  } catch {
    return malformed("the text from its first [ to its last ] is not JSON");
  }
}
