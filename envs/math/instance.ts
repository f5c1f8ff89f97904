/** What a math task is, and how rows of the public schemas are read into it. */
import { cutInstructions } from "../answers/instructions.ts";
import type { RowDefinition, RowRead } from "../environment.ts";
import { malformed, type Parsed } from "../facts.ts";
import {
  askedIn,
  CONTEXTS,
  firstThere,
  isRow,
  OPTION_COLUMNS,
  optionColumn,
  PICTURE_COLUMNS,
  pictureProblem,
  type Row,
  shown,
} from "../row-columns.ts";
import { ANSWERS, goldOf } from "./gold.ts";
import { compareMath, readMath } from "./value.ts";

export interface MathInstance {
  readonly problem: string;
  /** The answer that is expected, as its author wrote it. */
  readonly answer: string;
  /** "1" to "5", or "all" where the row names no level. */
  readonly level: string;
  /** What the row says of its problem, e.g. its source and type. */
  readonly facts: Readonly<Record<string, string>>;
}

const LIMITS = { problemLengthMax: 20_000, factLengthMax: 100 } as const;

/** Columns by what they hold: the first that a row has counts. */
const COLUMNS = {
  problem: ["problem", "question", "query", "prompt"],
  answer: ANSWERS,
  level: ["level", "difficulty"],
  facts: ["problem_type", "question_type", "source", "data_source", "subject", "type"],
} as const;

/** NuminaMath-1.5 says of each problem whether it is whole. */
const VALID = "problem_is_valid";

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

export function readRow(row: unknown): RowRead<MathInstance> {
  if (!isRow(row)) return malformed("a row must be an object");
  const options = optionColumn(row);
  if (options !== undefined)
    return malformed(`column ${options} holds options: the row is a question for qa, and its answer no expression`);
  const about = firstThere(row, CONTEXTS);
  if (about !== undefined)
    return malformed(
      `column ${about} holds what the problem is about, and only the problem is shown: put both into one`,
    );
  if (row[VALID] !== undefined && row[VALID] !== null && row[VALID] !== "" && row[VALID] !== "Yes")
    return malformed(`column ${VALID} says that the problem is none: it is ${shown(row[VALID])}`);
  const problem = problemOf(row);
  if (problem.kind === "malformed") return problem;
  const { text, from, raw } = problem.answer;
  const picture = pictureProblem(row, text);
  if (picture !== undefined) return malformed(picture);
  if (asksForProof(row, text)) return malformed(`column ${from} asks for a proof, which no answer is compared with`);
  const gold = goldOf(row);
  if (gold.kind === "malformed") return gold;
  const [level, levelFrom] = levelOf(row);
  return {
    kind: "answer",
    answer: { problem: text, answer: gold.answer.text, level, facts: factsOf(row) },
    taken: [
      ["problem", from],
      ["answer", gold.answer.from],
      ...(levelFrom === undefined ? [] : [["level", levelFrom] as const]),
    ],
    instructions: () => cutInstructions(raw, "math"),
  };
}

// The problem.

function problemOf(row: Row): Parsed<{ readonly text: string; readonly from: string; readonly raw: string }> {
  const column = firstThere(row, COLUMNS.problem);
  if (column === undefined) return malformed(`column problem (or ${COLUMNS.problem.slice(1).join(", ")}) is missing`);
  const text = askedIn(row[column]);
  if (text === undefined) return malformed(`column ${column} must be a text, or chat messages with one of the user`);
  const problem = withoutInstruction(text).trim();
  if (problem === "") return malformed(`column ${column} is empty`);
  if (problem.length > LIMITS.problemLengthMax)
    return malformed(`column ${column} has ${problem.length} characters, and the limit is ${LIMITS.problemLengthMax}`);
  return { kind: "answer", answer: { text: problem, from: column, raw: text } };
}

/**
 * The instruction that DAPO-Math-17k puts around each problem, and verl and others behind it. It is no part of a row's
 * identity; others are, for task ids were given out with them, and are cut when the row is shown (instructions.ts).
 */
const BEFORE =
  /^\s*Solve the following math problem step by step\.\s*The last line of your response should be of the form Answer: \$?\\?\$?Answer\$? \(without quotes\) where \$?\\?\$?Answer\$? is the answer to the problem\.\s*/;
const AFTER =
  /\s*(?:Remember to put your answer on its own line after "Answer:"|(?:Let's think|Please reason|Think) step by step,? and (?:output|put) (?:the|your) final answer (?:after "####"|within \\boxed\{\})|Present the answer in LaTex format: \\boxed\{Your answer\})\.?\s*$/;

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

// What else a row says.

/** MATH's, of five; a number that is called difficulty counts on a scale of its own. */
function levelOf(row: Row): readonly [level: string, from: string | undefined] {
  for (const column of COLUMNS.level) {
    const value = row[column];
    const isOfFive = typeof value === "string" ? column === "level" || /level/i.test(value) : column === "level";
    const found =
      isOfFive && (typeof value === "string" || typeof value === "number") ? LEVEL.exec(`${value}`.trim()) : null;
    if (found?.[1] !== undefined) return [found[1], column];
  }
  return ["all", undefined];
}

function factsOf(row: Row): Readonly<Record<string, string>> {
  const facts = COLUMNS.facts.flatMap((column) => {
    const value = row[column];
    return typeof value === "string" && value !== "" ? [[column, value.slice(0, LIMITS.factLengthMax)] as const] : [];
  });
  return Object.fromEntries(facts);
}

/** Problems that differ in no more than case and white space are one. */
function asked({ problem }: MathInstance): string {
  return cutInstructions(problem, "math").text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ");
}

/** Undecided is no contradiction. */
function agrees({ answer: one, problem }: MathInstance, { answer: other }: MathInstance): boolean {
  const [first, second] = [readMath(one), readMath(other)];
  if (first.kind !== "answer" || second.kind !== "answer") return false;
  return compareMath(first.answer, second.answer, undefined, problem).kind !== "different";
}

export const rows: RowDefinition<MathInstance> = {
  read: readRow,
  columns: [...Object.values(COLUMNS).flat(), VALID, ...CONTEXTS, ...OPTION_COLUMNS, ...PICTURE_COLUMNS],
  fields: { problem: COLUMNS.problem, answer: COLUMNS.answer, level: ["level"] },
  levels: LEVELS,
  levelOf: ({ level }) => level,
  asked,
  agrees,
  problem: asked,
  defaultPool: { name: "math", file: new URL("./pool.jsonl", import.meta.url) },
};
