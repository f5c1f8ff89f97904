/**
 * Registers the environment `code`: Python programs that are tested in a sandbox (Omni-Thinker 4.1). README.md opens
 * with an example.
 */
import { cutInstructions } from "../answers/instructions.ts";
import { formatInstruction } from "../answers/wording.ts";
import { defineEnvironment } from "../define.ts";
import type { Grading } from "../environment.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import type { CodeInstance } from "./instance.ts";
import { readProgram } from "./program.ts";
import { columns, python, readRow } from "./rows.ts";
import { sandbox } from "./sandbox.ts";
import { checkReferences, verify } from "./verify.ts";

const grading: Grading = {
  primary: "correctness",
  components: [
    { name: "correctness", description: "1 if all tests pass, else 0.", weight: 1 },
    { name: "passed", description: "The share of the tests that pass.", weight: 0 },
  ],
};

function render({ prompt, starter, tests }: CodeInstance, format: AnswerFormat): readonly ChatMessage[] {
  const given = starter === "" ? [] : ["Start from this code:", `\`\`\`python\n${starter.trimEnd()}\n\`\`\``, ""];
  const { text } = cutInstructions(prompt, "code");
  const content = [text, "", ...given, asked(tests), FENCE, "", formatInstruction(format)].join("\n");
  return [{ role: "user", content }];
}

const FENCE =
  "Your answer is the whole program in Python 3, in one fenced block that starts with ```python and ends with ```.";

function asked(tests: CodeInstance["tests"]): string {
  const names = namesOf(tests);
  if (names.length === 0)
    return "Write a program that reads its input from standard input and prints its result to standard output, and nothing else.";
  const [first = ""] = names;
  const [owner, method] = first.split(".");
  if (method !== undefined)
    return `Write the class ${owner} with its method ${method}. The method is called, and what it returns is tested.`;
  if (names.length === 1) return `Write the function ${first}. It is called, and what it returns is tested.`;
  return `Write the functions ${names.join(", ")}. They are called, and what they return is tested.`;
}

/** Returns the names of the functions that the tests call. Empty if the program is a script. */
function namesOf(tests: CodeInstance["tests"]): readonly string[] {
  return [...new Set(tests.flatMap((test) => (test.kind === "call" ? [test.name] : [])))];
}

export const code = defineEnvironment<CodeInstance, string>({
  id: "code",
  version: 1,
  description: "Write a Python program that passes the tests.",
  // Programs have several lines and contain braces, so only tags can mark where an answer ends.
  answerFormats: ["think_answer", "answer_tag"],
  verbatim: true,
  grading,
  resource: sandbox,
  rows: {
    read: readRow,
    columns,
    python,
    levels: [
      { name: "easy", description: "a loop or a condition or two" },
      { name: "medium", description: "a known technique, or several steps" },
      { name: "hard", description: "an algorithm that has to be found, or is long to write" },
      { name: "unrated", description: "rows that do not say how hard they are" },
    ],
    levelOf: ({ level }) => level,
    check: checkReferences,
    remark: ({ unread: [first, ...others] }) => first && `${1 + others.length} of its tests left out: ${first}`,
    defaultPool: { name: "exercises", file: new URL("./pool.jsonl", import.meta.url) },
  },
  canonical: ({ prompt, starter, prefix, tests }) => JSON.stringify([prompt, starter, prefix, tests]),
  // Rows with equal prompts but different tests get the same key, so that they fall into the same split.
  invariant: ({ prompt, starter }) => `${prompt} ${starter}`.replace(/\s+/g, " ").trim(),
  reference: ({ references: [first] }) => first && `\`\`\`python\n${first}\n\`\`\``,
  render,
  metadata: ({ tests, unread, level }) => ({
    asks: namesOf(tests).join(" ") || "program",
    tests: `${tests.length}`,
    level,
    ...(unread.length > 0 && { tests_unread: `${unread.length}` }),
  }),
  parse: (text, { tests }) => readProgram(text, tests),
  verify,
  tries: {
    // A reply describes a failed test only if the row marks this test as public. Otherwise it only counts the passed
    // tests.
    wrong: ({ info = {} }) =>
      info["failed_public_test"] === undefined
        ? `The program passes ${info["passed"]} of ${info["tests"]} tests.`
        : `The program fails the public ${info["failed_public_test"]}.`,
  },
});
