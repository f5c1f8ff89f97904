/** What a math task is, and how rows of the public schemas are read into it. */
import type { RowDefinition } from "../environment.ts";
import type { Parsed } from "../facts.ts";
import { readMath } from "./value.ts";

export interface MathInstance {
  readonly problem: string;
  /** The answer that is expected, as its author wrote it. */
  readonly answer: string;
  /** "1" to "5", or "all" where the row names no level. */
  readonly level: string;
  /** Greater for harder ones, where the row says so. */
  readonly difficulty?: number;
  /** What the row says of its problem, e.g. its source and type. */
  readonly facts: Readonly<Record<string, string>>;
}

export const LIMITS = { problemLengthMax: 20_000, answerLengthMax: 2_000, factLengthMax: 100 } as const;

/** Columns by what they hold: the first that a row has counts. OpenR1-Math, MATH-500 and DAPO-Math-17k, in this order. */
const COLUMNS = {
  problem: ["problem", "question", "prompt"],
  answer: ["answer", "reward_model"],
  level: ["level", "difficulty"],
  solveRate: ["solve_rate", "pass_rate"],
  facts: ["problem_type", "question_type", "source", "data_source", "subject", "type"],
} as const;

/** "5" or "Level 5" (MATH). */
const LEVEL = /^(?:level\s*)?([1-5])$/i;

export const LEVELS = [
  { name: "1", description: "Rows of level 1, as MATH numbers them: the easiest." },
  { name: "2", description: "Rows of level 2." },
  { name: "3", description: "Rows of level 3." },
  { name: "4", description: "Rows of level 4." },
  { name: "5", description: "Rows of level 5, the hardest." },
  { name: "all", description: "Rows that name no level from 1 to 5." },
] as const;

type Row = Readonly<Record<string, unknown>>;

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason };
}

export function readRow(given: unknown): Parsed<MathInstance> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return malformed("a row must be an object");
  const row = given as Row;
  const problem = problemOf(row);
  if (problem.kind === "malformed") return problem;
  if (asksForProof(row, problem.answer))
    return malformed("column problem asks for a proof, which no answer is compared with");
  const answer = answerOf(row);
  if (answer.kind === "malformed") return answer;
  const level = levelOf(row);
  const difficulty = difficultyOf(row, level);
  const facts = factsOf(row);
  const instance = { problem: problem.answer, answer: answer.answer, level, facts };
  return { kind: "answer", answer: difficulty === undefined ? instance : { ...instance, difficulty } };
}

function firstOf(row: Row, columns: readonly string[]): string | undefined {
  return columns.find((column) => row[column] !== undefined && row[column] !== null);
}

// The problem.

function problemOf(row: Row): Parsed<string> {
  const column = firstOf(row, COLUMNS.problem);
  if (column === undefined) return malformed("column problem (or question, or prompt) is missing");
  const text = column === "prompt" ? promptText(row[column]) : row[column];
  if (typeof text !== "string")
    return malformed(`column ${column} must be a text, or chat messages with one of the user`);
  const problem = withoutInstruction(text).trim();
  if (problem === "") return malformed(`column ${column} is empty`);
  if (problem.length > LIMITS.problemLengthMax)
    return malformed(`column ${column} has ${problem.length} characters, and the limit is ${LIMITS.problemLengthMax}`);
  return { kind: "answer", answer: problem };
}

/** The last message of the user. */
function promptText(prompt: unknown): unknown {
  if (!Array.isArray(prompt)) return prompt;
  const messages = prompt as readonly unknown[];
  const said = messages.filter((one) => typeof one === "object" && one !== null && (one as Row)["role"] === "user");
  return (said.at(-1) as Row | undefined)?.["content"];
}

/** What DAPO-Math-17k puts around each problem: it asks for an answer format of its own. */
const BEFORE =
  /^\s*Solve the following math problem step by step\.\s*The last line of your response should be of the form Answer: \$?\\?\$?Answer\$? \(without quotes\) where \$?\\?\$?Answer\$? is the answer to the problem\.\s*/;
const AFTER = /\s*Remember to put your answer on its own line after "Answer:"\.?\s*$/;

export function withoutInstruction(text: string): string {
  return text.replace(BEFORE, "").replace(AFTER, "");
}

// Proofs.

const PROOF = /(?<![a-z])(?:prove|show|verify|demonstrate) (?:also )?that(?![a-z])|(?:求证|证明)[:：]?/i;
/** What asks for a value beside it. */
const ASKED =
  /(?<![a-z])(?:find|determine|compute|calculate|evaluate|what|which|how (?:many|much)|solve|express|give|write down)(?![a-z])|求(?!证)|多少|等于|[?？]|_{2}|\\underline/i;

/** Whether a row is said to be a proof, or its problem asks for nothing else. */
function asksForProof(row: Row, problem: string): boolean {
  const isSaid = ["question_type", "problem_type"].some((column) => row[column] === "proof");
  return isSaid || (PROOF.test(problem) && !ASKED.test(problem));
}

// The answer.

/** What stands where an answer was to be, and is none. */
const NO_ANSWER =
  /^[\s$*.("]*(?:\\(?:text|textbf|mathrm|boxed)\s?\{\s?)?(?:proof|see (?:the )?(?:proof|solution|above)|q\.?\s?e\.?\s?d|not (?:provided|available)|证明)[\s$*.)"}]*$/i;

function answerOf(row: Row): Parsed<string> {
  const column = firstOf(row, COLUMNS.answer);
  if (column === undefined) return malformed("column answer (or reward_model.ground_truth) is missing");
  const isNested = column === "reward_model";
  const name = isNested ? "reward_model.ground_truth" : column;
  const value = isNested ? (row[column] as Row)["ground_truth"] : row[column];
  const text = typeof value === "number" ? `${value}` : value;
  if (typeof text !== "string") return malformed(`column ${name} must be a text`);
  if (text.trim() === "") return malformed(`column ${name} is empty`);
  if (NO_ANSWER.test(text)) return malformed(`column ${name} holds no answer but ${JSON.stringify(text.slice(0, 40))}`);
  if (text.length > LIMITS.answerLengthMax)
    return malformed(`column ${name} has ${text.length} characters, and the limit is ${LIMITS.answerLengthMax}`);
  const read = readMath(text);
  if (read.kind === "malformed") return malformed(`column ${name} cannot be read: ${read.reason}`);
  return { kind: "answer", answer: text };
}

// What else a row says.

function levelOf(row: Row): string {
  for (const column of COLUMNS.level) {
    const value = row[column];
    const found = typeof value === "string" || typeof value === "number" ? LEVEL.exec(`${value}`.trim()) : null;
    if (found?.[1] !== undefined) return found[1];
  }
  return "all";
}

/** By solve rate, where there is one, from 0 to 1: the rarer, the harder; else by a number called difficulty; else by level. */
function difficultyOf(row: Row, level: string): number | undefined {
  const rate = COLUMNS.solveRate.map((column) => row[column]).find((value) => typeof value === "number");
  if (rate !== undefined && rate >= 0 && rate <= 1) return 1 - rate;
  const { difficulty } = row;
  if (typeof difficulty === "number" && Number.isFinite(difficulty)) return difficulty;
  return level === "all" ? undefined : Number(level);
}

function factsOf(row: Row): Readonly<Record<string, string>> {
  const facts = COLUMNS.facts.flatMap((column) => {
    const value = row[column];
    return typeof value === "string" && value !== "" ? [[column, value.slice(0, LIMITS.factLengthMax)] as const] : [];
  });
  return Object.fromEntries(facts);
}

export const rows: RowDefinition<MathInstance> = {
  read: readRow,
  columns: Object.values(COLUMNS).flat(),
  levels: LEVELS,
  levelOf: ({ level }) => level,
  difficulty: ({ difficulty }) => difficulty ?? 0,
  defaultPool: { name: "math", file: new URL("./pool.jsonl", import.meta.url) },
};
