/**
 * Reads public data sets that spread a problem or its tests over several columns: verifiable-coding-problems,
 * codeforces and code_contests (their names on Hugging Face).
 */
import { LIMITS } from "./instance.ts";
import { valueIn } from "./json.ts";
import { isFields } from "./ground-truth.ts";

type Row = Readonly<Record<string, unknown>>;

/** Columns that may hold tests, in the order in which their tests are taken. */
const TESTS = ["public_tests", "private_tests", "generated_tests", "official_tests", "examples"] as const;
const PARTS = ["input_format", "output_format", "note"] as const;
const REFUSED = ["interaction_format", "generated_checker", "input_mode", "input_file", "output_file"] as const;

export const SET_COLUMNS: readonly string[] = [...TESTS, ...PARTS, ...REFUSED, "verification_info", "language"];

/** Returns the object in a column, which may be stored as JSON or Python text. Returns undefined for other values. */
export function fieldsIn(value: unknown): Row | undefined {
  const read = unpacked(value);
  return isFields(read) ? read : undefined;
}

/** Returns the value of a text in JSON or Python notation. Returns other values unchanged. */
const unpacked = (value: unknown): unknown => (typeof value === "string" ? valueIn(value) : value);

/**
 * Returns a row's tests from all columns, without duplicates and cut to LIMITS. Returns undefined if there are none,
 * and an error text if they cannot be read.
 */
export function setCases(row: Row): readonly unknown[] | string | undefined {
  const cases: unknown[] = [];
  for (const column of TESTS) {
    const value = unpacked(row[column]);
    if (Array.isArray(value)) cases.push(...(value as readonly unknown[]));
    if (!isFields(value)) continue;
    const { input, output } = value;
    if (!Array.isArray(input) || !Array.isArray(output) || input.length !== output.length)
      return `column ${column} must hold as many outputs as inputs`;
    cases.push(...input.map((each: unknown, i) => ({ input: each, output: (output as readonly unknown[])[i] })));
  }
  const distinct = [...new Map(cases.map((each) => [JSON.stringify(each), each]))];
  let chars = 0;
  const fitting = distinct.filter(([text]) => (chars += text.length) <= LIMITS.testCharsMax);
  return cases.length === 0 ? undefined : fitting.slice(0, LIMITS.testsMax).map(([, each]) => each);
}

/**
 * Returns a problem's statement, joined from several columns and with its examples. Returns undefined if the row has no
 * description, or describes neither input nor output.
 */
export function setPrompt(row: Row): string | undefined {
  const [description, input, output, note] = ["description", ...PARTS].map((column) => textOf(row[column]));
  if (!description || (!input && !output)) return undefined;
  const given = unpacked(row["examples"]);
  const examples = Array.isArray(given) ? given.filter(isFields) : [];
  const shown = examples.map((each) => `Example\nInput:\n${textOf(each["input"])}\nOutput:\n${textOf(each["output"])}`);
  const titled = (title: string, text?: string): readonly string[] => (text ? [`${title}\n${text}`] : []);
  const parts = [...titled("Input", input), ...titled("Output", output), ...shown, ...titled("Note", note)];
  return [description, ...parts].join("\n\n");
}

const OTHER_LANGUAGE =
  /^(?:c|java|typescript|javascript|[jt]s|go|rust|ruby|kotlin|php|haskell|pascal|scala|swift|perl|c#|(?:c\+\+|cpp)\d*)$/i;
const SEVERAL =
  /\b(?:print|output|report|find|choose|return|give|display)(?: out)? any\b|\bany of (?:them|these|those)\b|\b(?:multiple|several|many|more than one) (?:\w+ )?(?:answers?|solutions?|outputs?)\b/i;

/**
 * Returns why a row of these data sets is refused, e.g. because several outputs are right and comparing outputs would
 * reject right programs. Returns undefined if the row is accepted.
 */
export function setProblem(row: Row): string | undefined {
  const told = fieldsIn(row["verification_info"])?.["language"];
  const language = textOf(told) || (OTHER_LANGUAGE.test(textOf(row["language"])) ? textOf(row["language"]) : "");
  if (language !== "" && !/^py(?:thon)?\s?3?(?:\.\d+)?$/i.test(language))
    return `it asks for a program in ${language.slice(0, 32)}, and the sandbox runs only Python`;
  if (textOf(row["interaction_format"]) !== "")
    return "column interaction_format: the program would have to exchange messages with another program";
  if (textOf(row["generated_checker"]) !== "")
    return "column generated_checker: several outputs are right, and only the set's checker tells which";
  const file = [row["input_file"], row["output_file"]].map(textOf).find((name) => name !== "");
  if (textOf(row["input_mode"]) === "file" || file !== undefined)
    return `column ${file === undefined ? "input_mode" : "input_file"}: the program would read or write a file`;
  if (fieldsIn(row["public_tests"]) === undefined && !Array.isArray(row["public_tests"])) return undefined;
  const description = textOf(row["description"]);
  if (/\binteractive (?:problem|task)\b/i.test(description)) return "column description: the problem is interactive";
  return SEVERAL.test(description)
    ? "column description: several outputs are right, and the set has no checker"
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
