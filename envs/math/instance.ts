/** Defines a math task, and reads a row of a public data set into a task. */
import { cutInstructions } from "../answers/instructions.ts";
import type { RowDefinition, RowRead } from "../environment.ts";
import { malformed, type Parsed } from "../facts.ts";
import {
  askedIn,
  CONTEXTS,
  firstWithValue,
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
  /** The expected answer as its author wrote it. */
  readonly answer: string;
  /** Level "1" to "5", or "all" if the row names no level. */
  readonly level: string;
  /** Metadata of the row, such as the problem's source and type. */
  readonly facts: Readonly<Record<string, string>>;
}

const LIMITS = { problemLengthMax: 20_000, factLengthMax: 100 } as const;

/** Accepted column names for each field. The first one present in a row counts. */
const COLUMNS = {
  problem: ["problem", "question", "query", "prompt"],
  answer: ANSWERS,
  level: ["level", "difficulty"],
  facts: ["problem_type", "question_type", "source", "data_source", "subject", "type"],
} as const;

/** Column in which NuminaMath-1.5 says whether a problem is complete. */
const VALID = "problem_is_valid";

/** Matches a level such as "5", or "Level 5" in the data set MATH. */
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
  if (options !== undefined) return malformed(`column ${options} holds options: use the environment qa for this row`);
  const about = firstWithValue(row, CONTEXTS);
  if (about !== undefined)
    return malformed(
      `column ${about} holds context, and prompts show only the problem: put both texts into one column`,
    );
  if (row[VALID] !== undefined && row[VALID] !== null && row[VALID] !== "" && row[VALID] !== "Yes")
    return malformed(`column ${VALID} says that the problem is not valid: the value is ${shown(row[VALID])}`);
  const problem = problemOf(row);
  if (problem.kind === "malformed") return problem;
  const { text, from, raw } = problem.answer;
  const picture = pictureProblem(row, text);
  if (picture !== undefined) return malformed(picture);
  if (asksForProof(row, text)) return malformed(`column ${from} asks for a proof, and proofs cannot be compared`);
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

// Functions that read the text of a problem from a row of a data set.

function problemOf(row: Row): Parsed<{ readonly text: string; readonly from: string; readonly raw: string }> {
  const column = firstWithValue(row, COLUMNS.problem);
  if (column === undefined) return malformed(`column problem (or ${COLUMNS.problem.slice(1).join(", ")}) is missing`);
  const text = askedIn(row[column]);
  if (text === undefined) return malformed(`column ${column} must be a text, or chat messages with one from the user`);
  const problem = withoutInstruction(text).trim();
  if (problem === "") return malformed(`column ${column} is empty`);
  if (problem.length > LIMITS.problemLengthMax)
    return malformed(`column ${column} has ${problem.length} characters, and the limit is ${LIMITS.problemLengthMax}`);
  return { kind: "answer", answer: { text: problem, from: column, raw: text } };
}

/**
 * Matches the fixed instructions that DAPO-Math-17k puts around a problem, and those that verl and others append. They
 * are removed before the hash of the task is computed. Other instructions stay part of the hash, because existing
 * hashes include them; instructions.ts cuts them only for display.
 */
const BEFORE =
  /^\s*Solve the following math problem step by step\.\s*The last line of your response should be of the form Answer: \$?\\?\$?Answer\$? \(without quotes\) where \$?\\?\$?Answer\$? is the answer to the problem\.\s*/;
const AFTER =
  /\s*(?:Remember to put your answer on its own line after "Answer:"|(?:Let's think|Please reason|Think) step by step,? and (?:output|put) (?:the|your) final answer (?:after "####"|within \\boxed\{\})|Present the answer in LaTex format: \\boxed\{Your answer\})\.?\s*$/;

export function withoutInstruction(text: string): string {
  return text.replace(BEFORE, "").replace(AFTER, "");
}

// Functions that refuse problems which ask for a proof.

const PROOF = /(?<![a-z])(?:prove|show|verify|demonstrate) (?:also )?that(?![a-z])|(?:求证|证明)[:：]?/i;
/**
 * Matches words that ask for a value. A problem with such words has an answer to compare, even if it also asks for a
 * proof.
 */
const ASKED =
  /(?<![a-z])(?:find|determine|compute|calculate|evaluate|what|which|how (?:many|much)|solve|express|give|write down)(?![a-z])|求(?!证)|多少|等于|[?？]|_{2}|\\underline/i;

/** Returns whether the row is labelled as a proof, or the problem asks for nothing but a proof. */
function asksForProof(row: Row, problem: string): boolean {
  const isSaid = ["question_type", "problem_type"].some((column) => row[column] === "proof");
  return isSaid || (PROOF.test(problem) && !ASKED.test(problem));
}

// Functions that read the level and the metadata of a problem from a data row.

/**
 * Returns the level from 1 to 5, as the data set MATH defines it, and the column it came from. A number in the column
 * "difficulty" is ignored, because its scale differs.
 */
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

/**
 * Returns a key that is equal for problems that differ only in case and white space. Used to find rows with the same
 * problem.
 */
function asked({ problem }: MathInstance): string {
  return cutInstructions(problem, "math").text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ");
}

/** Returns whether the answers of two rows may be equal. An undecided comparison counts as equal. */
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
